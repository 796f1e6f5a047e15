/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CFQ: keeping the device idle for one process. When the active queue runs dry, and it is worth
 * waiting for, a timer is set. The policy has no clock of its own: the time of the timer is the one
 * that dispatch names, and every hook first looks whether it has passed.
 */
#include "policy/cfq/internal.h"

bool cfq_should_idle(const struct cfq *c, const struct cfq_queue *q)
{
	if (!cfq_slice_idle(c) || q->class == CFQ_IDLE)
		return false;
	if (q->idle_window && (cfq_rotational(c) || !cfq_hw_queues(c)))
		return true;
	/* The last of its tree stands for all of them: random readers keep their time as a set. */
	return q->sync && q->tree->count == 1 &&
	       !cfq_think_is_long(&q->tree->think, cfq_slice_idle(c));
}

void cfq_stop_timer(struct cfq *c)
{
	c->timer_ns = WEIR_NEVER;
}

/* The active queue has run dry in its slice. */
static void arm_timer(struct cfq *c, struct cfq_queue *q)
{
	const struct cfq_proc *p = c->active_proc;
	uint64_t group_idle = 0;

	if (!cfq_rotational(c) && cfq_hw_queues(c) && !cfq_group_idle(c))
		return;
	if (!cfq_should_idle(c, q)) {
		group_idle = cfq_group_idle(c);
		if (!group_idle)
			return;
	}
	if (q->nr_in_driver || !p || cfq_proc_is_gone(p))
		return;
	/* It would not come back before the end of its slice. */
	if (cfq_think_is_long(&p->think, cfq_slice_left(c, q)))
		return;
	if (group_idle && q->group->nr_queues > 1)
		return;
	q->waiting = true;
	c->timer_ns = cfq_now(c) + (group_idle ? group_idle : cfq_slice_idle(c));
}

void cfq_run_timer(struct cfq *c)
{
	struct cfq_queue *q = c->active;

	if (c->timer_ns > cfq_now(c))
		return;
	cfq_stop_timer(c);
	if (!q || q->must_dispatch)
		return;
	if (!cfq_slice_used(c, q)) {
		if (!cfq_is_empty(q))
			return;
		q->deep = false; /* it didn't come */
	}
	cfq_expire(c, false);
}

/*
 * Its group has only this queue, and would leave the tree with it, for a request that is about to
 * come.
 */
static bool should_wait_busy(const struct cfq *c, const struct cfq_queue *q)
{
	const struct cfq_proc *p = c->active_proc;

	if (!cfq_is_empty(q) || q->group->nr_queues > 1 ||
	    cfq_think_is_long(&q->group->think, cfq_group_idle(c)))
		return false;
	/* Think times below a tick were zero to the original, so it looks a tick ahead. */
	return cfq_slice_left(c, q) <= CFQ_TICK_NS ||
	       (p && cfq_think_is_long(&p->think, cfq_slice_left(c, q)));
}

void cfq_active_completed(struct cfq *c, struct cfq_queue *q, bool sync)
{
	if (q->slice_new)
		cfq_slice_begin(c, q);
	if (should_wait_busy(c, q)) {
		q->slice_end_ns = cfq_now(c) +
				  (cfq_slice_idle(c) ? cfq_slice_idle(c) : cfq_group_idle(c));
		q->wait_busy = true;
	}
	if (cfq_slice_used(c, q) || q->class == CFQ_IDLE)
		cfq_expire(c, true);
	else if (sync && cfq_is_empty(q) && !cfq_close_cooperator(c, q))
		arm_timer(c, q);
}

/* Before the completed request is counted as gone. */
void cfq_learn_hw_tag(struct cfq *c)
{
	const struct cfq_queue *q = c->active;

	if (c->in_driver > c->hw_peak)
		c->hw_peak = c->in_driver;
	if (c->hw_tag == CFQ_HW_YES)
		return;
	if (c->nr_queued <= CFQ_HW_MIN && c->in_driver <= CFQ_HW_MIN)
		return;
	/* Not for want of a device that could take more, but because it waits for one process. */
	if (q && q->idle_window && q->nr_in_driver + q->nr_queued < CFQ_HW_MIN &&
	    c->in_driver < CFQ_HW_MIN)
		return;
	if (c->hw_samples < CFQ_HW_SAMPLES) {
		c->hw_samples++;
		return;
	}
	c->hw_tag = c->hw_peak >= CFQ_HW_MIN ? CFQ_HW_YES : CFQ_HW_NO;
}
