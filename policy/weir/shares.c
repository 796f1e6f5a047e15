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
 * turn until the others have caught up; but by no more than WP_FLOOR_LAG_NS of its own service, or
 * it would be shut out for hours when its floor is taken away. A change of weight converts what an
 * entity is ahead: it is a debt in device time.
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
	pg->up.tag = pg->parent ? pg->parent->vtime : 0;
}

void wp_shares_offline(struct weir_group *g)
{
	weir_assert(!g->turn.nr && !weir_heap_has(&wp_group(g)->up.item));
}

/* Each node keeps whose turn it is below, so that a choice need not walk down through cold memory.
 */
static struct wp_group *next_of(struct wp_group *pn, struct weir_heap_item *first)
{
	if (first == &pn->own.item)
		return pn;
	return weir_container_of(first, struct wp_group, up.item)->next;
}

static void choose_upwards(struct weir_group *g)
{
	for (; g; g = g->parent)
		if (g->turn.nr)
			wp_group(g)->next = next_of(wp_group(g), weir_heap_min(&g->turn));
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

/*
 * e of that node was served; `more` is left of it, which `next` is the first of. Returns whose turn
 * it is below the node, if anything is left there.
 */
static inline struct wp_group *serve(struct wp_group *pn, struct wp_entity *e, uint64_t cost_ns,
				     bool more, struct wp_group *next)
{
	struct weir_heap *turn = &pn->g->turn;
	uint64_t first = weir_heap_min_key(turn);

	if (weir_vtime_before(pn->vtime, first))
		pn->vtime = first;
	if (weir_unlikely(e->tag != first)) {
		uint64_t latest = pn->vtime + vtime_of(WP_FLOOR_LAG_NS, e);

		if (weir_vtime_before(latest, e->tag))
			e->tag = latest;
	}
	e->tag += vtime_of(cost_ns, e);
	if (weir_unlikely(!more))
		weir_heap_remove(turn, &e->item);
	else if (weir_likely(weir_heap_min(turn) == &e->item))
		weir_heap_defer_first(turn, e->tag);
	else
		weir_heap_update(turn, &e->item, e->tag);
	if (weir_unlikely(!turn->nr))
		return NULL;
	if (weir_heap_min(turn) != &e->item)
		next = next_of(pn, weir_heap_min(turn));
	pn->next = next;
	return next;
}

void wp_shares_charge(struct wp_group *pg, uint64_t cost_ns, bool more)
{
	struct wp_group *next = serve(pg, &pg->own, cost_ns, more, pg);

	for (; pg->parent; pg = pg->parent)
		next = serve(pg->parent, &pg->up, cost_ns, pg->g->turn.nr > 0, next);
}

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
