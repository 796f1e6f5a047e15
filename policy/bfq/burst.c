/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: queues that are created together. A service that starts, or a build, makes many processes at
 * once; to raise them would only slow down others, and raised together they are no better off. So
 * queues of one group that come within 180 ms of each other are counted, and from the eighth on they
 * all are a large burst: not raised.
 */
#include "policy/bfq/internal.h"

void bfq_burst_leave(struct bfq_queue *q)
{
	list_unlink(&q->burst);
	list_init(&q->burst);
}

static void empty_list(struct bfq *bfq, bool mark)
{
	while (!list_is_empty(&bfq->burst)) {
		struct bfq_queue *q = list_first(&bfq->burst, struct bfq_queue, burst);

		if (mark)
			q->in_large_burst = true;
		bfq_burst_leave(q);
	}
}

/* A new burst begins with it, unless others are at work already. */
static void begin(struct bfq *bfq, struct bfq_queue *q)
{
	empty_list(bfq, false);
	bfq->large_burst = false;
	bfq->burst_size = 0;
	if (!bfq_total_busy(bfq)) {
		list_push_back(&bfq->burst, &q->burst);
		bfq->burst_size = 1;
	}
	bfq->burst_group = q->group;
}

static void add(struct bfq *bfq, struct bfq_queue *q)
{
	if (++bfq->burst_size < BFQ_LARGE_BURST) {
		list_push_back(&bfq->burst, &q->burst);
		return;
	}
	bfq->large_burst = true;
	empty_list(bfq, true);
	q->in_large_burst = true;
}

void bfq_burst_created(struct bfq *bfq, struct bfq_queue *q)
{
	if (!bfq->burst_size && bfq_total_busy(bfq))
		return;
	if (!list_is_empty(&q->burst) || q->in_large_burst ||
	    !bfq_passed(bfq, q->split_ns, BFQ_SPLIT_RECENT_NS))
		return;
	if (bfq_passed(bfq, bfq->burst_ns, BFQ_BURST_NS) || q->group != bfq->burst_group)
		begin(bfq, q);
	else if (bfq->large_burst)
		q->in_large_burst = true;
	else
		add(bfq, q);
	bfq->burst_ns = bfq->now;
}
