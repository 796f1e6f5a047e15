/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: keeping the device idle for a queue that has nothing left, in the hope that it asks again at
 * once. It pays in two ways. Throughput: a sequential stream goes on where the head is. Guarantees:
 * a queue that is due more than another can get it only if its turn isn't given away in the moments
 * between its requests. Where neither holds (flash that queues, and all busy queues alike) the
 * device is never kept idle.
 */
#include "policy/bfq/internal.h"

bool bfq_idling_boosts(const struct bfq *bfq, const struct bfq_queue *q)
{
	bool queues = bfq->queueing; /* or not known yet */
	bool streams = !bfq_is_seeky(q) && q->io_bound && q->short_think;

	if (bfq->nr_busy_raised)
		return false;
	return (bfq->rotational && !queues) || ((bfq->rotational || !queues) && streams);
}

static bool guarantees_need_it(const struct bfq *bfq, const struct bfq_queue *q)
{
	uint32_t busy = bfq_total_busy(bfq);

	if (bfq_is_orphan(q))
		return false;
	if (bfq_is_raised(q) &&
	    (bfq->nr_busy_raised < busy || bfq->in_driver >= q->dispatched + BFQ_RAISED_OTHERS))
		return true;
	return bfq_is_asymmetric(bfq, q) || busy == 1;
}

bool bfq_better_to_idle(const struct bfq *bfq, const struct bfq_queue *q)
{
	if (bfq->strict && q->sync)
		return true;
	if (!bfq->slice_idle_ns || !q->sync || q->entity.class == BFQ_IDLE)
		return false;
	return bfq_idling_boosts(bfq, q) || guarantees_need_it(bfq, q);
}

bool bfq_must_idle(const struct bfq *bfq, const struct bfq_queue *q)
{
	return bfq_is_empty(q) && bfq_better_to_idle(bfq, q);
}

void bfq_idle_begin(struct bfq *bfq)
{
	struct bfq_queue *q = bfq->served;
	uint64_t length_ns = weir_max64(bfq->slice_idle_ns, 1);

	if (bfq_is_raised(q))
		length_ns = weir_max64(length_ns, BFQ_RAISED_IDLE_NS);
	else if (bfq_is_seeky(q) && !bfq_is_asymmetric(bfq, q))
		length_ns = weir_min64(length_ns, BFQ_MIN_THINK_NS);
	q->waiting = true;
	bfq->idle_start_ns = bfq->now;
	bfq->idle_end_ns = weir_add_sat(bfq->now, length_ns);
}

void bfq_idle_check(struct bfq *bfq)
{
	struct bfq_queue *q = bfq->served;
	uint64_t now = bfq->now;

	if (!q || !q->waiting || now < bfq->idle_end_ns)
		return;
	/* Nobody may have asked for a while, with nothing queued: it ended when it ended. */
	bfq->now = bfq->idle_end_ns;
	q->waiting = false;
	if (bfq_timed_out(bfq, q))
		bfq_expire(bfq, q, true, BFQ_BUDGET_TIMEOUT);
	else if (bfq_is_empty(q))
		bfq_expire(bfq, q, true, BFQ_TOO_IDLE);
	bfq->now = now;
}
