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
 * e of that node goes delta on; `more` is left of it, which `next` is the first of. Returns whose
 * turn it is below the node, if anything is left there.
 */
static inline struct wp_group *wp_shares_move(struct wp_group *pn, struct wp_entity *e,
					      uint64_t delta, bool more, struct wp_group *next)
{
	struct weir_heap *turn = &pn->g->turn;

	e->tag += delta;
	if (weir_unlikely(!more))
		weir_heap_remove(turn, &e->item);
	else if (weir_likely(weir_heap_min(turn) == &e->item))
		weir_heap_defer_first(turn, e->tag);
	else
		weir_heap_update(turn, &e->item, e->tag);
	if (weir_unlikely(!turn->nr))
		return NULL;
	if (weir_heap_min(turn) != &e->item)
		next = wp_shares_next_of(pn, weir_heap_min(turn));
	pn->next = next;
	return next;
}

/* The node's virtual time is the tag of the first. */
static inline void wp_shares_pass(struct wp_group *pn)
{
	uint64_t first = weir_heap_min_key(&pn->g->turn);

	if (weir_vtime_before(pn->vtime, first))
		pn->vtime = first;
}

/* pg's own requests were served cost_ns; `more` are queued. O(depth log n) */
static inline void wp_shares_charge(struct wp_group *pg, uint64_t cost_ns, bool more)
{
	struct wp_entity *e = &pg->own;
	struct wp_group *next = pg;

	for (;;) {
		wp_shares_pass(pg);
		next = wp_shares_move(pg, e, wp_shares_vtime(cost_ns, e), more, next);
		if (!pg->parent)
			return;
		more = pg->g->turn.nr > 0;
		e = &pg->up;
		pg = pg->parent;
	}
}

#endif
