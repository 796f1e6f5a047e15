/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * iocost: the device's clock, and which part of the device each group has.
 *
 * A leaf that is active counts with its weight among its siblings, and with `inuse` of it, which is
 * less while it lends. A node above counts with its whole weight as soon as something below is
 * active, and with as much of it in use as its children have of theirs. Both are kept as sums at
 * the parent, so a change touches one path. The part of the whole device is the product down the
 * path; it is computed when it is asked for, and kept until any weight changes.
 *
 * Example: A and B have weights 100 and 300, A's children 100 each. All active: A's children have
 * 1/8 each. B lends all but 60 of its 300: then A's have (100 / 160) / 2 = 31 % each in use, and
 * still 1/8 that is theirs.
 */
#include "policy/iocost/internal.h"

/* A clock that nobody looked at for longer does not go on: its time must compare with others. */
#define ELAPSED_MAX_NS (UINT64_C(1) << 40)

uint64_t iocost_vnow(const struct iocost *ioc)
{
	const struct iocost_clock *c = &ioc->clock;
	uint64_t elapsed_ns = weir_min64(ioc->now - c->at_ns, ELAPSED_MAX_NS);

	return c->v + iocost_vtime(elapsed_ns, c->rate);
}

void iocost_set_rate(struct iocost *ioc, uint64_t rate)
{
	ioc->clock.v = iocost_vnow(ioc);
	ioc->clock.at_ns = ioc->now;
	ioc->clock.rate = rate;
}

/* What it costs in the time of a group that has this part: at most 2^40 << 16 for one request. */
uint64_t iocost_scaled(uint64_t abs_cost, uint32_t hw)
{
	if (abs_cost >> 47)
		return weir_min64(weir_mul_div(abs_cost, IOCOST_ONE, hw), IOCOST_COST_MAX);
	return iocost_div_up(abs_cost * IOCOST_ONE, hw);
}

uint64_t iocost_unscaled(uint64_t cost, uint32_t hw)
{
	uint64_t hi, lo;

	weir_mul128(cost, hw, &hi, &lo);
	lo += IOCOST_ONE - 1;
	hi += lo < IOCOST_ONE - 1;
	return hi << 48 | lo >> 16;
}

/* ---- weights ---- */

static uint32_t inuse_above(const struct iocost_group *ig, uint32_t active)
{
	return (uint32_t)iocost_div_up(active * ig->child_inuse, ig->child_active);
}

void iocost_weigh(struct iocost *ioc, struct iocost_group *ig, uint32_t active, uint32_t inuse)
{
	if (!ig->is_active && ig->child_active)
		inuse = inuse_above(ig, active);
	else if (inuse > active)
		inuse = active;
	else if (active && !inuse)
		inuse = 1;
	for (; ig->parent; ig = ig->parent) {
		struct iocost_group *parent = ig->parent;

		if (active == ig->active_weight && inuse == ig->inuse)
			return;
		parent->child_active += active - (uint64_t)ig->active_weight;
		parent->child_inuse += inuse - (uint64_t)ig->inuse;
		ig->active_weight = active;
		ig->inuse = inuse;
		ioc->generation++;
		active = parent->child_active ? parent->weight : 0;
		inuse = active ? inuse_above(parent, active) : 0;
	}
}

void iocost_save_margin(struct iocost *ioc, struct iocost_group *ig)
{
	ig->saved_margin = (int64_t)(iocost_vnow(ioc) - ig->vtime);
}

static uint32_t part(uint32_t whole, uint32_t weight, uint64_t sum)
{
	return sum ? (uint32_t)weir_div64((uint64_t)whole * weight, sum) : whole;
}

void iocost_parts(const struct iocost *ioc, struct iocost_group *ig)
{
	struct iocost_group *path[WEIR_GROUP_DEPTH_MAX + 1], *node;
	uint32_t depth = 0, hw_active = IOCOST_ONE, hw_inuse = IOCOST_ONE;

	if (ig->generation == ioc->generation)
		return;
	for (node = ig; node->parent; node = node->parent)
		path[depth++] = node;
	while (depth--) {
		node = path[depth];
		hw_active = part(hw_active, node->active_weight, node->parent->child_active);
		hw_inuse = part(hw_inuse, node->inuse, node->parent->child_inuse);
	}
	ig->hw_active = hw_active ? hw_active : 1;
	ig->hw_inuse = hw_inuse ? hw_inuse : 1;
	ig->generation = ioc->generation;
}

uint32_t iocost_part_unlent(const struct iocost_group *ig)
{
	uint32_t hw = IOCOST_ONE, inuse = ig->active_weight;

	for (; ig->parent; ig = ig->parent) {
		const struct iocost_group *parent = ig->parent;
		uint64_t sum = parent->child_inuse + inuse - ig->inuse;

		hw = (uint32_t)weir_div64((uint64_t)hw * inuse, sum);
		if (parent->parent)
			inuse = (uint32_t)iocost_div_up(parent->active_weight * sum,
							parent->child_active);
	}
	return hw ? hw : 1;
}

/* ---- activity ---- */

/*
 * The budget that it begins with is the target margin, however long it was away. Requests of nodes
 * that are no leaves pass uncharged: those of the root, of a node below which somebody is active,
 * and of one above which somebody is.
 */
bool iocost_activate(struct iocost *ioc, struct iocost_group *ig)
{
	const struct iocost_group *above;
	uint64_t target;

	if (ig->is_active) {
		ig->active_period = ioc->period_nr;
		return true;
	}
	if (!ig->parent || ig->child_active)
		return false;
	for (above = ig->parent; above; above = above->parent)
		if (above->is_active)
			return false;
	ig->active_period = ioc->period_nr;
	ig->active_at_ns = ioc->now;
	target = iocost_vnow(ioc) - ioc->margin_target;
	ig->done_vtime += target - ig->vtime;
	ig->vtime = target;
	ig->is_active = true;
	list_push_front(&ioc->active, &ig->active);
	iocost_weigh(ioc, ig, ig->weight, ig->lent_inuse ? ig->lent_inuse : ig->weight);
	iocost_save_margin(ioc, ig);
	if (!ioc->running) {
		ioc->running = true;
		ioc->forgive_since_ns = ioc->now;
		ioc->forgive_rest_ns = 0;
		iocost_period_begin(ioc);
	}
	return true;
}

void iocost_deactivate(struct iocost *ioc, struct iocost_group *ig)
{
	int64_t excess = (int64_t)(iocost_vnow(ioc) - ig->vtime - ioc->margin_target);

	/* It will come back with the target; what it has beyond that is nobody's, and made up for.
	 */
	if (excess > 0) {
		iocost_parts(ioc, ig);
		ioc->error -= (int64_t)iocost_unscaled((uint64_t)excess, ig->hw_inuse);
	}
	/* How much it lent is remembered. */
	ig->lent_inuse = ig->inuse;
	iocost_weigh(ioc, ig, 0, 0);
	list_unlink(&ig->active);
	ig->is_active = false;
}
