/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CFQ: a request was added. If its queue was being waited for, the wait is over. If it belongs to
 * another queue, that one may take over at once.
 *
 * The order of the rules is that of 4.2. Thread 001 asks for one change: the noidle rule before the
 * rule about groups, so that a task and the journal's thread, which lives in the root group, don't
 * wait for each other's next request. That is the tunable group_preempt_noidle.
 */
#include "policy/cfq/internal.h"

/*
 * While only the set of noidle queues is waited for, one that comes takes over, if it is the only
 * other one of its kind: then it is likely to be what the wait is for.
 */
static bool noidle_takes_over(const struct cfq *c, const struct cfq_queue *active,
			      const struct cfq_queue *q)
{
	uint32_t alone = 2;

	if (cfq_tunable(c, CFQ_GROUP_PREEMPT_NOIDLE))
		alone = active->group == q->group ? 2 : 1;
	return c->serving_type == CFQ_NOIDLE && cfq_type_of(q) == CFQ_NOIDLE &&
	       q->tree->count == alone && cfq_is_empty(active);
}

/* Rules that hold between queues of one group. */
static bool preempts_within(const struct cfq *c, const struct cfq_queue *active,
			    const struct cfq_queue *q, const struct weir_rq *rq)
{
	if (cfq_slice_used(c, active))
		return true;
	if (noidle_takes_over(c, active, q))
		return true;
	if ((rq->flags & WEIR_RQ_META) && !active->nr_meta)
		return true;
	if (q->class == CFQ_RT && active->class != CFQ_RT)
		return true;
	if (cfq_is_empty(active) && !cfq_should_idle(c, active))
		return true;
	/* As good as the one that is waited for. */
	return c->active_proc && active->waiting && cfq_is_close(c, rq->sector);
}

static bool preempts(const struct cfq *c, const struct cfq_queue *q, const struct weir_rq *rq)
{
	const struct cfq_queue *active = c->active;

	if (!active || q->class == CFQ_IDLE)
		return false;
	if (active->class == CFQ_IDLE)
		return true;
	if (active->class == CFQ_RT && q->class != CFQ_RT)
		return false;
	if (weir_rq_is_sync(rq) && !active->sync)
		return true;
	if (cfq_tunable(c, CFQ_GROUP_PREEMPT_NOIDLE) && noidle_takes_over(c, active, q))
		return true;
	return q->group == active->group && preempts_within(c, active, q, rq);
}

static void preempt(struct cfq *c, struct cfq_queue *q)
{
	enum cfq_type type = cfq_type_of(c->active);

	cfq_expire(c, true);
	/* Else the group would go on with what it had begun. */
	if (type != cfq_type_of(q))
		q->group->saved_ns = 0;
	cfq_busy_to_front(c, q);
}

void cfq_enqueued(struct cfq *c, struct cfq_queue *q, const struct weir_rq *rq)
{
	if (q != c->active) {
		if (preempts(c, q, rq))
			preempt(c, q);
		return;
	}
	if (!q->waiting)
		return;
	/* A small one, and nobody else: more may come to be merged with it until dispatch is asked. */
	if (rq->nr_sectors <= CFQ_PAGE_SECTORS && c->nr_busy <= 1) {
		q->must_dispatch = true;
		return;
	}
	cfq_stop_timer(c);
	q->waiting = false;
}
