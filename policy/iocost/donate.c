/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * iocost: lending of shares, once all lenders are known.
 *
 * Each lender is to have a smaller part of the device from now on, and all others are to grow by
 * one and the same factor, wherever they are in the tree. With t the lenders' part before, t' after:
 *
 *	gamma = (1 - t') / (1 - t)
 *
 * A node that has b of the device, t of it below lenders, is to have b' = gamma (b - t) + t'. Its
 * weight in use is then s' b' / b'(parent), where s' is what the sum of weights below the parent
 * must become. That sum is, at the root, s (1 - t) / (1 - t'): weights of who does not lend stay as
 * they are. Below, the lenders' part s t/b of a sum changes as the lenders' part of the node's own
 * weight does:
 *
 *	s' = (s - s t/b) + (s t/b) (w' t'/b') / (w t/b)
 *
 * Only lenders' weights are set by this; the nodes above follow from the sums (weights.c).
 *
 * Example: A, B, C, weights 100 each, 1/3 of the device; C uses 1/30 of it. t = 1/3, t' = 1/30: the
 * sum becomes 300 (2/3) / (29/30) = 206.9 and C's weight in use 206.9 / 30 = 6.9: A and B have
 * 100 / 206.9 = 48 %.
 *
 * The order of work is that of the lenders' ancestors from the root down: O(lenders x depth).
 */
#include "policy/iocost/internal.h"

/* Rounding up everywhere, the lenders could come out with the whole device: the rest needs some. */
static void fit_into_one(struct iocost *ioc, struct weir_list *lenders)
{
	struct iocost_group *ig;
	uint64_t sum = 0, over = 0, excess;

	list_for_each(ig, lenders, struct iocost_group, lending) {
		iocost_parts(ioc, ig);
		sum += ig->hw_after;
		if (ig->hw_after > ig->hw_active)
			over += ig->hw_after;
	}
	if (sum < IOCOST_ONE || !over)
		return;
	excess = sum - (IOCOST_ONE - 1);
	list_for_each(ig, lenders, struct iocost_group, lending)
		if (ig->hw_after > ig->hw_active)
			ig->hw_after = over > excess ? (uint32_t)weir_div64(
							       ig->hw_after * (over - excess), over)
						     : 1;
}

/* The ancestors of all lenders, parents before children. */
static void collect_nodes(struct weir_list *lenders, struct weir_list *nodes)
{
	struct iocost_group *path[WEIR_GROUP_DEPTH_MAX + 1], *ig, *node;
	uint32_t depth;

	list_for_each(ig, lenders, struct iocost_group, lending) {
		depth = 0;
		for (node = ig->parent; node && !node->in_walk; node = node->parent)
			path[depth++] = node;
		while (depth--) {
			node = path[depth];
			node->in_walk = true;
			node->hw_lending = 0;
			node->hw_after = 0;
			list_push_back(nodes, &node->lending);
		}
	}
}

/* Sums below each node, and what it has itself. False: too little to compute with. */
static bool sum_up(struct weir_list *lenders, struct weir_list *nodes)
{
	struct iocost_group *ig;

	list_for_each(ig, lenders, struct iocost_group, lending) {
		ig->parent->hw_lending += ig->hw_lending;
		ig->parent->hw_after += ig->hw_after;
	}
	for (ig = list_last(nodes, struct iocost_group, lending); &ig->lending != nodes;
	     ig = list_prev(ig, struct iocost_group, lending)) {
		if (ig->parent) {
			ig->parent->hw_lending += ig->hw_lending;
			ig->parent->hw_after += ig->hw_after;
		}
	}
	list_for_each(ig, nodes, struct iocost_group, lending) {
		ig->hw_active = IOCOST_ONE;
		if (ig->parent)
			ig->hw_active = (uint32_t)iocost_div_up((uint64_t)ig->parent->hw_active *
									ig->active_weight,
								ig->parent->child_active);
		if (ig->hw_lending > ig->hw_active)
			ig->hw_lending = ig->hw_active;
		if (ig->hw_active <= 1 || ig->hw_lending <= 1 || !ig->hw_after)
			return false;
		if (ig->hw_after > ig->hw_lending - 1)
			ig->hw_after = ig->hw_lending - 1;
	}
	return true;
}

static uint64_t growth(const struct iocost_group *root)
{
	uint32_t lending = root->hw_lending < IOCOST_ONE ? root->hw_lending : IOCOST_ONE - 1;

	return iocost_div_up((uint64_t)(IOCOST_ONE - root->hw_after) * IOCOST_ONE,
			     IOCOST_ONE - lending);
}

/* What the sum of weights below the node must become. */
static void adjust_node(struct iocost_group *ig, uint64_t gamma)
{
	uint64_t sum_lending, weight, lending, after;

	if (!ig->parent) {
		ig->hw_inuse = IOCOST_ONE;
		ig->adjusted = iocost_div_up(ig->child_active * (IOCOST_ONE - ig->hw_lending),
					     IOCOST_ONE - ig->hw_after);
		return;
	}
	ig->hw_inuse = (uint32_t)iocost_div_up(gamma * (ig->hw_active - ig->hw_lending),
					       IOCOST_ONE) +
		       ig->hw_after;
	weight = iocost_div_up(ig->parent->adjusted * ig->hw_inuse, ig->parent->hw_inuse);
	sum_lending = iocost_div_up(ig->child_active * ig->hw_lending, ig->hw_active);
	lending = iocost_div_up((uint64_t)ig->active_weight * ig->hw_lending, ig->hw_active);
	after = iocost_div_up(weight * ig->hw_after, ig->hw_inuse);
	ig->adjusted = ig->child_active - sum_lending +
		       weir_mul_div(sum_lending, after, lending ? lending : 1);
}

void iocost_lend(struct iocost *ioc, struct weir_list *lenders)
{
	struct iocost_group *ig, *root = iocost_group(weir_root(ioc->w));
	struct weir_list nodes;
	uint64_t gamma;
	bool possible;

	list_init(&nodes);
	fit_into_one(ioc, lenders);
	collect_nodes(lenders, &nodes);
	possible = sum_up(lenders, &nodes);
	if (possible) {
		gamma = growth(root);
		list_for_each(ig, &nodes, struct iocost_group, lending)
			adjust_node(ig, gamma);
	}
	list_for_each(ig, &nodes, struct iocost_group, lending) {
		ig->in_walk = false;
		ig->generation = ioc->generation - 1;
	}
	if (!possible)
		return;
	list_for_each(ig, lenders, struct iocost_group, lending) {
		uint64_t inuse = iocost_div_up(ig->parent->adjusted * ig->hw_after,
					       ig->parent->hw_inuse);

		/* Of a debtor all is lent already, until it has paid. */
		if (ig->debt)
			continue;
		iocost_weigh(ioc, ig, ig->active_weight,
			     (uint32_t)weir_min64(inuse, ig->active_weight));
		iocost_save_margin(ioc, ig);
	}
}
