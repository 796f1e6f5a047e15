/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * iocost: who may go, and who waits.
 *
 * A group's vtime is what its requests have cost so far, each divided by its part of the device. It
 * may spend until it has caught up with the device's clock. Who has not enough waits in order of
 * arrival behind the others of the group; its timer is set for when the clock will be there, and a
 * hundredth of a period later, so that some go together.
 *
 * Timers and periods happen at their own times, also if nobody called then: before anything else is
 * done, what is due is caught up with, in order.
 */
#include "policy/iocost/internal.h"

/* ---- timers ---- */

static void set_timer(struct iocost *ioc, struct iocost_group *ig, uint64_t at_ns)
{
	struct weir_heap *timers = weir_turn_all(ioc->w);

	if (!weir_heap_has(&ig->timer)) {
		weir_heap_push(timers, &ig->timer, at_ns);
	} else {
		uint64_t apart = at_ns > ig->timer_ns ? at_ns - ig->timer_ns : ig->timer_ns - at_ns;

		if (apart <= ioc->slack_ns)
			return;
		weir_heap_update(timers, &ig->timer, at_ns);
	}
	ig->timer_ns = at_ns;
}

static void stop_timer(struct iocost *ioc, struct iocost_group *ig)
{
	if (weir_heap_has(&ig->timer))
		weir_heap_remove(weir_turn_all(ioc->w), &ig->timer);
}

uint64_t iocost_next_ns(const struct iocost *ioc)
{
	const struct weir_heap *timers = weir_turn_all(ioc->w);
	uint64_t at_ns = ioc->running ? ioc->period_end_ns : WEIR_NEVER;

	return timers->nr ? weir_min64(at_ns, weir_heap_min_key(timers)) : at_ns;
}

static void fire(struct iocost *ioc)
{
	struct weir_heap *timers = weir_turn_all(ioc->w);
	struct iocost_group *ig = weir_container_of(weir_heap_min(timers), struct iocost_group,
						    timer);

	weir_heap_remove(timers, &ig->timer);
	iocost_kick(ioc, ig);
}

/* Time that nobody would miss is left out: everything that is set for later is that much later. */
static void leave_out(struct iocost *ioc, uint64_t ns)
{
	struct weir_heap *timers = weir_turn_all(ioc->w);
	uint32_t n;

	ioc->clock.at_ns += ns;
	ioc->period_at_ns += ns;
	ioc->period_end_ns += ns;
	for (n = 0; n < timers->nr; n++) {
		timers->entry[n].key += ns;
		weir_container_of(timers->entry[n].item, struct iocost_group, timer)->timer_ns +=
			ns;
	}
}

void iocost_catch_up(struct iocost *ioc)
{
	const uint64_t now = weir_now(ioc->w);
	uint32_t periods = 0;
	uint64_t at_ns;

	while ((at_ns = iocost_next_ns(ioc)) <= now) {
		if (periods == IOCOST_CATCH_UP) {
			leave_out(ioc, now - at_ns + 1);
			break;
		}
		ioc->now = at_ns;
		if (ioc->running && at_ns == ioc->period_end_ns) {
			iocost_period_end(ioc);
			periods++;
		} else {
			fire(ioc);
		}
	}
	ioc->now = now;
}

/* ---- charging ---- */

static void charge(struct iocost_group *ig, struct iocost_rq *irq, uint64_t abs_cost, uint64_t cost)
{
	irq->cost += cost;
	ig->vtime += cost;
	ig->usage += abs_cost;
}

void iocost_make_ready(struct iocost *ioc, struct weir_rq *rq)
{
	iocost_rq(rq)->state = IOCOST_READY;
	iocost_rq(rq)->ready_ns = ioc->now;
	list_push_back(&ioc->ready, &rq->link);
}

void iocost_kick(struct iocost *ioc, struct iocost_group *ig)
{
	int64_t budget = (int64_t)(iocost_vnow(ioc) - ig->vtime);

	budget = iocost_pay(ioc, ig, budget);
	if (ig->debt || ig->delay_ns)
		iocost_update_delay(ioc, ig);
	iocost_parts(ioc, ig);
	while (ig->nr_waiting) {
		struct weir_rq *rq = list_first(&ig->waiting, struct weir_rq, link);
		uint64_t cost = iocost_scaled(iocost_rq(rq)->abs_cost, ig->hw_inuse);

		budget -= (int64_t)cost;
		if (budget < 0)
			break;
		list_unlink(&rq->link);
		ig->nr_waiting--;
		charge(ig, iocost_rq(rq), iocost_rq(rq)->abs_cost, cost);
		iocost_make_ready(ioc, rq);
	}
	if (!ig->nr_waiting) {
		stop_timer(ioc, ig);
		return;
	}
	set_timer(ioc, ig,
		  weir_add_sat(ioc->now + ioc->slack_ns,
			       iocost_wall_ns((uint64_t)-budget, ioc->base_rate)));
}

void iocost_waiter_left(struct iocost *ioc, struct iocost_group *ig)
{
	if (!--ig->nr_waiting)
		stop_timer(ioc, ig);
}

/*
 * What abs_cost is for the group. If it lends and its budget has become small since it began to,
 * it takes back first: step by step, until the request fits or nothing is lent.
 */
static uint64_t take_back_and_scale(struct iocost *ioc, struct iocost_group *ig, uint64_t abs_cost)
{
	uint64_t vnow = iocost_vnow(ioc), cost;
	uint32_t step;
	int64_t margin;

	iocost_parts(ioc, ig);
	cost = iocost_scaled(abs_cost, ig->hw_inuse);
	margin = (int64_t)(vnow - ig->vtime - cost);
	if (ig->debt || ig->inuse == ig->active_weight || !ig->is_active ||
	    margin >= ig->saved_margin || margin >= (int64_t)ioc->margin_low)
		return cost;
	step = (uint32_t)iocost_div_up((uint64_t)ig->active_weight * IOCOST_TAKE_BACK, 100);
	do {
		uint32_t inuse = ig->inuse + step;

		iocost_weigh(ioc, ig, ig->active_weight, inuse);
		iocost_save_margin(ioc, ig);
		iocost_parts(ioc, ig);
		cost = iocost_scaled(abs_cost, ig->hw_inuse);
	} while (weir_vtime_before(vnow, ig->vtime + cost) && ig->inuse != ig->active_weight);
	return cost;
}

static bool affords(const struct iocost *ioc, const struct iocost_group *ig, uint64_t cost)
{
	return !weir_vtime_before(iocost_vnow(ioc), ig->vtime + cost);
}

void iocost_submit(struct iocost *ioc, struct iocost_group *ig, struct weir_rq *rq)
{
	struct iocost_rq *irq = iocost_rq(rq);
	uint64_t cost;

	irq->abs_cost = iocost_cost(ioc, rq, rq->nr_sectors, &ig->cursor);
	if (!ig->parent || !irq->abs_cost || !iocost_activate(ioc, ig)) {
		iocost_make_ready(ioc, rq);
		return;
	}
	ig->cursor = weir_rq_end(rq);
	cost = take_back_and_scale(ioc, ig, irq->abs_cost);
	if (!ig->nr_waiting && !ig->debt && affords(ioc, ig, cost)) {
		charge(ig, irq, irq->abs_cost, cost);
		iocost_make_ready(ioc, rq);
		return;
	}
	if (iocost_cannot_wait(rq)) {
		iocost_incur(ioc, ig, irq->abs_cost);
		iocost_update_delay(ioc, ig);
		iocost_make_ready(ioc, rq);
		return;
	}
	/* Who waits lends nothing. */
	if (!ig->debt && ig->inuse != ig->active_weight) {
		iocost_weigh(ioc, ig, ig->active_weight, ig->active_weight);
		iocost_save_margin(ioc, ig);
	}
	irq->state = IOCOST_WAITING;
	list_push_back(&ig->waiting, &rq->link);
	ig->nr_waiting++;
	iocost_kick(ioc, ig);
}

/* It goes with the request that it joined: what the budget does not cover becomes debt. */
void iocost_grown(struct iocost *ioc, struct iocost_group *ig, struct weir_rq *rq, bool back)
{
	struct iocost_rq *irq = iocost_rq(rq);
	uint32_t added = rq->nr_sectors - irq->sectors;
	uint64_t abs_cost = iocost_cost(ioc, rq, added, NULL), cost;

	irq->sectors = rq->nr_sectors;
	if (!ig->parent || !abs_cost)
		return;
	cost = take_back_and_scale(ioc, ig, abs_cost);
	if (back && weir_rq_end(rq) - added == ig->cursor)
		ig->cursor = weir_rq_end(rq);
	if (irq->cost && affords(ioc, ig, cost)) {
		charge(ig, irq, abs_cost, cost);
	} else if (ig->is_active) {
		iocost_incur(ioc, ig, abs_cost);
		iocost_update_delay(ioc, ig);
	} else {
		charge(ig, irq, abs_cost, cost);
	}
}
