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
#include "core/list.h"
#include "core/spi.h"
#include "core/spi_state.h"

struct noop {
	struct weir_list fifo;
};

static int noop_init(struct weir *w)
{
	struct noop *noop = weir_policy_data(w);

	list_init(&noop->fifo);
	return 0;
}

static void noop_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct noop *noop = weir_policy_data(w);

	if (where == WEIR_HEAD)
		list_push_front(&noop->fifo, &rq->link);
	else
		list_push_back(&noop->fifo, &rq->link);
}

static void noop_remove(struct weir *w, struct weir_rq *rq)
{
	(void)w;
	list_unlink(&rq->link);
}

static struct weir_rq *noop_dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct noop *noop = weir_policy_data(w);
	struct weir_rq *rq;

	(void)force; /* it never waits anyway */
	(void)v;
	if (list_is_empty(&noop->fifo))
		return NULL;
	rq = list_first(&noop->fifo, struct weir_rq, link);
	noop_remove(w, rq);
	return rq;
}

static struct weir_group *noop_next_group(struct weir *w)
{
	const struct noop *noop = weir_policy_data(w);

	if (list_is_empty(&noop->fifo))
		return NULL;
	return list_first(&noop->fifo, struct weir_rq, link)->group;
}

static struct weir_rq *noop_latter(struct weir *w, struct weir_rq *rq)
{
	struct noop *noop = weir_policy_data(w);

	return rq->link.next == &noop->fifo ? NULL : list_next(rq, struct weir_rq, link);
}

static struct weir_rq *noop_former(struct weir *w, struct weir_rq *rq)
{
	struct noop *noop = weir_policy_data(w);

	return rq->link.prev == &noop->fifo ? NULL : list_prev(rq, struct weir_rq, link);
}

static const struct weir_tunable noop_tunables[] = {{.name = NULL}};

const struct weir_policy weir_policy_noop = {
	.info =
		{
			.name = "noop",
			.help = "order of arrival, merging only",
			.tunables = noop_tunables,
		},
	.instance_size = sizeof(struct noop),
	.init = noop_init,
	.insert = noop_insert,
	.dispatch = noop_dispatch,
	.next_group = noop_next_group,
	.remove = noop_remove,
	.latter = noop_latter,
	.former = noop_former,
};
