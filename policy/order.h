/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An order of requests: what noop, deadline and anticipatory do with one queue, apart from being a
 * policy. Each of these is a policy with one such queue; efq has one in each group.
 *
 * A queue is storage of its user, initialised by init(). It holds requests from insert() until
 * dispatch() or remove(), and hears of each dispatched one that it is completed or put back. In
 * rq->policy the first ORDER_RQ_BYTES are the order's, the rest is its user's.
 *
 * `device` is what all queues of one device have in common: settings, mostly. It outlives them.
 *
 * Requests that go before all others never come here: see below. All but init, insert, remove and
 * dispatch may be NULL.
 */
#ifndef WEIR_POLICY_ORDER_H
#define WEIR_POLICY_ORDER_H

#include "core/list.h"
#include "core/spi.h"

enum { ORDER_RQ_BYTES = 128 };

struct weir_order {
	void (*init)(struct weir *w, void *queue, void *device);
	void (*exit)(void *queue); /* it is empty; what is in flight isn't heard of any more */
	void (*insert)(struct weir *w, void *queue, struct weir_rq *rq);
	void (*remove)(struct weir *w, void *queue, struct weir_rq *rq);
	/* The queue is not empty. NULL only without `force`, and then with a verdict. */
	struct weir_rq *(*dispatch)(struct weir *w, void *queue, bool force,
				    struct weir_verdict *v);
	void (*complete)(struct weir *w, void *queue, struct weir_rq *rq);
	void (*undispatch)(struct weir *w, void *queue, struct weir_rq *rq);
	/* Its user begins and ceases to ask this queue; one that is alone is always asked. */
	void (*turn_begins)(struct weir *w, void *queue);
	void (*turn_ends)(struct weir *w, void *queue);

	/* Merging, as the hooks of a policy. */
	bool (*may_merge)(const struct weir_rq *rq);
	struct weir_rq *(*find_front)(struct weir *w, void *queue, const struct weir_rq *bio);
	void (*merged)(struct weir *w, void *queue, struct weir_rq *rq, enum weir_merge kind);
	void (*joining)(struct weir *w, void *queue, struct weir_rq *first, struct weir_rq *second);
	struct weir_rq *(*latter)(void *queue, struct weir_rq *rq);
	struct weir_rq *(*former)(void *queue, struct weir_rq *rq);
};

extern const struct weir_order weir_order_noop, weir_order_deadline, weir_order_anticipatory;

/*
 * The express list. Flushes, and requests put at the head, never go through a scheduler's queues in
 * the block layer: they stand in the driver's queue, before all that the scheduler holds, and
 * nothing merges with them.
 */
static inline bool weir_goes_express(const struct weir_rq *rq, enum weir_where where)
{
	return where == WEIR_HEAD || rq->op == WEIR_OP_FLUSH;
}

static inline void weir_express_add(struct weir_list *express, struct weir_rq *rq,
				    enum weir_where where)
{
	if (where == WEIR_HEAD)
		list_push_front(express, &rq->link);
	else
		list_push_back(express, &rq->link);
}

/* The next of them, taken out; or NULL. */
static inline struct weir_rq *weir_express_take(struct weir_list *express)
{
	struct weir_rq *rq;

	if (list_is_empty(express))
		return NULL;
	rq = list_first(express, struct weir_rq, link);
	list_unlink(&rq->link);
	return rq;
}

#endif
