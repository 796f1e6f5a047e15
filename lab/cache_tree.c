// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of a file: a radix tree whose leaves hold the states of 64 pages as bits of words.
 *
 * Memory follows what is cached, not how large the file is: a file of 16 TiB of which one page is
 * cached has one leaf and the five or six nodes above it. Nodes carry a tag "dirty pages below", so
 * that the flusher finds the next dirty page of a large clean file without a walk.
 */
#include "lab/cache_impl.h"

enum {
	FANOUT_BITS = 6,
	FANOUT = 1 << FANOUT_BITS,
	HEIGHT_MAX = 9, /* 2^54 leaves: more than 2^64 bytes have */
};

struct cache_node {
	uint64_t used, dirty; /* slots */
	void *slot[FANOUT];   /* nodes, or leaves in the lowest level */
};

static unsigned int slot_at(uint64_t index, unsigned int level)
{
	return (index >> (FANOUT_BITS * level)) & (FANOUT - 1);
}

void cache_tree_pool_init(struct cache_pool *nodes)
{
	cache_pool_init(nodes, sizeof(struct cache_node));
}

void cache_tree_init(struct lab_file *f)
{
	uint64_t leaves = (f->nr_pages + CACHE_LEAF_PAGES - 1) / CACHE_LEAF_PAGES;

	f->root = NULL;
	f->last = NULL;
	f->height = 1;
	while (f->height < HEIGHT_MAX && (leaves - 1) >> (FANOUT_BITS * f->height))
		f->height++;
}

struct cache_leaf *cache_leaf_find(struct lab_file *f, uint64_t page)
{
	uint64_t index = page / CACHE_LEAF_PAGES;
	struct cache_node *node = f->root;
	unsigned int level;

	if (f->last && f->last->index == index)
		return f->last;
	for (level = f->height - 1; node && level; level--)
		node = node->slot[slot_at(index, level)];
	if (!node || !node->slot[slot_at(index, 0)])
		return NULL;
	f->last = node->slot[slot_at(index, 0)];
	return f->last;
}

static struct cache_node *node_new(struct lab_file *f)
{
	return cache_pool_get(&f->cache->nodes);
}

struct cache_leaf *cache_leaf_get(struct lab_file *f, uint64_t page)
{
	uint64_t index = page / CACHE_LEAF_PAGES;
	struct cache_leaf *leaf = cache_leaf_find(f, page);
	struct cache_node *node;
	unsigned int level, slot;

	if (leaf)
		return leaf;
	weir_assert(page < f->nr_pages);
	if (!f->root)
		f->root = node_new(f);
	node = f->root;
	for (level = f->height - 1; level; level--) {
		slot = slot_at(index, level);
		if (!node->slot[slot]) {
			node->slot[slot] = node_new(f);
			node->used |= UINT64_C(1) << slot;
		}
		node = node->slot[slot];
	}
	leaf = cache_pool_get(&f->cache->leaves);
	leaf->file = f;
	leaf->index = index;
	slot = slot_at(index, 0);
	node->slot[slot] = leaf;
	node->used |= UINT64_C(1) << slot;
	f->last = leaf;
	return leaf;
}

/* Nodes from the root down to the one above the leaf. */
static void path_of(const struct cache_leaf *leaf, struct cache_node *path[HEIGHT_MAX])
{
	const struct lab_file *f = leaf->file;
	struct cache_node *node = f->root;
	unsigned int level;

	for (level = f->height; level--;) {
		path[level] = node;
		node = node->slot[slot_at(leaf->index, level)];
	}
}

void cache_leaf_tag_dirty(struct cache_leaf *leaf, bool dirty)
{
	struct cache_node *path[HEIGHT_MAX];
	unsigned int level;

	path_of(leaf, path);
	for (level = 0; level < leaf->file->height; level++) {
		uint64_t bit = UINT64_C(1) << slot_at(leaf->index, level);

		if (dirty) {
			path[level]->dirty |= bit;
			continue;
		}
		path[level]->dirty &= ~bit;
		if (path[level]->dirty)
			break;
	}
}

/* Nodes that have become empty go too. */
void cache_leaf_remove(struct cache_leaf *leaf)
{
	struct lab_file *f = leaf->file;
	struct cache_node *path[HEIGHT_MAX];
	unsigned int level;

	weir_assert(!leaf->readers.head && !leaf->dirty);
	path_of(leaf, path);
	for (level = 0; level < f->height; level++) {
		unsigned int slot = slot_at(leaf->index, level);

		path[level]->slot[slot] = NULL;
		path[level]->used &= ~(UINT64_C(1) << slot);
		if (path[level]->used)
			break;
		cache_pool_put(&f->cache->nodes, path[level]);
	}
	if (level == f->height)
		f->root = NULL;
	if (f->last == leaf)
		f->last = NULL;
	cache_pool_put(&f->cache->leaves, leaf);
}

/* The first leaf below node whose index is at least `from`; first: the lowest index below node. */
static struct cache_leaf *next_below(const struct cache_node *node, unsigned int level,
				     uint64_t first, uint64_t from, bool dirty)
{
	uint64_t slots = dirty ? node->dirty : node->used;
	unsigned int begin = 0;

	if (from > first)
		begin = slot_at(from, level);
	for (slots &= ~UINT64_C(0) << begin; slots; slots &= slots - 1) {
		unsigned int slot = (unsigned int)__builtin_ctzll(slots);
		uint64_t index = first + ((uint64_t)slot << (FANOUT_BITS * level));
		struct cache_leaf *leaf;

		if (!level)
			return node->slot[slot];
		leaf = next_below(node->slot[slot], level - 1, index, from, dirty);
		if (leaf)
			return leaf;
	}
	return NULL;
}

struct cache_leaf *cache_leaf_next(struct lab_file *f, uint64_t page, bool dirty)
{
	if (!f->root || page >= f->nr_pages)
		return NULL;
	return next_below(f->root, f->height - 1, 0, page / CACHE_LEAF_PAGES, dirty);
}
