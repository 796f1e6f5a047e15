/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TPPS: whose weight counts. A group's is in the total from its first request to the end of its
 * last process, whether it asks for anything or not; tpps_option active_weights_only looks at a
 * second sum, of the groups that have something queued or in the driver. Both are kept up to date
 * at O(1).
 */
#include "policy/clamp.h"
#include "policy/tpps/internal.h"

void tpps_count_weight(struct tpps *tpps, struct tpps_group *tg)
{
	bool active = tg->nr_queued || tg->in_driver;
	bool counts = tg->nr_queues || active;

	if (counts != tg->in_total) {
		tg->in_total = counts;
		tpps->total_weight += counts ? tg->weight : -(uint64_t)tg->weight;
	}
	if (active != tg->in_active_total) {
		tg->in_active_total = active;
		tpps->active_weight += active ? tg->weight : -(uint64_t)tg->weight;
	}
}

/*
 * Groups compete as equals, wherever they are in the tree, so own_weight has no meaning; except
 * that it is the only weight that the root has.
 */
void tpps_read_weight(struct tpps_group *tg)
{
	const struct weir_group *g = tg->group;
	uint32_t wanted = g->parent ? g->attr.weight : g->attr.own_weight;

	tg->weight = weir_clamp_weight(g, "tpps", "weight", wanted, TPPS_MIN_WEIGHT,
				       TPPS_MAX_WEIGHT);
}
