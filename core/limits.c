/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits stage: see limits.h for the model. */
#include "core/core.h"

#define WEIR_LIMIT_FAR_NS (UINT64_C(1) << 61)

static uint64_t flow_open_ns(const struct weir_flow *f)
{
	return weir_max64(f->bytes.next_ns, f->ios.next_ns);
}

static bool flow_is_open(const struct weir_flow *f, uint64_t now)
{
	return flow_open_ns(f) <= now;
}

static bool flow_has_offer(const struct weir_flow *f)
{
	return f->ready.nr > 0;
}

static void clock_charge(struct weir_limit_clock *c, uint64_t amount, bool backlogged, uint64_t now)
{
	uint64_t work, cost_ns, late_ns = 0, base;

	if (c->rate == WEIR_UNLIMITED || !amount)
		return;
	/* amount < 2^33 (WEIR_RQ_SECTORS_MAX), so work < 2^63. */
	weir_assert(amount < UINT64_C(1) << 33);
	work = amount * WEIR_NS_PER_S + c->rest;
	cost_ns = weir_div64(work, c->rate);
	c->rest = work - cost_ns * c->rate;
	if (backlogged)
		late_ns = weir_max64(WEIR_LIMIT_LATE_NS, cost_ns / 2);
	else if (cost_ns <= WEIR_LIMIT_CREDIT_INTERVAL_NS)
		late_ns = WEIR_LIMIT_SLACK_NS;
	base = now > late_ns ? now - late_ns : 0;
	/* Times compare right while they are within 2^63 of each other: bound the wait by 73 years.
	 */
	c->next_ns = weir_min64(weir_max64(c->next_ns, base) + cost_ns, now + WEIR_LIMIT_FAR_NS);
}

static void clock_set_rate(struct weir_limit_clock *c, uint64_t rate, uint64_t now)
{
	if (rate == c->rate)
		return;
	if (rate == WEIR_UNLIMITED)
		c->next_ns = weir_min64(c->next_ns, now);
	else if (c->rate == WEIR_UNLIMITED)
		/* Little is owed for the time without a ceiling. */
		c->next_ns = now > WEIR_LIMIT_SLACK_NS ? now - WEIR_LIMIT_SLACK_NS : 0;
	else if (c->next_ns > now)
		c->next_ns = now + weir_min64(weir_mul_div(c->next_ns - now, c->rate, rate),
					      WEIR_LIMIT_FAR_NS);
	c->rest = 0;
	c->rate = rate;
}

uint64_t weir_limit_bytes(const struct weir_rq *rq)
{
	if (rq->op == WEIR_OP_DISCARD || rq->op == WEIR_OP_WRITE_ZEROES)
		return WEIR_SECTOR_BYTES;
	return weir_rq_bytes(rq);
}

int weir_limits_group_init(struct weir_group *g)
{
	struct weir *w = g->w;
	unsigned int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		struct weir_flow *f = &g->flow[dir];

		list_init(&f->held);
		weir_heap_item_init(&f->in_ready, g->id);
		weir_heap_item_init(&f->own_in_ready, g->id);
		weir_heap_item_init(&f->in_timer, g->id * WEIR_NR_DIRS + dir);
		f->bytes.rate = WEIR_UNLIMITED;
		f->ios.rate = WEIR_UNLIMITED;
		/* Room for the own requests here, and for this flow above. */
		weir_heap_init_one(&f->ready, &f->ready_one);
		if (g->parent && weir_heap_reserve(&g->parent->flow[dir].ready, &w->host,
						   g->parent->nr_children + 2))
			return -WEIR_ENOMEM;
	}
	return weir_heap_reserve(&w->limit_timers, &w->host, (w->nr_groups + 1) * WEIR_NR_DIRS);
}

void weir_limits_group_exit(struct weir_group *g)
{
	unsigned int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		struct weir_flow *f = &g->flow[dir];

		weir_assert(!f->nr_pending);
		if (f->limited)
			g->w->nr_limited--;
		weir_heap_free(&f->ready, &g->w->host);
	}
	weir_rare_update(g->w);
}

/* No credit from time without an offer; at most one request ahead. */
static uint64_t enter(uint64_t tag, uint64_t vtime, uint32_t weight)
{
	return weir_vtime_enter(tag, vtime, weir_cost_per_weight(WEIR_COST_MAX_NS, weight));
}

/*
 * Puts the flow where it belongs by what it has to offer and whether it is open, and tells the
 * parent if that changes what the parent has to offer. O(depth log n) at worst.
 */
static void flow_update(struct weir_group *g, unsigned int dir, uint64_t now)
{
	struct weir *w = g->w;

	for (; g; g = g->parent) {
		struct weir_flow *f = &g->flow[dir];
		struct weir_flow *up = g->parent ? &g->parent->flow[dir] : NULL;
		bool offers = flow_has_offer(f), open = flow_is_open(f, now);
		bool had = up ? flow_has_offer(up) : false;

		if (weir_heap_has(&f->in_timer)) {
			if (offers && !open)
				weir_heap_update(&w->limit_timers, &f->in_timer, flow_open_ns(f));
			else
				weir_heap_remove(&w->limit_timers, &f->in_timer);
		} else if (offers && !open) {
			weir_heap_push(&w->limit_timers, &f->in_timer, flow_open_ns(f));
		}
		if (!up) {
			w->limit_root_ready[dir] = offers && open;
			return;
		}
		if (offers && open) {
			if (!weir_heap_has(&f->in_ready)) {
				f->tag = enter(f->tag, up->vtime, g->attr.weight);
				weir_heap_push(&up->ready, &f->in_ready, f->tag);
			} else {
				weir_heap_update(&up->ready, &f->in_ready, f->tag);
			}
		} else if (weir_heap_has(&f->in_ready)) {
			weir_heap_remove(&up->ready, &f->in_ready);
		}
		if (had == flow_has_offer(up))
			return;
	}
}

void weir_limits_changed(struct weir_group *g, uint64_t now)
{
	unsigned int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		struct weir_flow *f = &g->flow[dir];
		bool limited;

		clock_set_rate(&f->bytes, g->attr.max.bps[dir], now);
		clock_set_rate(&f->ios, g->attr.max.iops[dir], now);
		limited = f->bytes.rate != WEIR_UNLIMITED || f->ios.rate != WEIR_UNLIMITED;
		if (limited != f->limited)
			g->w->nr_limited += limited ? 1 : -1;
		f->limited = limited;
		flow_update(g, dir, now);
	}
	weir_rare_update(g->w);
}

void weir_limits_charge(struct weir_group *g, enum weir_dir dir, uint64_t bytes, uint32_t ios,
			uint64_t now)
{
	bool refused = g->flow[dir].refused;

	g->flow[dir].refused = false;
	if (!g->w->nr_limited)
		return;
	for (; g; g = g->parent) {
		struct weir_flow *f = &g->flow[dir];

		if (!f->limited)
			continue;
		clock_charge(&f->bytes, bytes, refused || f->nr_pending, now);
		clock_charge(&f->ios, ios, refused || f->nr_pending, now);
		flow_update(g, dir, now);
	}
}

bool weir_limits_may_grow(const struct weir_group *g, enum weir_dir dir, uint64_t now)
{
	if (!g->w->nr_limited)
		return true;
	if (g->flow[dir].nr_held)
		return false;
	for (; g; g = g->parent) {
		const struct weir_flow *f = &g->flow[dir];

		if (f->limited && (f->nr_pending || !flow_is_open(f, now)))
			return false;
	}
	return true;
}

static bool is_little(const struct weir_limit_clock *c, uint64_t amount)
{
	/* amount < 2^33, as above. */
	return c->rate == WEIR_UNLIMITED ||
	       amount * (WEIR_NS_PER_S / WEIR_LIMIT_SLACK_NS) <= c->rate;
}

bool weir_limits_may_join(const struct weir_group *g, enum weir_dir dir, uint64_t bytes,
			  uint32_t ios)
{
	for (; g; g = g->parent) {
		const struct weir_flow *f = &g->flow[dir];

		if (!is_little(&f->bytes, bytes) || !is_little(&f->ios, ios))
			return false;
	}
	return true;
}

bool weir_limits_pass(struct weir_rq *rq, uint64_t now)
{
	enum weir_dir dir = weir_op_dir(rq->op);

	if (!rq->group->w->nr_limited && !rq->group->flow[dir].nr_held)
		return true;
	if (!weir_limits_may_grow(rq->group, dir, now) || rq->group->flow[dir].nr_held)
		return false;
	weir_limits_charge(rq->group, dir, weir_limit_bytes(rq), 1u + rq->nr_merged, now);
	return true;
}

void weir_limits_hold(struct weir_rq *rq, uint64_t now)
{
	enum weir_dir dir = weir_op_dir(rq->op);
	struct weir_group *g = rq->group, *n;
	struct weir_flow *f = &g->flow[dir];

	f->refused = false;
	list_push_back(&f->held, &rq->link);
	for (n = g; n; n = n->parent)
		n->flow[dir].nr_pending++;
	if (!f->nr_held++) {
		f->own_tag = enter(f->own_tag, f->vtime, g->attr.own_weight);
		weir_heap_push(&f->ready, &f->own_in_ready, f->own_tag);
		flow_update(g, dir, now);
	}
}

/* The request leaves its flow, in whatever way. The flows' places are brought up to date after. */
static void unlink_held(struct weir_rq *rq)
{
	enum weir_dir dir = weir_op_dir(rq->op);
	struct weir_group *g = rq->group, *n;
	struct weir_flow *f = &g->flow[dir];

	list_unlink(&rq->link);
	if (!--f->nr_held)
		weir_heap_remove(&f->ready, &f->own_in_ready);
	for (n = g; n; n = n->parent)
		n->flow[dir].nr_pending--;
}

void weir_limits_unhold(struct weir_rq *rq, uint64_t now)
{
	unlink_held(rq);
	flow_update(rq->group, weir_op_dir(rq->op), now);
}

/* Lets through what stands first below the root, which is open and has an offer. */
static struct weir_rq *let_through(struct weir *w, unsigned int dir, uint64_t now)
{
	struct weir_group *g = w->root, *n;
	struct weir_flow *f = &g->flow[dir];
	struct weir_heap_item *first;
	uint64_t due_ns = 0;
	struct weir_rq *rq;

	for (;;) {
		first = weir_heap_min(&f->ready);
		weir_assert(first);
		f->vtime = weir_heap_min_key(&f->ready);
		if (first == &f->own_in_ready)
			break;
		f = weir_container_of(first, struct weir_flow, in_ready);
		g = weir_container_of(f - dir, struct weir_group, flow[0]);
	}
	rq = list_first(&f->held, struct weir_rq, link);
	f->own_tag += weir_cost_per_weight(rq->cost_ns, g->attr.own_weight);
	if (f->nr_held > 1)
		weir_heap_update(&f->ready, &f->own_in_ready, f->own_tag);
	for (n = g; n; n = n->parent) {
		struct weir_flow *nf = &n->flow[dir];

		due_ns = weir_max64(due_ns, flow_open_ns(nf));
		nf->tag += weir_cost_per_weight(rq->cost_ns, n->attr.weight);
		clock_charge(&nf->bytes, weir_limit_bytes(rq), true, now);
		clock_charge(&nf->ios, 1u + rq->nr_merged, true, now);
	}
	rq->release_ns = due_ns;
	unlink_held(rq);
	/* Every level's tag and clocks moved: flow_update() stops where its parent is not affected.
	 */
	for (n = g; n; n = n->parent)
		flow_update(n, dir, now);
	return rq;
}

struct weir_rq *weir_limits_next(struct weir *w, uint64_t now)
{
	struct weir_heap_item *item;

	while ((item = weir_heap_min(&w->limit_timers)) &&
	       weir_heap_min_key(&w->limit_timers) <= now) {
		struct weir_flow *f = weir_container_of(item, struct weir_flow, in_timer);
		unsigned int dir = item->order % WEIR_NR_DIRS;

		flow_update(weir_container_of(f - dir, struct weir_group, flow[0]), dir, now);
	}
	if (w->limit_root_ready[WEIR_READ])
		return let_through(w, WEIR_READ, now);
	if (w->limit_root_ready[WEIR_WRITE])
		return let_through(w, WEIR_WRITE, now);
	return NULL;
}

struct weir_rq *weir_limits_force(struct weir *w, uint64_t now)
{
	struct weir_group *g;
	unsigned int dir;

	/* O(groups) only until all is out: a drain may be slow. */
	list_for_each(g, &w->groups, struct weir_group, all) {
		for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
			if (g->flow[dir].nr_held) {
				struct weir_rq *rq = list_first(&g->flow[dir].held, struct weir_rq,
								link);

				weir_limits_unhold(rq, now);
				rq->release_ns = now;
				return rq;
			}
		}
	}
	return NULL;
}

uint64_t weir_limits_when(const struct weir *w)
{
	if (w->limit_root_ready[WEIR_READ] || w->limit_root_ready[WEIR_WRITE])
		return 0;
	return w->limit_timers.nr ? weir_heap_min_key(&w->limit_timers) : WEIR_NEVER;
}

void weir_limits_reset(struct weir *w)
{
	struct weir_group *g;
	unsigned int dir;

	list_for_each(g, &w->groups, struct weir_group, all) {
		for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
			struct weir_flow *f = &g->flow[dir];

			weir_assert(!f->nr_pending);
			f->bytes.next_ns = 0;
			f->bytes.rest = 0;
			f->ios.next_ns = 0;
			f->ios.rest = 0;
			f->vtime = 0;
			f->tag = 0;
			f->own_tag = 0;
			f->refused = false;
		}
	}
}
