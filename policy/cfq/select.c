/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CFQ: which queue is served now, and whether it may have one more request in the driver. Asked for
 * each request. What is decided here changes with time in three ways only: the idle timer, the end
 * of the slice, and the depth of async queues after a delay of sync ones; so these are the times
 * that a refusal names.
 */
#include "policy/cfq/internal.h"

enum decision {
	SERVE,	/* the active queue */
	WAIT,	/* for the active queue: nothing goes */
	SWITCH, /* its slice is over */
};

/* The last queue of its group is still at work: more of it may come before the group's turn ends. */
static bool group_is_waited_for(const struct cfq *c, const struct cfq_group *cg)
{
	return cfq_group_idle(c) && cg->nr_queues == 1 && cg->in_driver &&
	       !cfq_think_is_long(&cg->think, cfq_group_idle(c));
}

/* Deep and seeky was a reason to wait. A device that is done with it so early gives none. */
static void forget_deep_if_fast(const struct cfq *c, struct cfq_queue *q)
{
	if (!cfq_is_seeky(q) || !q->idle_window)
		return;
	if (!q->slice_new && cfq_slice_left(c, q) <= cfq_now(c) - q->slice_from_ns)
		return;
	q->deep = false;
	q->idle_window = false;
}

/* *then: the queue to go on with, if a cooperator was found. */
static enum decision decide(struct cfq *c, struct cfq_queue *q, struct cfq_queue **then)
{
	bool at_work;

	/* It was waited for past the end, so that its group keeps its place. */
	if (q->wait_busy && !cfq_is_empty(q))
		return SWITCH;
	if (cfq_slice_used(c, q) && !q->must_dispatch) {
		at_work = cfq_is_empty(q) && q->nr_in_driver && q->group->nr_queues == 1;
		if (at_work && cfq_should_idle(c, q))
			return WAIT;
		return group_is_waited_for(c, q->group) ? WAIT : SWITCH;
	}
	if (!cfq_is_empty(q))
		return SERVE;
	*then = cfq_close_cooperator(c, q);
	if (*then) {
		if (!q->redirect)
			cfq_coop_join(q, *then);
		return SWITCH;
	}
	if (c->timer_ns != WEIR_NEVER)
		return WAIT;
	forget_deep_if_fast(c, q);
	if (q->nr_in_driver && cfq_should_idle(c, q))
		return WAIT;
	return group_is_waited_for(c, q->group) ? WAIT : SWITCH;
}

/* The queue to serve, which is the active one then; NULL: wait. Something is queued. */
static struct cfq_queue *select_queue(struct cfq *c)
{
	struct cfq_queue *then = NULL;

	if (c->active) {
		switch (decide(c, c->active, &then)) {
		case SERVE:
			return c->active;
		case WAIT:
			return NULL;
		case SWITCH:
			cfq_expire(c, false);
		}
	}
	cfq_set_active(c, then ? then : cfq_choose_queue(c));
	return c->active;
}

/* ---- how much ---- */

/* Will it be over before those in the driver are, at the price of a seek each? */
static bool ends_soon(const struct cfq *c, const struct cfq_queue *q)
{
	return q->slice_new || cfq_now(c) + cfq_slice_idle(c) * q->nr_in_driver > q->slice_end_ns;
}

/* So many requests may be in the driver. */
static uint64_t depth_limit(const struct cfq *c, const struct cfq_queue *q)
{
	uint64_t quantum = cfq_tunable(c, CFQ_QUANTUM), half = quantum > 1 ? quantum / 2 : 1;

	if (q->class == CFQ_IDLE)
		return 1;
	if (q->nr_in_driver < half)
		return half;
	/* Nobody else is there, or only async ones, over which it would be preferred anyway. */
	if (c->nr_busy == 1 || (q->sync && c->nr_busy_sync == 1))
		return UINT64_MAX;
	return ends_soon(c, q) ? half : quantum;
}

/*
 * Async queues begin slowly after a sync request was late: one more for each slice_sync since.
 * Returns when the next one may go.
 */
static uint64_t ramp_ns(const struct cfq *c, const struct cfq_queue *q)
{
	if (q->sync || !cfq_tunable(c, CFQ_LOW_LATENCY) || !q->nr_in_driver)
		return 0;
	return c->delayed_sync_ns + (q->nr_in_driver + UINT64_C(1)) * cfq_ms(c, CFQ_SLICE_SYNC);
}

/* May the active queue have one more in the driver? *when: the time at which, or that doesn't help. */
static bool may_dispatch(const struct cfq *c, const struct cfq_queue *q, uint64_t *when)
{
	if (q->must_dispatch)
		return true;
	/* What is to be waited for would wait for these; and the other way round. */
	if (c->in_flight[false] && cfq_should_idle(c, q))
		return false;
	if (c->in_flight[true] && !q->sync)
		return false;
	if (q->nr_in_driver >= depth_limit(c, q))
		return false;
	*when = ramp_ns(c, q);
	return *when <= cfq_now(c);
}

/* ---- dispatch ---- */

static uint64_t end_of_slice(const struct cfq *c)
{
	const struct cfq_queue *q = c->active;

	return q && !q->slice_new && q->slice_end_ns > cfq_now(c) ? q->slice_end_ns : WEIR_NEVER;
}

/* Its oldest request, if that has waited too long: looked at once in a slice. */
static struct weir_rq *overdue(const struct cfq *c, struct cfq_queue *q)
{
	struct weir_rq *oldest = list_first(&q->fifo, struct weir_rq, link);

	if (q->fifo_checked)
		return NULL;
	q->fifo_checked = true;
	return cfq_now(c) >= cfq_rq(oldest)->expires_ns ? oldest : NULL;
}

/* Others wait, and it has had what a turn of its kind is. */
static bool turn_is_over(const struct cfq *c, const struct cfq_queue *q)
{
	uint64_t most = 2 * cfq_tunable(c, CFQ_SLICE_ASYNC_RQ) * (CFQ_LEVELS - q->level);

	return c->nr_busy > 1 &&
	       (q->class == CFQ_IDLE || (!q->sync && q->slice_dispatched >= most));
}

static struct weir_rq *give(struct cfq *c, struct cfq_queue *q, struct weir_rq *rq)
{
	cfq_queue_dispatch(c, rq);
	if (!c->active_proc)
		c->active_proc = cfq_rq(rq)->proc;
	q->slice_dispatched++;
	q->must_dispatch = false;
	if (turn_is_over(c, q))
		cfq_expire(c, false);
	return rq;
}

/* Everything, group by group and queue by queue. */
static struct weir_rq *force_out(struct cfq *c)
{
	struct weir_rq *rq;

	if (c->active && cfq_is_empty(c->active))
		cfq_expire(c, false);
	if (!c->active)
		cfq_set_active(c, cfq_choose_queue(c));
	rq = c->active->next;
	cfq_queue_dispatch(c, rq);
	if (cfq_is_empty(c->active))
		cfq_expire(c, false);
	return rq;
}

struct weir_rq *cfq_dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct cfq *c = weir_policy_data(w);
	uint64_t when = WEIR_NEVER;
	struct weir_rq *rq, *late;
	struct cfq_queue *q;

	cfq_run_timer(c);
	if (!list_is_empty(&c->express)) {
		rq = list_first(&c->express, struct weir_rq, link);
		list_unlink(&rq->link);
		return rq;
	}
	if (!c->nr_queued)
		return NULL;
	if (force)
		return force_out(c);
	q = select_queue(c);
	if (!q) {
		v->why = WEIR_STALL_IDLE;
		v->at_ns = weir_min64(c->timer_ns, end_of_slice(c));
		return NULL;
	}
	late = overdue(c, q);
	if (late)
		q->must_dispatch = true;
	if (!may_dispatch(c, q, &when)) {
		v->why = WEIR_STALL_DEPTH;
		v->next = q->group->group;
		v->at_ns = weir_min64(weir_min64(c->timer_ns, when), end_of_slice(c));
		return NULL;
	}
	return give(c, q, late ? late : q->next);
}

struct weir_group *cfq_next_group(struct weir *w)
{
	struct cfq *c = weir_policy_data(w);
	const struct cfq_group *cg;

	if (!list_is_empty(&c->express))
		return list_first(&c->express, struct weir_rq, link)->group;
	if (c->active && !cfq_is_empty(c->active))
		return c->active->group->group;
	cg = cfq_group_first(c);
	return cg ? cg->group : NULL;
}
