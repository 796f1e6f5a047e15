/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shares: start-time fair queueing (Goyal, Vin and Cheng, 1996) in device time, one queue per node of
 * the tree.
 *
 * Every node orders what competes in it (its children that have something queued, and its own
 * requests as one more child) by tag, the virtual time at which the next request starts. Serving
 * cost_ns moves the tag on by cost / weight. The node's virtual time is the smallest tag that it
 * served last; it never goes back.
 *
 * Who comes back from being empty enters at max(own tag, virtual time - one request of its own). So
 * a process that asks for one request at a time goes first when it asks, as long as it has used less
 * than its share, and nobody collects credit while idle.
 *
 * Worked example: A (weight 200) and B (300), requests of 60 us. Tags grow by 0.3 and 0.2 us per
 * unit: A: 0 .3 .6 .9, B: 0 .2 .4 .6 ... In five requests A has two turns, B three.
 */
#include "policy/weir/internal.h"

static uint64_t inverse_of(uint32_t weight)
{
	return UINT32_MAX / weight;
}

/* cost_ns <= 2^32 and inverse < 2^32, so the product stays below 2^64. */
static uint64_t vtime_of(uint64_t cost_ns, const struct wp_entity *e)
{
	return (cost_ns * e->inverse) >> (32 - WEIR_VTIME_SHIFT);
}

void wp_shares_online(struct weir_group *g)
{
	struct wp_group *pg = wp_group(g);

	weir_heap_item_init(&pg->own.item, g->id);
	weir_heap_item_init(&pg->up.item, g->id);
	pg->own.inverse = inverse_of(g->attr.own_weight);
	pg->up.inverse = inverse_of(g->attr.weight);
	pg->up.tag = g->parent ? wp_group(g->parent)->vtime : 0;
}

void wp_shares_offline(struct weir_group *g)
{
	weir_assert(!g->turn.nr && !weir_heap_has(&wp_group(g)->up.item));
}

void wp_shares_weight(struct weir_group *g)
{
	struct wp_group *pg = wp_group(g);

	/* Tags stand: what was served was served at the old weight, what comes is at the new one. */
	pg->own.inverse = inverse_of(g->attr.own_weight);
	pg->up.inverse = inverse_of(g->attr.weight);
}

static void enter(struct weir_group *node, struct wp_entity *e, uint64_t cost_ns)
{
	uint64_t earliest = wp_group(node)->vtime - vtime_of(cost_ns, e);

	if (weir_vtime_before(e->tag, earliest))
		e->tag = earliest;
	weir_heap_push(&node->turn, &e->item, e->tag);
}

void wp_shares_activate(struct weir_group *g, uint64_t cost_ns)
{
	enter(g, &wp_group(g)->own, cost_ns);
	for (; g->parent && g->turn.nr == 1; g = g->parent) {
		if (weir_heap_has(&wp_group(g)->up.item))
			break;
		enter(g->parent, &wp_group(g)->up, cost_ns);
	}
}

void wp_shares_deactivate(struct weir_group *g)
{
	weir_heap_remove(&g->turn, &wp_group(g)->own.item);
	for (; g->parent && !g->turn.nr; g = g->parent)
		weir_heap_remove(&g->parent->turn, &wp_group(g)->up.item);
}

struct weir_group *wp_shares_next(struct weir_group *top)
{
	struct weir_group *g = top;

	for (;;) {
		struct weir_heap_item *first = weir_heap_min(&g->turn);
		struct wp_entity *e;

		if (first == &wp_group(g)->own.item)
			return g;
		e = weir_container_of(first, struct wp_entity, item);
		g = weir_container_of(e, struct wp_group, up)->g;
	}
}

static void serve(struct weir_group *node, struct wp_entity *e, uint64_t cost_ns, bool more)
{
	struct wp_group *pn = wp_group(node);
	uint64_t first = weir_heap_min_key(&node->turn);

	if (weir_vtime_before(pn->vtime, first))
		pn->vtime = first;
	e->tag += vtime_of(cost_ns, e);
	if (more)
		weir_heap_update(&node->turn, &e->item, e->tag);
	else
		weir_heap_remove(&node->turn, &e->item);
}

void wp_shares_charge(struct weir_group *g, uint64_t cost_ns, bool more)
{
	serve(g, &wp_group(g)->own, cost_ns, more);
	for (; g->parent; g = g->parent)
		serve(g->parent, &wp_group(g)->up, cost_ns, g->turn.nr > 0);
}

static void refund(struct weir_group *node, struct wp_entity *e, uint64_t cost_ns)
{
	e->tag -= vtime_of(cost_ns, e);
	if (weir_heap_has(&e->item))
		weir_heap_update(&node->turn, &e->item, e->tag);
}

void wp_shares_refund(struct weir_group *g, uint64_t cost_ns)
{
	refund(g, &wp_group(g)->own, cost_ns);
	for (; g->parent; g = g->parent)
		refund(g->parent, &wp_group(g)->up, cost_ns);
}
