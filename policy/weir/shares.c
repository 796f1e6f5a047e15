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

/* Each node keeps whose turn it is below, so that a choice need not walk down through cold memory.
 */
static void choose_next(struct weir_group *node)
{
	struct wp_group *pn = wp_group(node);
	struct wp_entity *first = weir_container_of(weir_heap_min(&node->turn), struct wp_entity,
						    item);

	pn->next = first == &pn->own ? node : weir_container_of(first, struct wp_group, up)->next;
}

static void choose_upwards(struct weir_group *g)
{
	for (; g; g = g->parent)
		if (g->turn.nr)
			choose_next(g);
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
	uint64_t credit = vtime_of(cost_ns, e), ahead_max = vtime_of(WEIR_COST_MAX_NS, e);

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

/* How far the virtual time of a node goes in so much time, if all of it is its children's. */
static uint64_t elapsed(const struct weir_group *node, uint64_t ns)
{
	return weir_div64(ns << WEIR_VTIME_SHIFT, node->entitle.weight_sum);
}

/* Floors below a node above g had all they may take of that node's turns, just now. */
static bool is_beyond_above(const struct weir_group *g)
{
	for (g = g->parent; g->parent; g = g->parent)
		if (weir_vtime_before(wp_group(g->parent)->vtime, wp_group(g)->floor.beyond_vtime))
			return true;
	return false;
}

/*
 * What serving a floor below g, out of turn, moves g's tag on by: nothing, if floors have had their
 * part of g's turns up to the virtual time of now. Who is below a node where that is so shares what
 * is left of its turns by weight alone; or the rest of a rest would remain three levels down.
 */
static uint64_t floors_part(struct weir_group *g, uint64_t delta)
{
	struct wp_floor *f = &wp_group(g)->floor;
	uint64_t vtime = wp_group(g->parent)->vtime;
	uint64_t burst = elapsed(g->parent, WP_FLOOR_BURST_NS);

	if (is_beyond_above(g))
		return 0;
	if (weir_vtime_before(f->paid_vtime, vtime - burst))
		f->paid_vtime = vtime - burst;
	if (weir_vtime_before(vtime, f->paid_vtime)) {
		f->beyond_vtime = vtime + burst;
		return 0;
	}
	f->paid_vtime += weir_mul_div(delta, 100, weir_policy_tunable(g->w, WP_FLOOR_PERCENT));
	return delta;
}

static void limit_lead(struct weir_group *node, struct wp_entity *e, uint64_t ns)
{
	uint64_t latest = wp_group(node)->vtime + elapsed(node, ns);

	if (weir_vtime_before(latest, e->tag))
		e->tag = latest;
}

static void pass_to(struct weir_group *node)
{
	struct wp_group *pn = wp_group(node);
	uint64_t first = weir_heap_min_key(&node->turn);

	if (weir_vtime_before(pn->vtime, first))
		pn->vtime = first;
}

static void move_on(struct weir_group *node, struct wp_entity *e, uint64_t delta, bool more)
{
	e->tag += delta;
	if (more)
		weir_heap_update(&node->turn, &e->item, e->tag);
	else
		weir_heap_remove(&node->turn, &e->item);
	if (node->turn.nr)
		choose_next(node);
}

static void serve(struct weir_group *node, struct wp_entity *e, uint64_t cost_ns, bool more)
{
	pass_to(node);
	move_on(node, e, vtime_of(cost_ns, e), more);
}

void wp_shares_charge(struct weir_group *g, uint64_t cost_ns, bool more)
{
	serve(g, &wp_group(g)->own, cost_ns, more);
	for (; g->parent; g = g->parent)
		serve(g->parent, &wp_group(g)->up, cost_ns, g->turn.nr > 0);
}

void wp_shares_charge_floor(struct weir_group *g, const struct weir_group *owed, uint64_t cost_ns,
			    bool more)
{
	bool below = true, shared = false;

	serve(g, &wp_group(g)->own, cost_ns, more);
	for (; g->parent; g = g->parent) {
		struct wp_entity *e = &wp_group(g)->up;
		uint64_t delta = vtime_of(cost_ns, e);

		/* Somebody else is active between here and the owed group. */
		if (!below)
			shared |= g->entitle.nr_active > 1;
		below &= g != owed;
		pass_to(g->parent);
		if (shared)
			delta = floors_part(g, delta);
		limit_lead(g->parent, e, shared ? WP_FLOOR_BURST_NS : WP_FLOOR_LAG_NS);
		move_on(g->parent, e, delta, g->turn.nr > 0);
	}
}

/* In full, even if a floor's part was charged to nobody: credit for one request at most. */
static void refund(struct weir_group *node, struct wp_entity *e, uint64_t cost_ns)
{
	e->tag -= vtime_of(cost_ns, e);
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
