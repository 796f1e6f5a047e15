/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * noop: requests go to the device in the order of their arrival.
 *
 * For devices that sort for themselves, for virtual ones, and as the baseline of every comparison:
 * groups, directions and priorities are ignored, and nothing is ever held back, so every limit that
 * a run under noop shows is the device's or a ceiling's.
 *
 * The original moves one request at a time to the dispatch queue, which keeps itself in one-way
 * sector order while the driver lags behind. A host of this core asks for a request when it can
 * start one, so that queue would hold one request at most: order of arrival it is.
 *
 * Merging: a bio is appended to any request that it continues; it is put before another only if
 * that is the last one that was inserted or grew (the core's hint), since nothing here searches by
 * first sector. After a merge, the requests looked at for joining are neighbours in the list,
 * whatever their sectors.
 *
 * All hooks are O(1).
 */
#include "policy/noop.h"

#include "core/spi_state.h"

/* ---- the order ---- */

static void queue_init(struct weir *w, void *queue, void *device)
{
	struct noop_queue *q = queue;

	(void)w;
	(void)device;
	list_init(&q->fifo);
}

static void queue_insert(struct weir *w, void *queue, struct weir_rq *rq)
{
	struct noop_queue *q = queue;

	(void)w;
	list_push_back(&q->fifo, &rq->link);
}

static void queue_remove(struct weir *w, void *queue, struct weir_rq *rq)
{
	(void)w;
	(void)queue;
	list_unlink(&rq->link);
}

static struct weir_rq *queue_dispatch(struct weir *w, void *queue, bool force,
				      struct weir_verdict *v)
{
	struct noop_queue *q = queue;

	(void)w;
	(void)force; /* it never waits anyway */
	(void)v;
	return weir_express_take(&q->fifo);
}

static struct weir_rq *queue_latter(void *queue, struct weir_rq *rq)
{
	struct noop_queue *q = queue;

	return rq->link.next == &q->fifo ? NULL : list_next(rq, struct weir_rq, link);
}

static struct weir_rq *queue_former(void *queue, struct weir_rq *rq)
{
	struct noop_queue *q = queue;

	return rq->link.prev == &q->fifo ? NULL : list_prev(rq, struct weir_rq, link);
}

const struct weir_order weir_order_noop = {
	.init = queue_init,
	.insert = queue_insert,
	.remove = queue_remove,
	.dispatch = queue_dispatch,
	.latter = queue_latter,
	.former = queue_former,
};

/* ---- the policy ---- */

static int noop_init(struct weir *w)
{
	queue_init(w, weir_policy_data(w), NULL);
	return 0;
}

static void noop_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct noop_queue *q = weir_policy_data(w);

	weir_express_add(&q->fifo, rq, where);
}

static void noop_remove(struct weir *w, struct weir_rq *rq)
{
	queue_remove(w, weir_policy_data(w), rq);
}

static struct weir_rq *noop_dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	return queue_dispatch(w, weir_policy_data(w), force, v);
}

static struct weir_group *noop_next_group(struct weir *w)
{
	const struct noop_queue *q = weir_policy_data(w);

	if (list_is_empty(&q->fifo))
		return NULL;
	return list_first(&q->fifo, struct weir_rq, link)->group;
}

static struct weir_rq *noop_latter(struct weir *w, struct weir_rq *rq)
{
	return queue_latter(weir_policy_data(w), rq);
}

static struct weir_rq *noop_former(struct weir *w, struct weir_rq *rq)
{
	return queue_former(weir_policy_data(w), rq);
}

static const struct weir_tunable noop_tunables[] = {{.name = NULL}};

const struct weir_policy weir_policy_noop = {
	.info =
		{
			.name = "noop",
			.help = "order of arrival, merging only",
			.tunables = noop_tunables,
		},
	.instance_size = sizeof(struct noop_queue),
	.init = noop_init,
	.insert = noop_insert,
	.dispatch = noop_dispatch,
	.next_group = noop_next_group,
	.remove = noop_remove,
	.latter = noop_latter,
	.former = noop_former,
};
