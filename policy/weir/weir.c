/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The weir policy.
 *
 * Problem. Groups share one device. Each was promised something: a weight, a floor, a latency
 * target (ceilings are the core's, before every policy). The promises must hold without giving up
 * the device's speed, and without knowing the device in advance.
 *
 * Model. There is one scarce thing, the device's time. Every request is priced in it by the linear
 * model of the profile (core/cost.h): a share is a part of it, a floor asks for an amount of it,
 * and the depth is how much of it is in flight. So the three can be compared, and added up.
 *
 * Rules, in this order:
 *
 *	1. While enough device time is in flight to keep the device at its peak, nothing goes. What
 *	   is in the device waits without order, so no more than that is put there (depth.h,
 *	   probe.h), and one by one where places would become free all at once (stagger.c). A
 *	   group that misses its latency target makes that less (latency.c).
 *	2. A group that is behind its floor goes first (floor.c).
 *	3. Else the group goes whose tag is smallest, from the root down (shares.h). A group that
 *	   was empty for a moment keeps its claim: it comes back with credit for one request.
 *	4. Within a group sync goes before async, with bounded waiting (leaf.h).
 *
 * The device is never kept idle for somebody who may come.
 *
 * Worked example. A card takes 18.9 us of its time for a 4 KiB read, and 100 us from one end to the
 * other. Groups A and B have 256 reads queued each and weights 200 and 100, C has weight 100 and
 * reads one block at a time, thinking 200 us in between. About 8 reads are in flight, 151 us. C's
 * read finds the virtual time ahead of its tag, goes with the next free place after at most 19 us,
 * and is back some 170 us later. A and B share the rest 2 : 1. With the device's own queue full,
 * 512 deep, C would have waited 9.7 ms.
 *
 * Constants stand in one enum in internal.h, each with its reason; formulas in the part's own file.
 */
#include "policy/weir/ahead.h"
#include "policy/weir/depth.h"
#include "policy/weir/leaf.h"
#include "policy/weir/probe.h"
#include "policy/weir/shares.h"
#include "policy/weir/stagger.h"

static const struct weir_tunable tunables[] = {
	[WP_DEPTH_US] = {"depth_us", WEIR_UNIT_US, 0, 10000000, 0,
			 "device time that may be in flight; 0: learned"},
	[WP_ADAPT] = {"adapt", WEIR_UNIT_BOOL, 0, 1, 1,
		      "look for the smallest depth at which the device runs at its peak"},
	[WP_ASYNC_EVERY] = {"async_every", WEIR_UNIT_COUNT, 1, 1000000, 16,
			    "sync requests of a group that may go before one async request of it"},
	[WP_ASYNC_WAIT_MS] = {"async_wait_ms", WEIR_UNIT_MS, 1, 1000000, 200,
			      "async requests that waited this long go before sync ones"},
	[WP_FLOOR_PERCENT] = {"floor_percent", WEIR_UNIT_PERCENT, 1, 99, 94,
			      "part of the device's time that floors may take out of turn"},
	[WP_MERGE_KB] = {"merge_kb", WEIR_UNIT_COUNT, 4, 1048576, 128,
			 "largest merged request, in KiB, while a floor or latency target is set"},
	[WP_NR_TUNABLES] = {0},
};

static int init(struct weir *w)
{
	struct wp *p = wp_of(w);

	p->w = w;
	wp_latency_init(p);
	wp_floor_init(p);
	wp_depth_init(p);
	return 0;
}

static void group_changed(struct weir *w, struct weir_group *g, unsigned int what)
{
	if (what & WEIR_CHANGED_WEIGHT)
		wp_shares_weight(g);
	if (what & WEIR_CHANGED_LOW)
		wp_floor_changed(wp_of(w), g);
	/* Another share: what was in vain may not be now. */
	if (what & (WEIR_CHANGED_LATENCY | WEIR_CHANGED_WEIGHT))
		wp_latency_changed(wp_of(w), g);
	wp_depth_update(wp_of(w));
}

static void group_online(struct weir *w, struct weir_group *g)
{
	struct wp_group *pg = wp_group(g);

	pg->g = g;
	if (g->parent)
		pg->parent = wp_group(g->parent);
	else
		wp_of(w)->root = pg;
	wp_leaf_init(pg);
	weir_heap_item_init(&pg->floor.item, g->id);
	wp_shares_online(g);
	group_changed(w, g, WEIR_CHANGED_LOW | WEIR_CHANGED_LATENCY);
}

static void group_offline(struct weir *w, struct weir_group *g)
{
	struct wp *p = wp_of(w);

	wp_shares_offline(g);
	wp_floor_offline(p, g);
	wp_latency_offline(p, g);
	wp_depth_update(p);
}

/* Nodes on g's path that began or ceased to have something queued enter or leave the floors' heap.
 */
static void update_floors(struct wp *p, struct weir_group *g)
{
	for (; g; g = g->parent) {
		struct wp_floor *f = &wp_group(g)->floor;

		if (!f->has)
			continue;
		if (g->turn.nr && !weir_heap_has(&f->item))
			wp_floor_activate(p, g);
		else if (!g->turn.nr && weir_heap_has(&f->item))
			wp_floor_deactivate(p, g);
	}
}

/* rq is the first of its group's own. */
static weir_apart void begin(struct weir *w, struct weir_rq *rq)
{
	struct wp *p = wp_of(w);

	wp_shares_activate(rq->group, rq->cost_ns);
	if (p->nr_floors)
		update_floors(p, rq->group);
	if (weir_prefetch_pays(w))
		wp_ahead_inserted(p);
}

static void insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct wp_group *pg = wp_group(rq->group);

	wp_leaf_insert(pg, rq, where);
	if (weir_unlikely(pg->nr == 1))
		begin(w, rq);
	else if (weir_prefetch_pays(w))
		wp_ahead_inserted(wp_of(w));
}

static void remove_rq(struct weir *w, struct weir_rq *rq)
{
	struct wp *p = wp_of(w);
	struct weir_group *g = rq->group;

	wp_leaf_remove(wp_group(g), rq);
	if (!wp_group(g)->nr) {
		wp_shares_deactivate(g);
		if (p->nr_floors)
			update_floors(p, g);
	}
}

struct wp_choice {
	struct wp_group *pg;
	struct weir_rq *rq;	 /* its first, if NULL */
	struct weir_group *owed; /* pg's, or who is above it, is behind its floor; or NULL */
	bool out_of_turn;	 /* and it would not be its turn by share */
};

/* Whose request goes next, with floors. */
static void choose_owed(struct wp *p, struct wp_choice *c)
{
	c->rq = wp_floor_next(p, weir_now(p->w), &c->owed);
	if (!c->rq)
		return;
	c->out_of_turn = c->rq->group != c->pg->g;
	c->pg = wp_group(c->rq->group);
}

/* rq goes while somebody has a floor or a target. */
static void take_promised(struct wp *p, struct weir_rq *rq, bool out_of_turn)
{
	if (p->nr_floors) {
		wp_floor_charge(p, rq->group, rq, weir_now(p->w));
		wp_floor_account(p, rq->cost_ns, out_of_turn);
		update_floors(p, rq->group);
	}
	if (p->nr_targets)
		wp_latency_start(p, rq->group, rq->cost_ns);
}

static struct weir_rq *charge(struct wp_group *pg, struct weir_rq *rq)
{
	return weir_likely(pg->nr > 0) ? wp_shares_charge(pg, rq) : wp_shares_charge_last(pg, rq);
}

static weir_apart struct weir_rq *charge_and_look_ahead(struct wp *p, struct wp_group *pg,
							struct weir_rq *rq)
{
	charge(pg, rq);
	wp_ahead_dispatched(p);
	return rq;
}

/* rq was taken from pg, whose turn it is by share. */
static inline struct weir_rq *go(struct wp *p, struct wp_group *pg, struct weir_rq *rq)
{
	wp_depth_start(p, rq, weir_now(p->w));
	if (weir_unlikely(weir_prefetch_pays(p->w)))
		return charge_and_look_ahead(p, pg, rq);
	return charge(pg, rq);
}

/* rq was taken from its group out of turn, for the floor of `owed`. */
static void go_out_of_turn(struct wp *p, const struct weir_group *owed, struct weir_rq *rq)
{
	struct weir_group *g = rq->group;
	bool more = wp_group(g)->nr > 0;

	wp_depth_start(p, rq, weir_now(p->w));
	wp_rq(rq)->spared = wp_shares_charge_floor(g, owed, rq->cost_ns, more);
	wp_rq(rq)->is_spared = wp_rq(rq)->spared;
}

static struct weir_rq *take(struct wp *p, const struct wp_choice *c)
{
	struct weir_rq *rq = c->rq ? c->rq : wp_leaf_peek(p, c->pg);

	wp_leaf_taken(c->pg, rq);
	if (c->out_of_turn)
		go_out_of_turn(p, c->owed, rq);
	else
		go(p, c->pg, rq);
	if (p->promises)
		take_promised(p, rq, c->out_of_turn);
	return rq;
}

/* Whatever there is to regard. */
static weir_apart struct weir_rq *dispatch_any(struct wp *p, bool force, struct weir_verdict *v)
{
	struct wp_choice c = {.pg = p->root->next};
	bool squeezed;

	if (p->nr_floors)
		choose_owed(p, &c);
	if (force ||
	    wp_depth_open(p, c.owed && wp_floor_fits(p), weir_now(p->w), &v->at_ns, &squeezed))
		return take(p, &c);
	/* Who is owed something may find more in flight. */
	if (p->nr_floors && !c.owed && wp_floor_fits(p))
		v->at_ns = weir_min64(v->at_ns, wp_floor_when(p));
	v->next = c.pg->g;
	if (squeezed)
		v->why = WEIR_STALL_LATENCY;
	else
		v->why = c.out_of_turn ? WEIR_STALL_FLOOR : WEIR_STALL_DEPTH;
	return NULL;
}

static struct weir_rq *dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct wp *p = wp_of(w);
	struct wp_group *pg = p->root->next;

	if (weir_unlikely(p->promises) || p->in_flight_ns >= p->open_ns || !wp_leaf_is_plain(pg))
		return dispatch_any(p, force, v);
	return go(p, pg, wp_leaf_take_plain(pg));
}

/* By share alone: looking for floors moves their due times, and this is a look only. */
static struct weir_group *next_group(struct weir *w)
{
	return weir_policy_queued(w) ? wp_of(w)->root->next->g : NULL;
}

static uint64_t promised(struct weir *w, const struct weir_group *g)
{
	return wp_floor_promised(wp_of(w), g);
}

/*
 * Another window, by probing. A somewhat wider one is not filled at once: those who fill it would end
 * together, too. One that is much wider is so because small steps showed nothing.
 */
static void next_epoch(struct wp *p, uint64_t before_ns)
{
	if (p->open_ns > before_ns + before_ns / 8 && p->open_ns <= 2 * before_ns)
		wp_stagger_begin(p, (before_ns + p->open_ns) / 2, weir_now(p->w));
}

static weir_apart void completed(struct weir *w, struct weir_rq *rq)
{
	struct wp *p = wp_of(w);
	uint64_t gap_ns = weir_now(w) - p->probe.last_ns, before_ns = p->open_ns;
	enum wp_probe_phase phase = p->probe.phase;
	bool moved;

	if (wp_stagger_is_gap(p, gap_ns))
		wp_stagger_gap(p, gap_ns, weir_now(w));
	moved = wp_probe_complete(p, rq->cost_ns, weir_now(w));
	if (p->nr_floors)
		wp_floor_complete(p, rq->cost_ns, weir_now(w));
	if (p->nr_targets)
		wp_latency_complete(p, rq, weir_now(w));
	if (moved || p->promises)
		wp_depth_update(p);
	if (phase != p->probe.phase)
		next_epoch(p, before_ns);
	if (weir_prefetch_pays(w))
		wp_ahead_completed(p);
}

static void complete(struct weir *w, struct weir_rq *rq)
{
	struct wp *p = wp_of(w);

	wp_depth_end(p, rq, weir_now(w));
	if (weir_unlikely(!wp_probe_complete_plainly(p, rq->cost_ns, weir_now(w))))
		completed(w, rq);
	else if (weir_prefetch_pays(w))
		wp_ahead_completed(p);
}

static void undispatch(struct weir *w, struct weir_rq *rq)
{
	wp_depth_cancel(wp_of(w), rq);
	wp_shares_refund(rq->group, rq->cost_ns, wp_rq(rq)->is_spared ? wp_rq(rq)->spared : 0);
	if (wp_of(w)->nr_floors)
		wp_floor_refund(wp_of(w), rq->group, rq);
}

static bool may_merge(struct weir *w, const struct weir_rq *rq, const struct weir_rq *bio,
		      uint32_t nr_sectors)
{
	const struct wp *p = wp_of(w);

	(void)rq;
	(void)bio;
	if (weir_likely(!p->promises))
		return true;
	return nr_sectors <= weir_policy_tunable(w, WP_MERGE_KB) * 2;
}

static void tuned(struct weir *w, unsigned int index)
{
	/* Another profile, another knee. What was learned about the old one is worth nothing. */
	if (index == UINT32_MAX || index == WP_DEPTH_US || index == WP_ADAPT)
		wp_depth_init(wp_of(w));
}

const struct weir_policy weir_policy_weir = {
	.info = {"weir", "shares in device time, floors, latency targets, adaptive depth", tunables,
		 WEIR_KEEPS_WEIGHTS | WEIR_KEEPS_TREE | WEIR_KEEPS_FLOORS | WEIR_KEEPS_LATENCY},
	.instance_size = sizeof(struct wp),
	.group_size = sizeof(struct wp_group),
	.init = init,
	.group_online = group_online,
	.group_offline = group_offline,
	.group_changed = group_changed,
	.insert = insert,
	.dispatch = dispatch,
	.next_group = next_group,
	.promised = promised,
	.complete = complete,
	.undispatch = undispatch,
	.remove = remove_rq,
	.may_merge = may_merge,
	.tuned = tuned,
};
