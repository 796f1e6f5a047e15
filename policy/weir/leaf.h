/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Order of one group's own requests: head insertions first, then sync before async, each in order
 * of arrival. Async requests wait a bounded time: one goes after every async_every sync ones, and
 * when the oldest has waited async_wait_ms.
 */
#ifndef WEIR_POLICY_WEIR_LEAF_H
#define WEIR_POLICY_WEIR_LEAF_H

#include "policy/weir/internal.h"

static inline uint32_t wp_leaf_nr_sync(const struct wp_group *pg)
{
	return pg->nr - pg->nr_head - pg->nr_async;
}

static inline void wp_leaf_insert(struct wp_group *pg, struct weir_rq *rq, enum weir_where where)
{
	pg->nr++;
	if (weir_likely(where == WEIR_TAIL && rq->op == WEIR_OP_READ)) {
		wp_rq(rq)->list = WP_LEAF_SYNC_READ;
		list_push_back(&pg->sync[WEIR_READ], &rq->link);
		return;
	}
	pg->nr_other++;
	if (where == WEIR_HEAD) {
		wp_rq(rq)->list = WP_LEAF_HEAD;
		list_push_front(&pg->head, &rq->link);
		pg->nr_head++;
	} else if (weir_rq_is_sync(rq)) {
		wp_rq(rq)->list = WP_LEAF_SYNC_WRITE;
		list_push_back(&pg->sync[WEIR_WRITE], &rq->link);
	} else {
		wp_rq(rq)->list = WP_LEAF_ASYNC;
		list_push_back(&pg->async, &rq->link);
		pg->nr_async++;
	}
}

static inline bool wp_leaf_async_is_due(const struct wp *p, const struct wp_group *pg)
{
	const struct weir_rq *rq = list_first(&pg->async, struct weir_rq, link);
	uint64_t wait_ns = weir_policy_tunable(p->w, WP_ASYNC_WAIT_MS) * WEIR_NS_PER_MS;

	return pg->sync_run >= weir_policy_tunable(p->w, WP_ASYNC_EVERY) ||
	       weir_now(p->w) - rq->release_ns >= wait_ns;
}

/* Of the sync ones, of which there are some. */
static inline struct weir_rq *wp_leaf_first_sync(const struct wp_group *pg)
{
	const struct weir_list *reads = &pg->sync[WEIR_READ], *writes = &pg->sync[WEIR_WRITE];
	struct weir_rq *r, *w;

	if (list_is_empty(writes))
		return list_first(reads, struct weir_rq, link);
	w = list_first(writes, struct weir_rq, link);
	if (list_is_empty(reads))
		return w;
	r = list_first(reads, struct weir_rq, link);
	return r->seq < w->seq ? r : w;
}

/* The next, or NULL. */
static inline struct weir_rq *wp_leaf_peek(const struct wp *p, const struct wp_group *pg)
{
	if (weir_unlikely(pg->nr_head))
		return list_first(&pg->head, struct weir_rq, link);
	if (pg->nr_async && (!wp_leaf_nr_sync(pg) || wp_leaf_async_is_due(p, pg)))
		return list_first(&pg->async, struct weir_rq, link);
	return pg->nr ? wp_leaf_first_sync(pg) : NULL;
}

static inline void wp_leaf_remove(struct wp_group *pg, struct weir_rq *rq)
{
	enum wp_leaf_list list = wp_rq(rq)->list;

	list_unlink(&rq->link);
	pg->nr--;
	pg->nr_other -= list != WP_LEAF_SYNC_READ;
	pg->nr_head -= list == WP_LEAF_HEAD;
	pg->nr_async -= list == WP_LEAF_ASYNC;
}

/* rq was chosen by peek and goes. */
static inline void wp_leaf_taken(struct wp_group *pg, struct weir_rq *rq)
{
	enum wp_leaf_list list = wp_rq(rq)->list;

	wp_leaf_remove(pg, rq);
	if (list == WP_LEAF_ASYNC || !pg->nr_async)
		pg->sync_run = 0;
	else if (list != WP_LEAF_HEAD)
		pg->sync_run++;
}

/* Nothing but sync reads: as most groups, most of the time. */
static inline bool wp_leaf_is_plain(const struct wp_group *pg)
{
	return !pg->nr_other;
}

/* The next of such a group, which has one: peek and taken at once. */
static inline struct weir_rq *wp_leaf_take_plain(struct wp_group *pg)
{
	struct weir_rq *rq = list_first(&pg->sync[WEIR_READ], struct weir_rq, link);

	list_unlink(&rq->link);
	pg->nr--;
	pg->sync_run = 0;
	return rq;
}

#endif
