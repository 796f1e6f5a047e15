/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Heaps, what is rare, and their storage: see heap.h. The first entry ends a cache line, so that
 * the four children of each are one line.
 */
#include "core/heap.h"

#include "core/memory.h"

enum {
	ROOM_MIN = 5, /* the first and one line */
	SKIP = WEIR_LINE_BYTES / sizeof(struct weir_heap_entry) - 1,
};

static size_t bytes_of(uint32_t room)
{
	return (SKIP + (size_t)room) * sizeof(struct weir_heap_entry);
}

static void give_back(struct weir_heap *h, const struct weir_host *host)
{
	if (h->room > 1)
		weir_free_lines(host, h->entry - SKIP, bytes_of(h->room));
}

int weir_heap_reserve(struct weir_heap *h, const struct weir_host *host, uint32_t room)
{
	struct weir_heap_entry *entry;
	uint32_t want = ROOM_MIN;

	if (room <= h->room)
		return 0;
	while (want < room)
		want = 2 * want + 3; /* whole lines again */
	entry = weir_alloc_lines(host, bytes_of(want));
	if (!entry)
		return -WEIR_ENOMEM;
	entry += SKIP;
	if (h->nr)
		__builtin_memcpy(entry, h->entry, h->nr * sizeof(*entry));
	give_back(h, host);
	h->entry = entry;
	h->room = want;
	return 0;
}

void weir_heap_keep_one(struct weir_heap *h, struct weir_heap_entry *entry,
			const struct weir_host *host)
{
	weir_assert(h->nr <= 1);
	if (h->room == 1)
		return;
	if (h->nr)
		*entry = h->entry[0];
	give_back(h, host);
	h->entry = entry;
	h->room = 1;
}

void weir_heap_free(struct weir_heap *h, const struct weir_host *host)
{
	weir_assert(!h->nr);
	give_back(h, host);
	h->entry = NULL;
	h->room = 0;
}

uint32_t weir_heap_first_of(const struct weir_heap_entry *entry, uint32_t nr)
{
	uint32_t first = 0, i;

	for (i = 1; i < nr; i++)
		if (weir_heap_before(&entry[i], &entry[first]))
			first = i;
	return first;
}

void weir_heap_update(struct weir_heap *h, struct weir_heap_item *item, uint64_t key)
{
	struct weir_heap_entry e = {key, item};
	uint32_t at = item->at;

	weir_assert(at < h->nr && h->entry[at].item == item);
	if (h->nr == 1)
		h->entry[0].key = key;
	else if (at && weir_heap_before(&e, &h->entry[(at - 1) / 4]))
		weir_heap_sift_up(h, at, e);
	else
		weir_heap_sift_down(h, at, e);
}

void weir_heap_remove(struct weir_heap *h, struct weir_heap_item *item)
{
	struct weir_heap_entry last = h->entry[--h->nr];
	uint32_t at = item->at;

	weir_assert(at <= h->nr && (at == h->nr || h->entry[at].item == item));
	item->at = WEIR_HEAP_NONE;
	if (last.item == item)
		return;
	if (at && weir_heap_before(&last, &h->entry[(at - 1) / 4]))
		weir_heap_sift_up(h, at, last);
	else
		weir_heap_sift_down(h, at, last);
}
