/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: a request arrives. What the queue is like is brought up to date; if it was idle it becomes
 * busy, may be raised, and may preempt the queue in service.
 */
#include "policy/bfq/internal.h"

/* It was waited for, and came in time, with budget left: it goes on with what is left. */
static bool recovers(struct bfq *bfq, struct bfq_queue *q)
{
	struct bfq_entity *e = &q->entity;
	bool in_time = bfq->now <= q->last_end_ns + 3 * bfq->slice_idle_ns;

	if (q->non_blocking && in_time && bfq_budget_left(q) > 0) {
		e->budget = weir_min64(bfq_budget_left(q), q->max_budget);
		e->service = 0;
		return true;
	}
	e->service = 0;
	e->budget = weir_max64(q->max_budget, bfq_charge_of(bfq, q, q->next));
	q->non_blocking = false;
	return false;
}

static bool idle_for_long(const struct bfq *bfq, const struct bfq_queue *q)
{
	return !q->dispatched && bfq_passed(bfq, q->budget_end_ns, BFQ_RAISE_MIN_IDLE_NS);
}

/* Of one process, or of several that one parent made together. */
static bool serves_one(const struct bfq_queue *q)
{
	return !q->coop || (q->owner && q->owner->stably_merged);
}

static void look_at(const struct bfq *bfq, const struct bfq_queue *q, struct bfq_arrival *a)
{
	bool normal = bfq_is_default_weight(q);

	a->in_burst = q->in_large_burst;
	a->interactive = !a->in_burst && normal && idle_for_long(bfq, q);
	a->soft_rt = !a->in_burst && normal && !bfq_is_totally_seeky(q) && !q->dispatched &&
		     bfq->now > q->soft_rt_ns;
	a->deserves = bfq_tunable(bfq, BFQ_LOW_LATENCY) &&
		      (bfq_is_raised(q) ||
		       (q->sync && serves_one(q) && (a->interactive || a->soft_rt)));
}

static bool outranks(const struct bfq_queue *q, const struct bfq_queue *served)
{
	const struct bfq_entity *a = &q->entity, *b = &served->entity;

	if (a->class != b->class)
		return a->class < b->class;
	/* Within one group weights are compared as they are, else those of the groups. */
	if (a->in == b->in)
		return a->weight > b->weight;
	return (a->in->entity.in ? a->in->entity.weight : a->weight) >
	       (b->in->entity.in ? b->in->entity.weight : b->weight);
}

static void maybe_preempt(struct bfq *bfq, struct bfq_queue *q, bool wants)
{
	struct bfq_queue *served = bfq->served;

	if (!served || served == q)
		return;
	if (!(wants && q->raise.coeff >= served->raise.coeff) && !outranks(q, served) &&
	    bfq_better_to_idle(bfq, served))
		return;
	if (bfq_sched_first(bfq) == q)
		bfq_expire(bfq, served, false, BFQ_PREEMPTED);
}

static void gets_busy(struct bfq *bfq, struct bfq_queue *q, struct bfq_arrival *a)
{
	bool wants = recovers(bfq, q);

	if (!q->just_created && idle_for_long(bfq, q) &&
	    bfq_passed(bfq, q->budget_end_ns, BFQ_BURST_FORGET_NS)) {
		bfq_burst_leave(q);
		q->in_large_burst = false;
	}
	q->just_created = false;
	if (bfq_tunable(bfq, BFQ_LOW_LATENCY) &&
	    bfq_passed(bfq, q->split_ns, BFQ_RAISE_MIN_IDLE_NS))
		bfq_raise_on_arrival(bfq, q, a);
	/* The next request fits whatever the raising made of the budget. */
	q->entity.budget = weir_max64(q->entity.budget, bfq_charge_of(bfq, q, q->next));
	q->backlogged_ns = bfq->now;
	q->service_backlogged = 0;
	q->softrt_update = false;
	bfq_add_busy(bfq, q);
	maybe_preempt(bfq, q, wants);
}

static void stays_busy(struct bfq *bfq, struct bfq_queue *q, const struct weir_rq *rq)
{
	if (bfq_tunable(bfq, BFQ_LOW_LATENCY) && !bfq_is_raised(q) && !weir_rq_is_sync(rq) &&
	    bfq_passed(bfq, q->raise.since_ns, BFQ_RAISE_MIN_ASYNC_NS))
		bfq_raise_async(bfq, q);
}

/* Its turn has been held for this request: or not for one so small. */
static void ends_wait(struct bfq *bfq, struct bfq_queue *q, const struct weir_rq *rq)
{
	bool timed_out = bfq_timed_out(bfq, q);

	if (q->nr_queued == 1 && rq->nr_sectors < BFQ_SMALL_REQUEST && bfq_idling_boosts(bfq, q) &&
	    !timed_out)
		return;
	q->waiting = false;
	if (timed_out)
		bfq_expire(bfq, q, false, BFQ_BUDGET_TIMEOUT);
}

void bfq_arrive(struct bfq *bfq, struct bfq_queue *q, struct weir_rq *rq)
{
	struct bfq_arrival a = {.coeff_before = q->raise.coeff};

	bfq_update_think_time(bfq, q);
	bfq_update_short_think(bfq, q);
	bfq_update_seeks(bfq, q, rq);
	if (q->sync) {
		if (bfq_is_empty(q) && !q->dispatched) {
			bfq_waker_check(bfq, q);
			bfq_inject_arrival(bfq, q);
		}
		bfq_update_io_bound(bfq, q);
	}
	a.coeff_before = q->raise.coeff;
	bfq_queue_add(bfq, q, rq);
	if (!q->busy) {
		look_at(bfq, q, &a);
		gets_busy(bfq, q, &a);
	} else {
		stays_busy(bfq, q, rq);
	}
	if (bfq_tunable(bfq, BFQ_LOW_LATENCY) &&
	    (a.coeff_before == 1 || !bfq_is_raised(q) || a.interactive))
		q->raise.since_ns = bfq->now;
	q->last_end_sector = weir_rq_end(rq);
	if (q == bfq->served && q->waiting)
		ends_wait(bfq, q, rq);
}
