/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A 4-ary min-heap in an array that its owner provides.
 *
 * Keys lie beside the pointers, so that sifting compares within one or two cache lines and touches
 * an item only to tell it its new place. Keys compare as wrapping times (weir_vtime_before()),
 * equal keys by `order`, a number that the owner gives and that makes results independent of
 * addresses.
 */
#ifndef WEIR_CORE_HEAP_H
#define WEIR_CORE_HEAP_H

#include "core/assert.h"
#include "core/fixed.h"

#define WEIR_HEAP_NONE UINT32_MAX

struct weir_heap_item {
	uint32_t at; /* place in the heap, or WEIR_HEAP_NONE */
	uint32_t order;
};

struct weir_heap_entry {
	uint64_t key;
	struct weir_heap_item *item;
};

struct weir_heap {
	struct weir_heap_entry *entry;
	uint32_t nr, room; /* room 1: the entry is the owner's */
};

static inline void weir_heap_item_init(struct weir_heap_item *item, uint32_t order)
{
	item->at = WEIR_HEAP_NONE;
	item->order = order;
}

static inline bool weir_heap_has(const struct weir_heap_item *item)
{
	return item->at != WEIR_HEAP_NONE;
}

static inline struct weir_heap_item *weir_heap_min(const struct weir_heap *h)
{
	return h->nr ? h->entry[0].item : NULL;
}

/* Only with nr > 0. */
static inline uint64_t weir_heap_min_key(const struct weir_heap *h)
{
	return h->entry[0].key;
}

static inline bool weir_heap_before(const struct weir_heap_entry *a,
				    const struct weir_heap_entry *b)
{
	if (a->key != b->key)
		return weir_vtime_before(a->key, b->key);
	return a->item->order < b->item->order;
}

static inline void weir_heap_put(struct weir_heap *h, uint32_t at, struct weir_heap_entry e)
{
	h->entry[at] = e;
	e.item->at = at;
}

static inline void weir_heap_sift_up(struct weir_heap *h, uint32_t at, struct weir_heap_entry e)
{
	while (at) {
		uint32_t up = (at - 1) / 4;

		if (!weir_heap_before(&e, &h->entry[up]))
			break;
		weir_heap_put(h, at, h->entry[up]);
		at = up;
	}
	weir_heap_put(h, at, e);
}

/* Which of the nr entries goes first. */
weir_seldom uint32_t weir_heap_first_of(const struct weir_heap_entry *entry, uint32_t nr);

/*
 * The same for four, and for three. Which one it is nobody can foretell, a processor neither: so it
 * is computed from the signs of differences, without a jump. Only equal keys go the long way.
 */
static inline uint32_t weir_heap_first_of_4(const struct weir_heap_entry *entry)
{
	uint64_t d01 = entry[1].key - entry[0].key, d23 = entry[3].key - entry[2].key, d;
	uint64_t a = d01 >> 63, b = 2 + (d23 >> 63);

	d = entry[b].key - entry[a].key;
	if (weir_unlikely(!d01 || !d23 || !d))
		return weir_heap_first_of(entry, 4);
	return (uint32_t)(a + ((b - a) & (0 - (d >> 63))));
}

static inline uint32_t weir_heap_first_of_3(const struct weir_heap_entry *entry)
{
	uint64_t d01 = entry[1].key - entry[0].key, a = d01 >> 63;
	uint64_t d = entry[2].key - entry[a].key;

	if (weir_unlikely(!d01 || !d))
		return weir_heap_first_of(entry, 3);
	return (uint32_t)(a + ((2 - a) & (0 - (d >> 63))));
}

/* For any number but none. */
static inline uint32_t weir_heap_first_child(const struct weir_heap_entry *child, uint32_t nr)
{
	if (nr >= 4)
		return weir_heap_first_of_4(child);
	if (nr == 3)
		return weir_heap_first_of_3(child);
	return nr == 2 && weir_heap_before(&child[1], &child[0]);
}

static inline void weir_heap_sift_down(struct weir_heap *h, uint32_t at, struct weir_heap_entry e)
{
	uint32_t nr = h->nr, child;

	while ((child = 4 * at + 1) < nr) {
		child += weir_heap_first_child(&h->entry[child], nr - child);
		if (!weir_heap_before(&h->entry[child], &e))
			break;
		weir_heap_put(h, at, h->entry[child]);
		at = child;
	}
	weir_heap_put(h, at, e);
}

static inline void weir_heap_push(struct weir_heap *h, struct weir_heap_item *item, uint64_t key)
{
	struct weir_heap_entry e = {key, item};

	weir_assert(h->nr < h->room);
	weir_assert(!weir_heap_has(item));
	weir_heap_sift_up(h, h->nr++, e);
}

/* The item is the first, and its key grows: what a queue does that serves it. */
static inline void weir_heap_defer_first(struct weir_heap *h, struct weir_heap_item *item,
					 uint64_t key)
{
	struct weir_heap_entry e = {key, item};

	weir_assert(!item->at);
	weir_heap_sift_down(h, 0, e);
}

/* The item is in the heap; its key changes. */
void weir_heap_update(struct weir_heap *h, struct weir_heap_item *item, uint64_t key);
void weir_heap_remove(struct weir_heap *h, struct weir_heap_item *item);

/* An empty heap with room for one, which lies beside what else its owner touches. */
static inline void weir_heap_init_one(struct weir_heap *h, struct weir_heap_entry *entry)
{
	h->entry = entry;
	h->nr = 0;
	h->room = 1;
}

/* As after weir_heap_init_one(), with the one that is left in it, if any. Not on the I/O path. */
void weir_heap_keep_one(struct weir_heap *h, struct weir_heap_entry *entry,
			const struct weir_host *host);

/*
 * Makes room for as many, by doubling; -ENOMEM leaves the heap as it was. Not on the I/O path. The
 * storage is given back with weir_heap_free().
 */
int weir_heap_reserve(struct weir_heap *h, const struct weir_host *host, uint32_t room);
void weir_heap_free(struct weir_heap *h, const struct weir_host *host);

#endif
