/* SPDX-License-Identifier: GPL-2.0-only */
/* Shares, what is not in every dispatch: see shares.h. */
#include "policy/weir/shares.h"

/* In virtual time at weight 1: a burst; what one request can cost at a floor_percent of 1. */
#define BURST_MAX ((uint64_t)WP_FLOOR_BURST_NS << WEIR_VTIME_SHIFT)
#define PAID_AHEAD_MAX (100 * (WEIR_COST_MAX_NS << WEIR_VTIME_SHIFT))

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

/*
 * e of that node goes delta on; `more` is left of it, which `next` is the first of. Returns whose
 * turn it is below the node, if anything is left there.
 */
static struct wp_group *move(struct wp_group *pn, struct wp_entity *e, uint64_t delta, bool more,
			     struct wp_group *next)
{
	struct weir_heap *turn = &pn->g->turn;

	e->tag += delta;
	if (!more)
		weir_heap_remove(turn, &e->item);
	else
		weir_heap_update(turn, &e->item, e->tag);
	if (!turn->nr)
		return NULL;
	if (weir_heap_min(turn) != &e->item)
		next = wp_shares_next_of(pn, weir_heap_min(turn));
	pn->next = next;
	return next;
}

/* The node's virtual time is the tag of the first. */
static void pass(struct wp_group *pn)
{
	uint64_t first = weir_heap_min_key(&pn->g->turn);

	if (weir_vtime_before(pn->vtime, first))
		pn->vtime = first;
}

/*
 * e, the first of that node, was served cost_ns and has more, which `next` is the first of. Returns
 * whose turn it is below the node.
 */
static inline struct wp_group *take_turn(struct wp_group *pg, struct wp_entity *e, uint64_t cost_ns,
					 struct wp_group *next)
{
	struct weir_heap *turn = &pg->g->turn;
	uint64_t tag = e->tag;

	if (weir_vtime_before(pg->vtime, tag))
		pg->vtime = tag;
	e->tag = tag + wp_shares_vtime(cost_ns, e);
	weir_heap_defer_first(turn, &e->item, e->tag);
	if (e->item.at)
		next = wp_shares_next_of(pg, turn->entry[0].item);
	pg->next = next;
	return next;
}

struct weir_rq *wp_shares_charge(struct wp_group *pg, struct weir_rq *rq)
{
	struct wp_group *next = pg;
	struct wp_entity *e = &pg->own;

	if (weir_likely(wp_shares_is_alone(pg))) {
		e = &pg->up;
		pg = pg->parent;
	}
	while (pg) {
		next = take_turn(pg, e, rq->cost_ns, next);
		e = &pg->up;
		pg = pg->parent;
	}
	return rq;
}

static struct wp_group *move_own(struct wp_group *pg, uint64_t cost_ns, bool more)
{
	uint64_t delta = wp_shares_is_alone(pg) ? 0 : wp_shares_vtime(cost_ns, &pg->own);

	pass(pg);
	return move(pg, &pg->own, delta, more, pg);
}

struct weir_rq *wp_shares_charge_last(struct wp_group *pg, struct weir_rq *rq)
{
	struct wp_group *next = move_own(pg, rq->cost_ns, false);

	for (; pg->parent; pg = pg->parent) {
		pass(pg->parent);
		next = move(pg->parent, &pg->up, wp_shares_vtime(rq->cost_ns, &pg->up),
			    pg->g->turn.nr > 0, next);
	}
	return rq;
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
		/* At most a burst ahead: else it is so old that the clock has wrapped since. */
		if (wp_group(g)->floor.beyond_vtime - wp_group(g->parent)->vtime - 1 < BURST_MAX)
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
	f->paid_vtime = weir_vtime_enter(f->paid_vtime, vtime - burst, burst + PAID_AHEAD_MAX);
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

uint64_t wp_shares_charge_floor(struct weir_group *g, const struct weir_group *owed,
				uint64_t cost_ns, bool more)
{
	uint64_t spared = 0;
	struct wp_group *next = move_own(wp_group(g), cost_ns, more);
	bool below = true, shared = false;

	for (; g->parent; g = g->parent) {
		struct wp_entity *e = &wp_group(g)->up;
		struct wp_group *pn = wp_group(g->parent);
		uint64_t delta = wp_shares_vtime(cost_ns, e);

		/* Somebody else is active between here and the owed group. */
		if (!below)
			shared |= g->entitle.nr_active > 1;
		below &= g != owed;
		pass(pn);
		if (shared)
			delta = floors_part(g, delta);
		if (!delta)
			spared |= UINT64_C(1) << g->depth;
		limit_lead(g->parent, e, shared ? WP_FLOOR_BURST_NS : WP_FLOOR_LAG_NS);
		next = move(pn, e, delta, g->turn.nr > 0, next);
	}
	return spared;
}

static void refund(struct weir_group *node, struct wp_entity *e, uint64_t cost_ns)
{
	e->tag -= wp_shares_vtime(cost_ns, e);
	if (weir_heap_has(&e->item))
		weir_heap_update(&node->turn, &e->item, e->tag);
}

void wp_shares_refund(struct weir_group *g, uint64_t cost_ns, uint64_t spared)
{
	struct weir_group *n;

	if (!wp_shares_is_alone(wp_group(g)))
		refund(g, &wp_group(g)->own, cost_ns);
	for (n = g; n->parent; n = n->parent)
		if (!(spared >> n->depth & 1))
			refund(n->parent, &wp_group(n)->up, cost_ns);
	choose_upwards(g);
}
