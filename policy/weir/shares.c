/* SPDX-License-Identifier: GPL-2.0-only */
/* Shares, what is not in every dispatch: see shares.h. */
#include "policy/weir/shares.h"

static uint64_t inverse_of(uint32_t weight)
{
	return UINT32_MAX / weight;
}

void wp_shares_online(struct weir_group *g)
{
	struct wp_group *pg = wp_group(g);

	weir_heap_item_init(&pg->own.item, g->id);
	weir_heap_item_init(&pg->up.item, g->id);
	pg->own.inverse = inverse_of(g->attr.own_weight);
	pg->up.inverse = inverse_of(g->attr.weight);
	pg->up.tag = pg->parent ? pg->parent->vtime : 0;
}

void wp_shares_offline(struct weir_group *g)
{
	weir_assert(!g->turn.nr && !weir_heap_has(&wp_group(g)->up.item));
}

static void choose_upwards(struct weir_group *g)
{
	for (; g; g = g->parent)
		if (g->turn.nr)
			wp_group(g)->next = wp_shares_next_of(wp_group(g), weir_heap_min(&g->turn));
}

static void reweigh(struct weir_group *node, struct wp_entity *e, uint32_t weight)
{
	uint64_t vtime = wp_group(node)->vtime, old = e->inverse;

	e->inverse = inverse_of(weight);
	if (weir_vtime_before(vtime, e->tag))
		e->tag = vtime + weir_mul_div(e->tag - vtime, e->inverse, old);
	if (weir_heap_has(&e->item))
		weir_heap_update(&node->turn, &e->item, e->tag);
}

void wp_shares_weight(struct weir_group *g)
{
	reweigh(g, &wp_group(g)->own, g->attr.own_weight);
	if (g->parent)
		reweigh(g->parent, &wp_group(g)->up, g->attr.weight);
	choose_upwards(g);
}

static void enter(struct weir_group *node, struct wp_entity *e, uint64_t cost_ns)
{
	uint64_t credit = wp_shares_vtime(cost_ns, e),
		 ahead_max = wp_shares_vtime(WEIR_COST_MAX_NS, e);

	e->tag = weir_vtime_enter(e->tag, wp_group(node)->vtime - credit, credit + ahead_max);
	weir_heap_push(&node->turn, &e->item, e->tag);
}

void wp_shares_activate(struct weir_group *g, uint64_t cost_ns)
{
	struct weir_group *n;

	enter(g, &wp_group(g)->own, cost_ns);
	for (n = g; n->parent && !weir_heap_has(&wp_group(n)->up.item); n = n->parent)
		enter(n->parent, &wp_group(n)->up, cost_ns);
	choose_upwards(g);
}

void wp_shares_deactivate(struct weir_group *g)
{
	struct weir_group *n;

	weir_heap_remove(&g->turn, &wp_group(g)->own.item);
	for (n = g; n->parent && !n->turn.nr; n = n->parent)
		weir_heap_remove(&n->parent->turn, &wp_group(n)->up.item);
	choose_upwards(n);
}

static void refund(struct weir_group *node, struct wp_entity *e, uint64_t cost_ns)
{
	e->tag -= wp_shares_vtime(cost_ns, e);
	if (weir_heap_has(&e->item))
		weir_heap_update(&node->turn, &e->item, e->tag);
}

void wp_shares_refund(struct weir_group *g, uint64_t cost_ns)
{
	struct weir_group *n;

	refund(g, &wp_group(g)->own, cost_ns);
	for (n = g; n->parent; n = n->parent)
		refund(n->parent, &wp_group(n)->up, cost_ns);
	choose_upwards(g);
}
