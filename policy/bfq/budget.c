/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: a turn. It ends when its budget of sectors is used up, when its time is over, when the queue
 * has nothing more, or when another preempts it. How it ended says what the next budget is: greedy
 * queues come to the largest in a few turns, sporadic ones to the smallest, whereby they finish
 * early and so are served early.
 *
 * Service is what is charged, except where that would be unfair to the others: a queue that is slow
 * (it seeks, or got less than half of the largest budget in a long turn), or that ran out of time
 * with a third of its budget left, is charged for its time, as if it had been served at the peak
 * rate. So seeking queues share time, and the others bandwidth.
 */
#include "policy/bfq/internal.h"

uint32_t bfq_max_budget(const struct bfq *bfq)
{
	uint32_t set = (uint32_t)bfq_tunable(bfq, BFQ_MAX_BUDGET);

	if (set)
		return set;
	return bfq->budgets_assigned < BFQ_BUDGETS_NEEDED ? BFQ_DEFAULT_BUDGET : bfq->max_budget;
}

static uint64_t min_budget(const struct bfq *bfq)
{
	uint32_t min = bfq_max_budget(bfq) / BFQ_MIN_BUDGET_PART;

	return min ? min : 1;
}

static uint64_t timeout_ns(const struct bfq *bfq)
{
	return bfq_tunable(bfq, BFQ_TIMEOUT_SYNC) * WEIR_NS_PER_MS;
}

void bfq_begin_turn(struct bfq *bfq, struct bfq_queue *q)
{
	uint64_t from_ns;
	uint32_t factor = 1;

	q->fifo_checked = false;
	bfq->served = q;
	bfq->budgets_assigned = (bfq->budgets_assigned * 7 + 256) / 8;
	/* A soft real-time queue isn't raised for the time in which it wasn't served. */
	if (q->raise.kind == BFQ_SOFT_RT && bfq_passed(bfq, q->raise.since_ns, 0) &&
	    bfq_passed(bfq, q->budget_end_ns, 0)) {
		from_ns = weir_max64(q->raise.since_ns, q->budget_end_ns);
		q->raise.since_ns += bfq->now - from_ns;
	}
	if (q->raise.kind != BFQ_SOFT_RT)
		factor = q->entity.weight / q->entity.base_weight;
	q->turn_ns = bfq->now;
	q->budget_end_ns = weir_add_sat(bfq->now, timeout_ns(bfq) * factor);
}

bool bfq_timed_out(const struct bfq *bfq, const struct bfq_queue *q)
{
	return bfq->now >= q->budget_end_ns;
}

static bool much_left(const struct bfq_queue *q)
{
	return bfq_budget_left(q) * 3 >= q->entity.budget;
}

/* A queue that is waited for isn't cut off for the sake of a small rest. */
uint64_t bfq_may_time_out_ns(const struct bfq_queue *q)
{
	return !q->waiting || much_left(q) ? q->budget_end_ns : WEIR_NEVER;
}

bool bfq_may_time_out(const struct bfq *bfq, const struct bfq_queue *q)
{
	return bfq->now >= bfq_may_time_out_ns(q);
}

/* Was it slow in this turn? *turn_ns is what the turn took. */
static bool is_slow(const struct bfq *bfq, const struct bfq_queue *q, bool compensate,
		    uint64_t *turn_ns)
{
	uint64_t end_ns = compensate ? bfq->idle_start_ns : bfq->now;
	bool seeky = bfq_is_seeky(q);

	*turn_ns = end_ns > q->turn_ns ? end_ns - q->turn_ns : 0;
	if (!q->sync)
		return false;
	if (*turn_ns < BFQ_SHORTEST_TURN_NS) {
		/* Too short to measure. */
		*turn_ns = bfq->rotational ? bfq->slice_idle_ns : BFQ_MIN_THINK_NS;
		return seeky;
	}
	if (*turn_ns > BFQ_SLOW_INTERVAL_NS)
		return q->entity.service < bfq_max_budget(bfq) / 2;
	return seeky;
}

static void charge_time(struct bfq *bfq, struct bfq_queue *q, uint64_t turn_ns)
{
	struct bfq_entity *e = &q->entity;
	uint64_t limit_ns = timeout_ns(bfq);
	uint64_t sectors = weir_mul_div(bfq_max_budget(bfq), weir_min64(turn_ns, limit_ns),
					limit_ns);

	if (sectors <= e->service)
		return;
	e->budget = weir_max64(e->budget, sectors);
	bfq_sched_charge(bfq, q, sectors - e->service);
}

/* The budget of the next turn. */
static uint64_t feedback(const struct bfq *bfq, const struct bfq_queue *q, enum bfq_reason why)
{
	uint64_t max = bfq_max_budget(bfq), min = min_budget(bfq), budget = q->max_budget;

	if (!q->sync)
		return max;
	if (bfq_is_raised(q))
		return 2 * min;
	switch (why) {
	case BFQ_TOO_IDLE:
		/* With some still in the device it may just be slow to answer. */
		if (q->dispatched)
			return weir_min64(budget * 2, max);
		return budget > 5 * min ? budget - 4 * min : min;
	case BFQ_BUDGET_TIMEOUT:
		return weir_min64(budget * 2, max);
	case BFQ_BUDGET_EXHAUSTED:
		return weir_min64(budget * 4, max);
	case BFQ_NO_MORE_REQUESTS:
		return weir_max64(q->entity.service, min);
	case BFQ_PREEMPTED:
		break;
	}
	return budget;
}

static void next_budget(const struct bfq *bfq, struct bfq_queue *q, enum bfq_reason why)
{
	q->max_budget = weir_max64(feedback(bfq, q, why), 1);
	if (why == BFQ_PREEMPTED && !bfq_is_raised(q) && q->sync)
		return;
	q->entity.budget = q->max_budget;
	if (q->next)
		q->entity.budget = weir_max64(q->max_budget, bfq_charge_of(bfq, q, q->next));
}

static void may_be_soft_rt(struct bfq *bfq, struct bfq_queue *q)
{
	if (!bfq_tunable(bfq, BFQ_LOW_LATENCY) || !bfq_is_empty(q))
		return;
	if (q->dispatched)
		q->softrt_update = true; /* known when they are done */
	else
		q->soft_rt_ns = bfq_soft_rt_next_ns(bfq, q);
}

/* Out of service: back among the active ones if it has something, else idle. */
static void put_back(struct bfq *bfq, struct bfq_queue *q)
{
	bool more = !bfq_is_empty(q);

	if (q->coop && bfq_is_seeky(q))
		q->split = true;
	bfq_sched_unserve(q, more);
	bfq->served = NULL;
	q->waiting = false;
	if (more) {
		bfq_queue_next_changed(bfq, q);
		return;
	}
	if (!q->dispatched)
		q->budget_end_ns = bfq->now;
	bfq_served_no_longer_busy(bfq, q);
}

void bfq_expire(struct bfq *bfq, struct bfq_queue *q, bool compensate, enum bfq_reason why)
{
	uint64_t turn_ns;
	bool slow;

	weir_assert(bfq->served == q);
	slow = is_slow(bfq, q, compensate, &turn_ns);
	if (!bfq_is_raised(q) && (slow || (why == BFQ_BUDGET_TIMEOUT && much_left(q))))
		charge_time(bfq, q, turn_ns);
	if (bfq_tunable(bfq, BFQ_LOW_LATENCY) && !bfq_is_raised(q))
		q->raise.since_ns = bfq->now;
	may_be_soft_rt(bfq, q);
	bfq->injected = false;
	bfq->measure_next = false;
	bfq->measured = NULL;
	next_budget(bfq, q, why);
	put_back(bfq, q);
	/*
	 * If its next request comes soon, it goes on with what it has left of this budget, as if it
	 * had not been away: so the service stays.
	 */
	if (!q->busy && why != BFQ_BUDGET_TIMEOUT && why != BFQ_BUDGET_EXHAUSTED)
		q->non_blocking = true;
	else
		q->entity.service = 0;
}
