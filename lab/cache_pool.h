/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Storage of equal items: taken from blocks, kept on a free list, given back all at once. The page
 * cache makes and drops millions of small items, and their order in memory must not matter.
 */
#ifndef LAB_CACHE_POOL_H
#define LAB_CACHE_POOL_H

#include <stddef.h>
#include <stdint.h>

struct cache_pool_block;

struct cache_pool {
	size_t item_bytes;
	void *free;
	struct cache_pool_block *blocks;
	uint64_t nr_used;
};

void cache_pool_init(struct cache_pool *p, size_t item_bytes);
void *cache_pool_get(struct cache_pool *p); /* zeroed */
void cache_pool_put(struct cache_pool *p, void *item);
void cache_pool_exit(struct cache_pool *p);

#endif
