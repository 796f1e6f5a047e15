/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * iocost: what could not wait, and was not paid for.
 *
 * Metadata and swap go at once, however little budget their group has: others wait for them. What
 * they cost is a debt, kept in the device's time rather than charged at once, since the group's
 * part may be another one when it is paid. Until then the group lends all that it has, and its
 * other requests wait. Payments come first out of any new budget, at the part that is its own.
 *
 * A group that incurs debt without end is not stopped by that. So its tasks are to be delayed, by
 * 250 us when the debt is five periods of its time, rising to 250 ms at 250 periods; a delay halves
 * with every second. The core only says so (weir_group_delay_ns()): whoever runs the tasks must
 * make them wait.
 *
 * Example: 1/8 of the device, periods of 50 ms, 250 writes of 1 ms of metadata at once. The debt is
 * 250 ms of the device's time, 2 s of the group's, 40 periods: 4000 %. So tasks are delayed by
 * 250 us + 249.75 ms x 3500 / 24500 = 35.9 ms, and the group's own requests wait for 2 s. If less
 * than half of the device is used meanwhile, the debt is halved each 100 ms: no use in waiting.
 */
#include "policy/iocost/internal.h"

void iocost_incur(struct iocost *ioc, struct iocost_group *ig, uint64_t abs_cost)
{
	if (!ig->debt && abs_cost) {
		ig->lent_inuse = ig->inuse;
		iocost_weigh(ioc, ig, ig->active_weight, 0);
	}
	ig->debt = weir_min64(ig->debt + abs_cost, IOCOST_DEBT_MAX);
	ig->usage += abs_cost;
}

static void reduce(struct iocost *ioc, struct iocost_group *ig, uint64_t abs_cost)
{
	ig->debt -= weir_min64(abs_cost, ig->debt);
	if (!ig->debt)
		iocost_weigh(ioc, ig, ig->active_weight, ig->lent_inuse);
}

int64_t iocost_pay(struct iocost *ioc, struct iocost_group *ig, int64_t budget)
{
	iocost_parts(ioc, ig);
	if (ig->debt && budget > 0) {
		uint32_t hw = ig->hw_active;
		uint64_t abs_pay = iocost_unscaled((uint64_t)budget, hw), pay;

		abs_pay = weir_min64(abs_pay, ig->debt);
		pay = iocost_scaled(abs_pay, hw);
		ig->vtime += pay;
		ig->done_vtime += pay;
		budget -= (int64_t)pay;
		reduce(ioc, ig, abs_pay);
	}
	if (ig->debt) {
		budget -= (int64_t)iocost_scaled(ig->debt, ig->hw_active);
		budget = budget < 0 ? budget : 0;
	}
	return budget;
}

/* ---- delay ---- */

uint64_t iocost_delay_ns(const struct iocost *ioc, const struct iocost_group *ig, uint64_t now)
{
	uint64_t seconds = weir_div64(now - ig->delay_at_ns, WEIR_NS_PER_S), delay_ns;

	(void)ioc;
	delay_ns = seconds < 64 ? ig->delay_ns >> seconds : 0;
	return delay_ns >= IOCOST_DELAY_MIN_NS ? delay_ns : 0;
}

/* For how far the group is ahead of the device's clock, its debt included. */
static uint64_t delay_for(const struct iocost *ioc, const struct iocost_group *ig)
{
	int64_t over = (int64_t)(ig->vtime - iocost_vnow(ioc));
	uint64_t period = iocost_vtime(ioc->period_ns, ioc->base_rate), percent;

	over += (int64_t)iocost_scaled(ig->debt, ig->hw_active);
	if (over <= 0)
		return 0;
	percent = weir_mul_div((uint64_t)over, 100, period);
	if (percent <= IOCOST_DELAY_FROM)
		return 0;
	if (percent >= IOCOST_DELAY_TO)
		return IOCOST_DELAY_MAX_NS;
	return IOCOST_DELAY_MIN_NS + weir_div64((IOCOST_DELAY_MAX_NS - IOCOST_DELAY_MIN_NS) *
							(percent - IOCOST_DELAY_FROM),
						IOCOST_DELAY_TO - IOCOST_DELAY_FROM);
}

void iocost_update_delay(struct iocost *ioc, struct iocost_group *ig)
{
	uint64_t delay_ns = iocost_delay_ns(ioc, ig, ioc->now), wanted_ns;

	iocost_parts(ioc, ig);
	wanted_ns = delay_for(ioc, ig);
	if (wanted_ns > delay_ns) {
		ig->delay_ns = wanted_ns;
		ig->delay_at_ns = ioc->now;
	} else if (!delay_ns) {
		ig->delay_ns = 0;
	}
}

/* ---- forgiving ---- */

static void halve(struct iocost *ioc, struct iocost_group *ig, uint64_t times)
{
	/* Not to nothing: the rest is paid, and what paying brings with it happens. */
	if (ig->debt) {
		ig->debt >>= times;
		ig->debt = ig->debt ? ig->debt : 1;
	}
	if (ig->delay_ns) {
		ig->delay_ns >>= times;
		ig->delay_ns = ig->delay_ns ? ig->delay_ns : 1;
	}
	iocost_kick(ioc, ig);
}

void iocost_forgive(struct iocost *ioc, uint64_t usage_ns, uint32_t nr_debtors)
{
	struct iocost_group *ig;
	uint64_t passed_ns, percent, times;

	if (!nr_debtors) {
		ioc->forgive_since_ns = ioc->now;
		ioc->forgive_rest_ns = 0;
		ioc->forgive_usage_ns = 0;
		return;
	}
	/* A device that is too slow for its users is not idle, whatever the model says. */
	if (ioc->busy_level > 0)
		usage_ns = weir_max64(usage_ns, ioc->period_ns);
	ioc->forgive_usage_ns += usage_ns;
	passed_ns = ioc->now - ioc->forgive_since_ns;
	if (passed_ns < IOCOST_FORGIVE_NS)
		return;
	percent = weir_mul_div(ioc->forgive_usage_ns, 100, passed_ns);
	ioc->forgive_since_ns = ioc->now;
	ioc->forgive_usage_ns = 0;
	if (percent > IOCOST_FORGIVE_BELOW) {
		ioc->forgive_rest_ns = 0;
		return;
	}
	passed_ns += ioc->forgive_rest_ns;
	times = weir_div64(passed_ns, IOCOST_FORGIVE_NS);
	ioc->forgive_rest_ns = passed_ns - times * IOCOST_FORGIVE_NS;
	times = weir_min64(times, 63);
	list_for_each(ig, &ioc->active, struct iocost_group, active)
		if (ig->debt || ig->delay_ns)
			halve(ioc, ig, times);
}
