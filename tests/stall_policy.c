// SPDX-License-Identifier: GPL-2.0-only
/* The policy: see stall_policy.h. */
#include "tests/stall_policy.h"

struct stall_queue {
	struct weir_list fifo;
};

struct stall_order stall_order;

static int stall_init(struct weir *w)
{
	struct stall_queue *q = weir_policy_data(w);

	list_init(&q->fifo);
	return 0;
}

static void stall_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct stall_queue *q = weir_policy_data(w);

	if (where == WEIR_HEAD)
		list_push_front(&q->fifo, &rq->link);
	else
		list_push_back(&q->fifo, &rq->link);
}

static void stall_remove(struct weir *w, struct weir_rq *rq)
{
	(void)w;
	list_unlink(&rq->link);
}

static struct weir_rq *stall_dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct stall_queue *q = weir_policy_data(w);
	struct weir_rq *rq;

	if (list_is_empty(&q->fifo))
		return NULL;
	if (!force && stall_order.why != WEIR_STALL_NONE) {
		v->why = stall_order.why;
		v->next = stall_order.next;
		v->at_ns = stall_order.at_ns;
		return NULL;
	}
	rq = list_first(&q->fifo, struct weir_rq, link);
	list_unlink(&rq->link);
	return rq;
}

struct weir_group *stall_next_group(struct weir *w)
{
	struct stall_queue *q = weir_policy_data(w);

	if (list_is_empty(&q->fifo))
		return NULL;
	return list_first(&q->fifo, struct weir_rq, link)->group;
}

const struct weir_policy stall_policy = {
	.info = {.name = "stall", .help = "does what it is told"},
	.instance_size = sizeof(struct stall_queue),
	.init = stall_init,
	.insert = stall_insert,
	.dispatch = stall_dispatch,
	.remove = stall_remove,
	.next_group = stall_next_group,
};

void stall_obey(enum weir_stall why, struct weir_group *next)
{
	stall_order.why = why;
	stall_order.next = next;
	stall_order.at_ns = WEIR_NEVER;
}
