/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The requests of one direction, each twice: in a tree by position and in a list by expiry. What
 * the deadline schedulers have in common; which request goes, each of them says itself.
 *
 * Expiries must be given in ascending order: the list is in order of insertion. Everything is O(log
 * n), except where said. Its part of a request stands at the beginning of rq->policy.
 */
#ifndef WEIR_POLICY_SORTED_H
#define WEIR_POLICY_SORTED_H

#include "core/list.h"
#include "core/rbtree.h"

struct weir_sorted {
	struct weir_rb_tree tree; /* by first sector */
	struct weir_list fifo;	  /* by expiry: rq->link */
};

struct weir_sorted_rq {
	struct weir_rb node;
	struct weir_rq *rq;
	uint64_t expires_ns;
};

static inline struct weir_sorted_rq *weir_sorted_rq(struct weir_rq *rq)
{
	return (struct weir_sorted_rq *)rq->policy;
}

void weir_sorted_init(struct weir_sorted *s);

static inline bool weir_sorted_is_empty(const struct weir_sorted *s)
{
	return list_is_empty(&s->fifo);
}

void weir_sorted_insert(struct weir_sorted *s, struct weir_rq *rq, uint64_t expires_ns);
void weir_sorted_remove(struct weir_sorted *s, struct weir_rq *rq);

/* NULL if it is empty. O(1) */
struct weir_rq *weir_sorted_oldest(const struct weir_sorted *s);
/* First that starts there or further up; that starts just there; or NULL. */
struct weir_rq *weir_sorted_from(const struct weir_sorted *s, uint64_t sector);
struct weir_rq *weir_sorted_at(const struct weir_sorted *s, uint64_t sector);
/* Neighbours of a request that is in it, or NULL. O(1) amortised over a walk. */
struct weir_rq *weir_sorted_next(struct weir_rq *rq);
struct weir_rq *weir_sorted_prev(struct weir_rq *rq);

/* rq grew at its front: it stands elsewhere now. */
void weir_sorted_moved(struct weir_sorted *s, struct weir_rq *rq);
/*
 * `second` is about to be absorbed by `first`, and then removed: first takes the earlier of the two
 * expiries, and the place in the list that goes with it. O(1)
 */
void weir_sorted_join(struct weir_rq *first, struct weir_rq *second);

#endif
