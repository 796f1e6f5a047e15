// SPDX-License-Identifier: GPL-2.0-only
/* Storage of equal items. Out of memory is fatal: the lab could only stop anyway. */
#include "lab/cache_pool.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "core/assert.h"

/* Use of an item after its return is a bug that the address sanitizer should see here too. */
#if defined(__SANITIZE_ADDRESS__)
#define POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONS 1
#endif
#endif
#ifdef POISONS
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

/* Small runs of the lab (tests, one job) should not pay for much. */
#define ITEMS_PER_BLOCK 64

struct cache_pool_block {
	struct cache_pool_block *next;
	alignas(max_align_t) unsigned char item[];
};

void cache_pool_init(struct cache_pool *p, size_t item_bytes)
{
	size_t align = alignof(max_align_t);

	weir_assert(item_bytes >= sizeof(void *));
	p->item_bytes = (item_bytes + align - 1) / align * align;
	p->free = NULL;
	p->blocks = NULL;
	p->nr_used = 0;
}

static void push_free(struct cache_pool *p, void *item)
{
	memcpy(item, &p->free, sizeof(p->free));
	p->free = item;
	ASAN_POISON_MEMORY_REGION(item, p->item_bytes);
}

static void grow(struct cache_pool *p)
{
	struct cache_pool_block *block = malloc(sizeof(*block) + ITEMS_PER_BLOCK * p->item_bytes);
	unsigned int n;

	weir_assert(block);
	block->next = p->blocks;
	p->blocks = block;
	for (n = ITEMS_PER_BLOCK; n--;)
		push_free(p, block->item + n * p->item_bytes);
}

void *cache_pool_get(struct cache_pool *p)
{
	void *item;

	if (!p->free)
		grow(p);
	item = p->free;
	ASAN_UNPOISON_MEMORY_REGION(item, p->item_bytes);
	memcpy(&p->free, item, sizeof(p->free));
	p->nr_used++;
	return memset(item, 0, p->item_bytes);
}

void cache_pool_put(struct cache_pool *p, void *item)
{
	weir_assert(p->nr_used);
	p->nr_used--;
	push_free(p, item);
}

void cache_pool_exit(struct cache_pool *p)
{
	while (p->blocks) {
		struct cache_pool_block *next = p->blocks->next;

		free(p->blocks);
		p->blocks = next;
	}
	p->free = NULL;
}
