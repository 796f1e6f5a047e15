/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Order of one group's own requests: head insertions first, then sync before async, each in order
 * of arrival. Async requests wait a bounded time: one goes after every async_every sync ones, and
 * when the oldest has waited async_wait_ms.
 */
#include "policy/weir/internal.h"

enum {
	LEAF_LOOK = 32, /* so far a look for a request of one direction goes */
};

void wp_leaf_init(struct wp_group *pg)
{
	list_init(&pg->head);
	list_init(&pg->sync);
	list_init(&pg->async);
}

/* In which list a request stands, is marked in its state while it is queued. */
enum wp_leaf_list {
	LEAF_HEAD,
	LEAF_SYNC,
	LEAF_ASYNC,
};

struct wp_leaf_rq {
	enum wp_leaf_list list;
};

static struct wp_leaf_rq *leaf_rq(struct weir_rq *rq)
{
	return (struct wp_leaf_rq *)rq->policy;
}

void wp_leaf_insert(struct wp_group *pg, struct weir_rq *rq, enum weir_where where)
{
	if (where == WEIR_HEAD) {
		leaf_rq(rq)->list = LEAF_HEAD;
		list_push_front(&pg->head, &rq->link);
		pg->nr_head++;
	} else if (weir_rq_is_sync(rq)) {
		leaf_rq(rq)->list = LEAF_SYNC;
		list_push_back(&pg->sync, &rq->link);
		pg->nr_sync++;
	} else {
		leaf_rq(rq)->list = LEAF_ASYNC;
		list_push_back(&pg->async, &rq->link);
		pg->nr_async++;
	}
}

static bool async_is_due(const struct wp *p, const struct wp_group *pg)
{
	const struct weir_rq *rq = list_first(&pg->async, struct weir_rq, link);
	uint64_t wait_ns = weir_policy_tunable(p->w, WP_ASYNC_WAIT_MS) * WEIR_NS_PER_MS;

	return pg->sync_run >= weir_policy_tunable(p->w, WP_ASYNC_EVERY) ||
	       weir_now(p->w) - rq->release_ns >= wait_ns;
}

struct weir_rq *wp_leaf_peek(const struct wp *p, const struct wp_group *pg)
{
	if (weir_unlikely(pg->nr_head))
		return list_first(&pg->head, struct weir_rq, link);
	if (pg->nr_async && (!pg->nr_sync || async_is_due(p, pg)))
		return list_first(&pg->async, struct weir_rq, link);
	return pg->nr_sync ? list_first(&pg->sync, struct weir_rq, link) : NULL;
}

static struct weir_rq *first_in_dir(uint32_t nr, const struct weir_list *list, enum weir_dir dir)
{
	struct weir_rq *rq = nr ? list_first(list, struct weir_rq, link) : NULL;

	return rq && weir_op_dir(rq->op) == dir ? rq : NULL;
}

static bool has_near_front(const struct weir_list *list, enum weir_dir dir)
{
	const struct weir_rq *rq;
	unsigned int n = 0;

	list_for_each(rq, list, struct weir_rq, link) {
		if (weir_op_dir(rq->op) == dir)
			return true;
		if (++n == LEAF_LOOK)
			break;
	}
	return false;
}

struct weir_rq *wp_leaf_peek_dir(const struct wp *p, const struct wp_group *pg, enum weir_dir dir)
{
	struct weir_rq *first = wp_leaf_peek(p, pg), *rq;

	if (!first || weir_op_dir(first->op) == dir || pg->nr_head)
		return first && weir_op_dir(first->op) == dir ? first : NULL;
	rq = first_in_dir(pg->nr_sync, &pg->sync, dir);
	if (!rq)
		rq = first_in_dir(pg->nr_async, &pg->async, dir);
	/* Behind others of its own kind: these go first. */
	if (!rq && (has_near_front(&pg->sync, dir) || has_near_front(&pg->async, dir)))
		rq = first;
	return rq;
}

void wp_leaf_remove(struct wp_group *pg, struct weir_rq *rq)
{
	list_unlink(&rq->link);
	switch (leaf_rq(rq)->list) {
	case LEAF_HEAD:
		pg->nr_head--;
		break;
	case LEAF_SYNC:
		pg->nr_sync--;
		break;
	case LEAF_ASYNC:
		pg->nr_async--;
		break;
	}
}

void wp_leaf_taken(struct wp_group *pg, struct weir_rq *rq)
{
	enum wp_leaf_list list = leaf_rq(rq)->list;

	wp_leaf_remove(pg, rq);
	if (list == LEAF_ASYNC || !pg->nr_async)
		pg->sync_run = 0;
	else if (list == LEAF_SYNC)
		pg->sync_run++;
}
