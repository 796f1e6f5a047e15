/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * iocost: the work at the end of each period. Is anybody idle, does anybody use less than it has
 * and could lend, and does the device keep up? From that, the rate of the device's clock.
 *
 *	full: requests waited for a place in the device for more than 5 % of a period, all together,
 *	      or more of them than allowed were later than rlat, wlat		level = max(level, 0) + 1
 *	room: all of that is below 75 % of its threshold, and some group has no budget left
 *								level = min(level, 0) - 1
 *	else								level = 0
 *
 * The level counts periods in a row, and chooses the step by which the rate changes: none for the
 * first three, then 1 %, 2 %, 4 %, 8 %, and 16 % from the 52nd on.
 *
 * O(active groups x depth) once in a period.
 */
#include "policy/iocost/internal.h"

/* ---- the clock ---- */

/* What groups that had more than they needed lost in the last period, the next one is faster by. */
static void compensate(struct iocost *ioc)
{
	int64_t period_v = (int64_t)iocost_vtime(ioc->period_ns, ioc->base_rate);
	uint64_t amount = (uint64_t)(ioc->error < 0 ? -ioc->error : ioc->error), by, most;

	by = weir_mul_div(amount, UINT64_C(1) << IOCOST_RATE_SHIFT, ioc->period_ns);
	most = ioc->error < 0 ? ioc->base_rate : ioc->base_rate >> 1;
	by = weir_min64(by, most);
	amount = iocost_vtime(ioc->period_ns, by);
	if (ioc->error < 0) {
		ioc->error += (int64_t)amount;
		iocost_set_rate(ioc, ioc->base_rate + by);
	} else {
		ioc->error -= (int64_t)amount;
		iocost_set_rate(ioc, ioc->base_rate - by);
	}
	if (ioc->error > period_v)
		ioc->error = period_v;
	else if (ioc->error < -period_v)
		ioc->error = -period_v;
}

void iocost_period_begin(struct iocost *ioc)
{
	ioc->period_at_ns = ioc->now;
	ioc->period_at_v = iocost_vnow(ioc);
	ioc->period_end_ns = ioc->now + ioc->period_ns;
	compensate(ioc);
}

static uint64_t step_percent(uint32_t level)
{
	static const struct {
		uint32_t below, percent;
	} steps[] = {{4, 0}, {20, 1}, {36, 2}, {44, 4}, {52, 8}};
	unsigned int n;

	for (n = 0; n < sizeof(steps) / sizeof(steps[0]); n++)
		if (level < steps[n].below)
			return steps[n].percent;
	return 16;
}

static void adjust_rate(struct iocost *ioc)
{
	uint64_t rate = ioc->base_rate, step;

	if (!ioc->busy_level || (ioc->busy_level < 0 && ioc->nr_lagging))
		return;
	if (rate < ioc->rate_min) {
		rate = weir_div64(rate * (100 + IOCOST_CLAMP_STEP), 100);
		rate = weir_min64(rate, ioc->rate_min);
	} else if (rate > ioc->rate_max) {
		rate = weir_div64(rate * (100 - IOCOST_CLAMP_STEP), 100);
		rate = weir_max64(rate, ioc->rate_max);
	} else {
		if (ioc->busy_level > 0)
			step = 100 - step_percent((uint32_t)ioc->busy_level);
		else
			step = 100 + step_percent((uint32_t)-ioc->busy_level);
		rate = iocost_div_up(rate * step, 100);
		rate = weir_max64(weir_min64(rate, ioc->rate_max), ioc->rate_min);
	}
	ioc->base_rate = rate;
	iocost_refresh_margins(ioc);
}

/* ---- is the device full? ---- */

static uint32_t missed_ppm(struct iocost *ioc, enum weir_dir dir)
{
	uint64_t all = ioc->met[dir] + ioc->missed[dir], missed = ioc->missed[dir];

	ioc->met[dir] = 0;
	ioc->missed[dir] = 0;
	return all ? (uint32_t)iocost_div_up(missed * 1000000, all) : 0;
}

static void judge_device(struct iocost *ioc)
{
	uint32_t read = missed_ppm(ioc, WEIR_READ), write = missed_ppm(ioc, WEIR_WRITE);
	uint32_t read_max = ioc->miss_ppm[WEIR_READ], write_max = ioc->miss_ppm[WEIR_WRITE];
	uint64_t wait = weir_mul_div(ioc->device_wait_ns, 100, ioc->period_ns);

	ioc->device_wait_ns = 0;
	if (wait > IOCOST_WAIT_BUSY || read > read_max || write > write_max) {
		if (ioc->busy_level < 0)
			ioc->busy_level = 0;
		if (ioc->busy_level < IOCOST_BUSY_MAX)
			ioc->busy_level++;
	} else if (wait <= IOCOST_WAIT_BUSY * IOCOST_UNBUSY / 100 &&
		   read <= read_max * IOCOST_UNBUSY / 100 &&
		   write <= write_max * IOCOST_UNBUSY / 100 && ioc->nr_shortages) {
		if (ioc->busy_level > 0)
			ioc->busy_level = 0;
		if (!ioc->nr_lagging && ioc->busy_level > -IOCOST_BUSY_MAX)
			ioc->busy_level--;
	} else {
		/* Between the marks; or nobody wants more, so nobody knows how much there is. */
		ioc->busy_level = 0;
	}
}

/* ---- what each group did ---- */

static bool is_idle(const struct iocost *ioc, const struct iocost_group *ig)
{
	return ig->active_period != ioc->period_nr && ig->done_vtime == ig->vtime;
}

/* Waiters that the clock has reached go, the idle leave. Returns how many are in debt or delayed. */
static uint32_t look_after_groups(struct iocost *ioc)
{
	struct iocost_group *ig, *tmp;
	uint32_t nr_debtors = 0;

	list_for_each_safe(ig, tmp, &ioc->active, struct iocost_group, active) {
		if (ig->nr_waiting || ig->debt || ig->delay_ns) {
			iocost_kick(ioc, ig);
			if (ig->debt || ig->delay_ns)
				nr_debtors++;
		} else if (is_idle(ioc, ig)) {
			iocost_deactivate(ioc, ig);
		}
	}
	return nr_debtors;
}

/* Has it requests in the device that were charged before this period? */
static bool is_lagging(const struct iocost *ioc, const struct iocost_group *ig, uint64_t vnow)
{
	uint64_t period_v = vnow - ioc->period_at_v;

	if (ioc->miss_ppm[WEIR_READ] == 1000000 && ioc->miss_ppm[WEIR_WRITE] == 1000000)
		return false;
	return !ig->delay_ns && weir_vtime_before(ig->done_vtime, ig->vtime) &&
	       weir_vtime_before(vnow - IOCOST_LAGGING_PERIODS * period_v, ig->vtime) &&
	       weir_vtime_before(ig->done_vtime, vnow - period_v);
}

/* As a part of the device; what is in flight counts, so that slow requests don't look idle. */
static uint32_t usage_part(const struct iocost *ioc, const struct iocost_group *ig)
{
	uint64_t since_ns = weir_max64(ig->active_at_ns, ioc->period_at_ns);
	uint64_t usage_ns = ig->usage_ns, passed_ns = weir_max64(ioc->now - since_ns, 1), part;

	if (ig->done_vtime != ig->vtime)
		usage_ns = weir_max64(
			usage_ns,
			iocost_wall_ns(iocost_unscaled(ig->vtime - ig->done_vtime, ig->hw_inuse),
				       ioc->base_rate));
	part = weir_mul_div(usage_ns, IOCOST_ONE, passed_ns) + 1;
	return (uint32_t)weir_min64(part, IOCOST_ONE);
}

/*
 * The part with which it would use in the next period what it has used in this one, and end up with
 * the target margin. `most` means: it lends nothing. Budget beyond the target is thrown away.
 */
static uint32_t part_needed(struct iocost *ioc, struct iocost_group *ig, uint32_t most,
			    uint64_t vnow)
{
	uint64_t usage, left, needed;
	int64_t excess;

	if (ig->debt)
		return 1;
	if (ig->nr_waiting || weir_vtime_before(vnow - ioc->margin_min, ig->vtime))
		return most;
	usage = usage_part(ioc, ig);
	excess = (int64_t)(vnow - ig->vtime - ioc->margin_target);
	if (excess > 0) {
		ig->vtime += (uint64_t)excess;
		ig->done_vtime += (uint64_t)excess;
		ioc->error -= (int64_t)iocost_unscaled((uint64_t)excess, ig->hw_inuse);
	}
	left = weir_mul_div(vnow - ig->vtime, IOCOST_ONE, vnow - ioc->period_at_v);
	needed = weir_div64(usage * IOCOST_ONE,
			    IOCOST_ONE - IOCOST_ONE * IOCOST_MARGIN_TARGET / 100 + left);
	needed = needed ? needed : 1;
	return (uint32_t)weir_min64(needed, most);
}

/* Does it lend, or is it short of budget? */
static void assess(struct iocost *ioc, struct iocost_group *ig, uint64_t vnow,
		   struct weir_list *lenders)
{
	uint32_t most, needed;

	iocost_parts(ioc, ig);
	if (ig->hw_inuse >= ig->hw_active &&
	    (ig->nr_waiting || !weir_vtime_before(ig->vtime, vnow - ioc->margin_low))) {
		ioc->nr_shortages++;
		return;
	}
	most = iocost_part_unlent(ig);
	needed = part_needed(ioc, ig, most, vnow);
	if (needed < most && ig->hw_active >= 2) {
		ig->hw_lending = ig->hw_active;
		ig->hw_after = needed;
		list_push_front(lenders, &ig->lending);
	} else if (!ig->debt) {
		iocost_weigh(ioc, ig, ig->active_weight, ig->active_weight);
		iocost_save_margin(ioc, ig);
		ioc->nr_shortages++;
	}
}

static uint64_t count_usage(struct iocost *ioc, struct iocost_group *ig)
{
	ig->usage_ns = weir_mul_div(ig->usage - ig->usage_seen, UINT64_C(1) << IOCOST_RATE_SHIFT,
				    ioc->base_rate);
	ig->usage_seen = ig->usage;
	return ig->usage_ns;
}

void iocost_period_end(struct iocost *ioc)
{
	uint64_t vnow = iocost_vnow(ioc), usage_ns = 0;
	uint32_t nr_debtors = look_after_groups(ioc);
	struct iocost_group *ig;
	struct weir_list lenders;

	list_init(&lenders);
	ioc->nr_shortages = 0;
	ioc->nr_lagging = 0;
	list_for_each(ig, &ioc->active, struct iocost_group, active) {
		usage_ns += count_usage(ioc, ig);
		ioc->nr_lagging += is_lagging(ioc, ig, vnow);
		assess(ioc, ig, vnow, &lenders);
	}
	/* Nobody borrows from who has too much when nobody has too little. */
	if (!list_is_empty(&lenders) && ioc->nr_shortages)
		iocost_lend(ioc, &lenders);
	judge_device(ioc);
	adjust_rate(ioc);
	iocost_try_model(ioc);
	iocost_forgive(ioc, usage_ns, nr_debtors);
	ioc->period_nr++;
	if (list_is_empty(&ioc->active)) {
		ioc->busy_level = 0;
		ioc->error = 0;
		ioc->running = false;
		return;
	}
	iocost_period_begin(ioc);
}
