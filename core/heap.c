/* SPDX-License-Identifier: GPL-2.0-only */
/* Storage of heaps: see heap.h. */
#include "core/heap.h"

int weir_heap_reserve(struct weir_heap *h, const struct weir_host *host, uint32_t room)
{
	struct weir_heap_entry *entry;
	uint32_t want = h->room ? h->room : 1;

	if (room <= h->room)
		return 0;
	while (want < room)
		want *= 2;
	entry = host->alloc(host->priv, want * sizeof(*entry));
	if (!entry)
		return -WEIR_ENOMEM;
	if (h->entry) {
		__builtin_memcpy(entry, h->entry, h->nr * sizeof(*entry));
		host->free(host->priv, h->entry, h->room * sizeof(*entry));
	}
	h->entry = entry;
	h->room = want;
	return 0;
}

void weir_heap_free(struct weir_heap *h, const struct weir_host *host)
{
	weir_assert(!h->nr);
	if (h->entry)
		host->free(host->priv, h->entry, h->room * sizeof(*h->entry));
	h->entry = NULL;
	h->room = 0;
}
