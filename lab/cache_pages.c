// SPDX-License-Identifier: GPL-2.0-only
/*
 * States of pages, their counts, and eviction.
 *
 *	absent -> reading -> present (clean) -> evicted or dropped
 *	absent or present -> dirty -> under write-back -> present (clean)
 *
 * Every change of a leaf's words goes through set_words(), which keeps the total of pages, the
 * dirty tag and the list of leaves with something to evict. Eviction is least recently used by leaf
 * (256 KiB) and in order of pages within: a list per page would cost more memory than it says.
 */
#include "lab/cache_impl.h"

static unsigned int count(uint64_t word)
{
	return (unsigned int)__builtin_popcountll(word);
}

static uint64_t occupied(const struct cache_leaf *leaf)
{
	return leaf->present | leaf->reading | leaf->writeback;
}

static uint64_t clean(const struct cache_leaf *leaf)
{
	return leaf->present & ~leaf->dirty & ~leaf->reading & ~leaf->writeback;
}

uint64_t cache_leaf_mask(uint64_t page, uint64_t end)
{
	unsigned int first = page % CACHE_LEAF_PAGES;
	uint64_t nr = end - page;

	weir_assert(page < end);
	if (first + nr >= CACHE_LEAF_PAGES)
		return ~UINT64_C(0) << first;
	return ((UINT64_C(1) << nr) - 1) << first;
}

/* The leaf is gone afterwards if nothing of it is left. */
static void set_words(struct cache_leaf *leaf, uint64_t present, uint64_t reading, uint64_t dirty,
		      uint64_t writeback)
{
	struct lab_cache *c = leaf->file->cache;
	bool was_clean = clean(leaf), was_dirty = leaf->dirty;

	weir_assert(!(dirty & ~present));
	c->nr_pages -= count(occupied(leaf));
	leaf->present = present;
	leaf->reading = reading;
	leaf->dirty = dirty;
	leaf->writeback = writeback;
	c->nr_pages += count(occupied(leaf));

	if (was_dirty != !!dirty)
		cache_leaf_tag_dirty(leaf, dirty);
	if (was_clean && !clean(leaf))
		list_unlink(&leaf->lru);
	else if (!was_clean && clean(leaf))
		list_push_back(&c->lru, &leaf->lru);
	if (!occupied(leaf))
		cache_leaf_remove(leaf);
}

static void touch(struct cache_leaf *leaf)
{
	if (!clean(leaf))
		return;
	list_unlink(&leaf->lru);
	list_push_back(&leaf->file->cache->lru, &leaf->lru);
}

/*
 * Makes room for nr pages by dropping clean ones. What is being read or written can't go, so the
 * cache may be above its size for a moment; the dirty limit and the depth of readers bound that.
 */
static void make_room(struct lab_cache *c, uint64_t nr)
{
	while (c->nr_pages + nr > c->max_pages && !list_is_empty(&c->lru)) {
		struct cache_leaf *leaf = list_first(&c->lru, struct cache_leaf, lru);
		uint64_t excess = c->nr_pages + nr - c->max_pages, go = 0, left = clean(leaf);

		for (; left && excess; left &= left - 1, excess--)
			go |= left & -left;
		c->stats.evicted_pages += count(go);
		set_words(leaf, leaf->present & ~go, leaf->reading, leaf->dirty, leaf->writeback);
	}
}

void cache_shrink(struct lab_cache *c)
{
	make_room(c, 0);
}

/* The leaf of `page`, with room made for what the mask adds to it. */
static struct cache_leaf *leaf_with_room(struct lab_file *f, uint64_t page, uint64_t mask)
{
	struct cache_leaf *leaf = cache_leaf_find(f, page);

	make_room(f->cache, count(leaf ? mask & ~occupied(leaf) : mask));
	return cache_leaf_get(f, page); /* again: making room may have taken the leaf */
}

uint64_t cache_present_run(struct lab_file *f, uint64_t page, uint64_t end)
{
	uint64_t at = page;

	while (at < end) {
		struct cache_leaf *leaf = cache_leaf_find(f, at);
		uint64_t mask = cache_leaf_mask(at, end), missing;

		if (!leaf)
			break;
		missing = mask & ~leaf->present;
		if (missing != mask)
			touch(leaf);
		if (missing) {
			at = leaf->index * CACHE_LEAF_PAGES + (uint64_t)__builtin_ctzll(missing);
			break;
		}
		at = weir_min64(cache_leaf_end(at), end);
	}
	return at - page;
}

bool cache_is_reading(struct lab_file *f, uint64_t page)
{
	struct cache_leaf *leaf = cache_leaf_find(f, page);

	return leaf && leaf->reading & cache_leaf_mask(page, page + 1);
}

uint64_t cache_next_missing(struct lab_file *f, uint64_t page, uint64_t end)
{
	while (page < end) {
		struct cache_leaf *leaf = cache_leaf_find(f, page);
		uint64_t mask = cache_leaf_mask(page, end);

		if (leaf)
			mask &= ~(leaf->present | leaf->reading);
		if (mask)
			return page / CACHE_LEAF_PAGES * CACHE_LEAF_PAGES +
			       (uint64_t)__builtin_ctzll(mask);
		page = weir_min64(cache_leaf_end(page), end);
	}
	return end;
}

void cache_read_begin(struct lab_file *f, uint64_t page, uint64_t end)
{
	for (; page < end; page = cache_leaf_end(page)) {
		uint64_t mask = cache_leaf_mask(page, end);
		struct cache_leaf *leaf = leaf_with_room(f, page, mask);

		weir_assert(!(mask & (leaf->present | leaf->reading)));
		set_words(leaf, leaf->present, leaf->reading | mask, leaf->dirty, leaf->writeback);
	}
}

void cache_read_end(struct lab_file *f, uint64_t page, uint64_t end)
{
	for (; page < end; page = cache_leaf_end(page)) {
		uint64_t mask = cache_leaf_mask(page, end);
		struct cache_leaf *leaf = cache_leaf_find(f, page);

		weir_assert(leaf && (leaf->reading & mask) == mask);
		set_words(leaf, leaf->present | mask, leaf->reading & ~mask, leaf->dirty,
			  leaf->writeback);
		touch(leaf);
	}
}

void cache_dirty(struct lab_file *f, uint64_t page, uint64_t end, struct cache_group *g,
		 uint64_t now_ns)
{
	uint64_t nr = 0;

	for (; page < end; page = cache_leaf_end(page)) {
		uint64_t mask = cache_leaf_mask(page, end), fresh, left;
		struct cache_leaf *leaf = leaf_with_room(f, page, mask);

		/* A page that is dirty stays its owner's, whoever writes to it again. */
		fresh = mask & ~leaf->dirty;
		for (left = fresh; left; left &= left - 1)
			leaf->owner[__builtin_ctzll(left)] = g->slot;
		nr += count(fresh);
		set_words(leaf, leaf->present | mask, leaf->reading, leaf->dirty | mask,
			  leaf->writeback);
	}
	g->nr_dirty += nr;
	f->cache->nr_dirty += nr;
	g->dirtied_ns = now_ns;
	cache_share_activate(g);
	cache_flusher_dirtied(f, g, nr, now_ns);
}

void cache_writeback_begin(struct lab_file *f, uint64_t page, uint64_t end,
			   struct cache_group *owner)
{
	uint64_t nr = end - page;

	for (; page < end; page = cache_leaf_end(page)) {
		uint64_t mask = cache_leaf_mask(page, end);
		struct cache_leaf *leaf = cache_leaf_find(f, page);

		weir_assert(leaf && (leaf->dirty & mask) == mask && !(leaf->writeback & mask));
		set_words(leaf, leaf->present, leaf->reading, leaf->dirty & ~mask,
			  leaf->writeback | mask);
	}
	weir_assert(owner->nr_dirty >= nr && f->cache->nr_dirty >= nr);
	owner->nr_dirty -= nr;
	owner->nr_writeback += nr;
	f->cache->nr_dirty -= nr;
	f->cache->nr_writeback += nr;
	cache_flusher_cleaned(f, owner, nr);
}

void cache_writeback_end(struct lab_file *f, uint64_t page, uint64_t end, struct cache_group *owner)
{
	uint64_t nr = end - page;

	for (; page < end; page = cache_leaf_end(page)) {
		uint64_t mask = cache_leaf_mask(page, end);
		struct cache_leaf *leaf = cache_leaf_find(f, page);

		weir_assert(leaf && (leaf->writeback & mask) == mask);
		set_words(leaf, leaf->present, leaf->reading, leaf->dirty, leaf->writeback & ~mask);
	}
	weir_assert(owner->nr_writeback >= nr && f->cache->nr_writeback >= nr);
	owner->nr_writeback -= nr;
	f->cache->nr_writeback -= nr;
}

void cache_drop(struct lab_file *f, uint64_t page, uint64_t end, bool gone)
{
	struct cache_leaf *leaf;

	while (page < end && (leaf = cache_leaf_next(f, page, false))) {
		uint64_t first = leaf->index * CACHE_LEAF_PAGES, drop;

		page = weir_max64(page, first);
		if (page >= end)
			break;
		drop = clean(leaf);
		if (gone)
			drop |= leaf->present & leaf->writeback & ~leaf->dirty;
		drop &= cache_leaf_mask(page, end);
		page = cache_leaf_end(page);
		set_words(leaf, leaf->present & ~drop, leaf->reading, leaf->dirty, leaf->writeback);
	}
}
