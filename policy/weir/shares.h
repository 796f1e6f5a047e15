/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shares: start-time fair queueing (Goyal, Vin and Cheng, 1996) in device time, one queue per node
 * of the tree.
 *
 * Every node orders what competes in it (its children that have something queued, and its own
 * requests as one more child) by tag, the virtual time at which the next request starts. Serving
 * cost_ns moves the tag on by cost / weight. The node's virtual time is the smallest tag that it
 * served last; it never goes back.
 *
 * Who comes back from being empty enters at max(own tag, virtual time - one request of its own). So
 * a process that asks for one request at a time goes first when it asks, as long as it has used
 * less than its share, and nobody collects credit while idle.
 *
 * Who is served out of turn, for its floor, gets ahead of the virtual time, and then waits for its
 * turn until the others have caught up; but by no more than WP_FLOOR_LAG_NS, or it would be shut
 * out for hours when its floor is taken away. A change of weight converts what an entity is ahead:
 * it is a debt in device time.
 *
 * The nodes above it pay as well, out of their shares, so that a floor in one subtree costs the
 * others nothing while that subtree's share can bear it. But where others are active in that
 * subtree, they would never have a turn again if the floor alone is more than its share: so of a
 * node's turns, floors below it may take no more than floor_percent. What is beyond is charged to
 * nobody at that level; its siblings, and those of the nodes above, have fewer turns in a second.
 *
 * Worked example: A (weight 200) and B (300), requests of 60 us. Tags grow by 0.3 and 0.2 us per
 * unit: A: 0 .3 .6 .9, B: 0 .2 .4 .6 ... In five requests A has two turns, B three.
 */
#ifndef WEIR_POLICY_WEIR_SHARES_H
#define WEIR_POLICY_WEIR_SHARES_H

#include "policy/weir/internal.h"

/* cost_ns <= 2^32 and inverse < 2^32, so the product stays below 2^64. */
static inline uint64_t wp_shares_vtime(uint64_t cost_ns, const struct wp_entity *e)
{
	return (cost_ns * e->inverse) >> (32 - WEIR_VTIME_SHIFT);
}

/* Each node keeps whose turn it is below, so that a choice need not walk down through cold memory.
 */
static inline struct wp_group *wp_shares_next_of(struct wp_group *pn, struct weir_heap_item *first)
{
	if (first == &pn->own.item)
		return pn;
	return weir_container_of(first, struct wp_group, up.item)->next;
}

/*
 * Own requests of a node without children have nobody to take turns with: they are not charged
 * there. What a first child finds is as if they had just begun, too.
 */
static inline bool wp_shares_is_alone(const struct wp_group *pg)
{
	return pg->g->turn.room == 1;
}

#endif
