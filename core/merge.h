/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merge look-up: a waiting request enters, leaves, or changes its end. Inline, since every request
 * does.
 *
 * Entering is a list alone; the next look-up takes who stands there into the hash. So who is
 * dispatched before anybody looks costs no hashing, nor do requests of a host that never looks. A
 * request is hashed at most once for each time that it entered or grew: look-ups stay O(1),
 * amortised.
 */
#ifndef WEIR_CORE_MERGE_H
#define WEIR_CORE_MERGE_H

#include "core/core.h"

_Static_assert(WEIR_MERGE_BUCKETS == 4096, "weir_merge_bucket() takes 12 bits");

static inline struct weir_list *weir_merge_bucket(struct weir *w, uint64_t end_sector)
{
	/* Fibonacci hashing; ends are multiples of 8 most of the time. */
	uint64_t hash = (end_sector >> 3) * UINT64_C(0x9e3779b97f4a7c15);

	return &w->merge_hash[hash >> 52];
}

static inline bool weir_mergeable(const struct weir_rq *rq)
{
	const uint16_t alone = WEIR_RQ_NOMERGE | WEIR_RQ_FUA | WEIR_RQ_PREFLUSH;

	return (rq->op == WEIR_OP_READ || rq->op == WEIR_OP_WRITE) && !(rq->flags & alone);
}

static inline void weir_merge_add(struct weir *w, struct weir_rq *rq)
{
	if (!w->cfg.merge || !weir_mergeable(rq))
		return;
	list_push_back(&w->merge_new, &rq->hash);
	w->last_merge = rq;
}

static inline void weir_merge_del(struct weir *w, struct weir_rq *rq)
{
	if (!rq->hash.next)
		return;
	list_unlink(&rq->hash);
	rq->hash.next = NULL;
	if (w->last_merge == rq)
		w->last_merge = NULL;
}

/* Nothing stays in the look-up. O(n) */
void weir_merge_del_all(struct weir *w);

#endif
