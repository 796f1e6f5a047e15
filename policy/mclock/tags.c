/* SPDX-License-Identifier: GPL-2.0-only */
/* mclock: the tags R, L and P, and the four trees by them. */
#include "policy/mclock/internal.h"

/* The root has but one weight; the others' own_weight means nothing in a flat tree. */
static uint32_t weight_of(const struct weir_group *g)
{
	return g->parent ? g->attr.weight : g->attr.own_weight;
}

/* ---- R and L: real time ---- */

static void clock_set(struct mclock_clock *c, uint64_t rate, uint64_t now)
{
	if (rate == c->rate)
		return;
	/* What was ahead by the old rate says nothing under the new. */
	c->prev_ns = c->rate ? weir_min64(c->prev_ns, now) : 0;
	c->rest = 0;
	c->rate = rate;
	c->since_ns = now;
}

void mclock_read_rates(struct mclock_group *mg, uint64_t now)
{
	const struct weir_group_attr *attr = &mg->group->attr;
	unsigned int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		struct mclock_queue *q = &mg->queue[dir];
		uint64_t bps = attr->max.bps[dir], iops = attr->max.iops[dir];

		clock_set(&q->reserve[MCLOCK_BYTES], attr->low.bps[dir], now);
		clock_set(&q->reserve[MCLOCK_IOS], attr->low.iops[dir], now);
		clock_set(&q->limit[MCLOCK_BYTES], bps == WEIR_UNLIMITED ? 0 : bps, now);
		clock_set(&q->limit[MCLOCK_IOS], iops == WEIR_UNLIMITED ? 0 : iops, now);
	}
}

/* max(arrival, tag before + amount / rate). amount <= 2^32, so amount x 10^9 + rest < 2^63. */
static uint64_t clock_tag(struct mclock_clock *c, uint64_t amount, uint64_t arrival_ns)
{
	uint64_t work = amount * WEIR_NS_PER_S + c->rest;
	uint64_t earliest_ns = weir_max64(arrival_ns, c->since_ns);

	c->cost_ns = weir_div64(work, c->rate);
	c->next_rest = work - c->cost_ns * c->rate;
	c->cost_ns = weir_min64(c->cost_ns, MCLOCK_FAR_NS);
	c->tag_ns = c->prev_ns ? weir_add_sat(c->prev_ns, c->cost_ns) : 0;
	if (c->tag_ns < earliest_ns) {
		c->tag_ns = earliest_ns;
		c->next_rest = 0;
	}
	return c->tag_ns;
}

static void clock_charge(struct mclock_clock *c, bool for_free)
{
	if (!c->rate)
		return;
	if (for_free) {
		/* As if it had not been: the next one's tag will be this one's. */
		c->prev_ns = c->tag_ns > c->cost_ns ? c->tag_ns - c->cost_ns : 0;
		return;
	}
	c->prev_ns = c->tag_ns;
	c->rest = c->next_rest;
}

static uint64_t reserve_tag_ns(struct mclock_queue *q, struct weir_rq *rq)
{
	uint64_t arrival_ns = mclock_rq(rq)->arrival_ns, tag_ns = WEIR_NEVER;

	if (q->reserve[MCLOCK_BYTES].rate)
		tag_ns = clock_tag(&q->reserve[MCLOCK_BYTES], weir_limit_bytes(rq), arrival_ns);
	if (q->reserve[MCLOCK_IOS].rate)
		tag_ns = weir_min64(tag_ns, clock_tag(&q->reserve[MCLOCK_IOS], 1, arrival_ns));
	return tag_ns;
}

static uint64_t limit_tag_ns(struct mclock_queue *q, struct weir_rq *rq)
{
	uint64_t arrival_ns = mclock_rq(rq)->arrival_ns, tag_ns = 0;

	if (q->limit[MCLOCK_BYTES].rate)
		tag_ns = clock_tag(&q->limit[MCLOCK_BYTES], weir_limit_bytes(rq), arrival_ns);
	if (q->limit[MCLOCK_IOS].rate)
		tag_ns = weir_max64(tag_ns, clock_tag(&q->limit[MCLOCK_IOS], 1, arrival_ns));
	/* Metadata may hold up everybody: it counts, and is not held. */
	return rq->flags & WEIR_RQ_META ? 0 : tag_ns;
}

/* ---- the trees ---- */

/* In the tree by that key, or out of it. */
static void place(struct weir_rb_tree *tree, struct weir_rb *node, bool *is_in, bool wanted,
		  uint64_t key)
{
	if (*is_in && wanted && node->key == key)
		return;
	if (*is_in)
		weir_rb_erase(tree, node);
	if (wanted)
		weir_rb_insert(tree, node, key);
	*is_in = wanted;
}

/* The earlier arrival, of those that are ready if any is. */
static struct mclock_queue *choose_queue(struct mclock_group *mg)
{
	struct mclock_queue *a = &mg->queue[WEIR_READ], *b = &mg->queue[WEIR_WRITE];

	if (list_is_empty(&a->fifo) || list_is_empty(&b->fifo))
		return !list_is_empty(&a->fifo) ? a : !list_is_empty(&b->fifo) ? b : NULL;
	if (a->ready != b->ready)
		return a->ready ? a : b;
	return mclock_first(a)->seq < mclock_first(b)->seq ? a : b;
}

/* What a request counts by weight. */
static uint64_t p_cost(const struct weir *w, const struct weir_rq *rq)
{
	uint64_t cost = weir_policy_tunable(w, MCLOCK_UNIT_COST_EACH) ? MCLOCK_UNIT_COST
								      : rq->cost_ns;

	return cost << MCLOCK_P_SHIFT;
}

/* P of the first of q, and what the division leaves over. */
static uint64_t p_of(const struct weir *w, const struct mclock *m, const struct mclock_queue *q,
		     uint64_t *rest)
{
	const struct mclock_group *mg = q->mg;
	uint32_t weight = weight_of(mg->group);
	uint64_t cost = p_cost(w, mclock_first(q)) + mg->p_rest, step = weir_div64(cost, weight);
	uint64_t level = weir_max64(m->p_time, mg->p_joined);
	uint64_t burst = step * weir_policy_tunable(w, MCLOCK_BURST);

	*rest = cost - step * weight;
	/* No further back than the others are, but for the burst that is allowed. */
	return weir_max64(mg->p_prev + step, level > burst ? level - burst : 0);
}

/* What would go by weight, and the group's place by it. */
static void update_group(struct weir *w, struct mclock *m, struct mclock_group *mg)
{
	struct mclock_queue *q = choose_queue(mg);
	uint64_t rest;

	mg->first = q;
	if (q)
		mg->p = p_of(w, m, q, &rest);
	place(&m->active, &mg->active, &mg->in_active, q, mg->p);
	place(&m->ready, &mg->ready, &mg->in_ready, q && q->ready, mg->p);
}

void mclock_retag(struct weir *w, struct mclock *m, struct mclock_queue *q)
{
	struct weir_rq *rq = mclock_first(q);
	uint64_t reserve_ns = rq ? reserve_tag_ns(q, rq) : WEIR_NEVER;
	uint64_t limit_ns = rq ? limit_tag_ns(q, rq) : WEIR_NEVER;

	q->ready = rq && limit_ns <= weir_now(w);
	place(&m->reserved, &q->reserved, &q->in_reserved, reserve_ns < WEIR_NEVER, reserve_ns);
	place(&m->limited, &q->limited, &q->in_limited, rq && !q->ready, limit_ns);
	update_group(w, m, q->mg);
}

void mclock_promote(struct weir *w, struct mclock *m)
{
	struct weir_rb *node;

	while ((node = weir_rb_first(&m->limited)) && node->key <= weir_now(w)) {
		struct mclock_queue *q = weir_container_of(node, struct mclock_queue, limited);

		q->ready = true;
		place(&m->limited, &q->limited, &q->in_limited, false, 0);
		update_group(w, m, q->mg);
	}
}

/* ---- what goes, and who comes ---- */

void mclock_join(const struct mclock *m, struct mclock_group *mg)
{
	const struct weir_rb *least = weir_rb_first(&m->active);

	mg->p_joined = weir_max64(m->p_time, least ? least->key : 0);
}

void mclock_charge(struct weir *w, struct mclock *m, struct mclock_queue *q, bool by_weight)
{
	struct mclock_group *mg = q->mg;
	const struct weir_rb *least;
	unsigned int n;

	for (n = 0; n < MCLOCK_NR_CLOCKS; n++) {
		clock_charge(&q->reserve[n], by_weight);
		clock_charge(&q->limit[n], false);
	}
	mg->p_prev = p_of(w, m, q, &mg->p_rest);
	/* Who is served in a batch, or past its limit, may be ahead of those whose turn it is. */
	least = weir_rb_first(&m->ready);
	if (by_weight && least)
		m->p_time = weir_max64(m->p_time, weir_min64(least->key, mg->p_prev));
	m->p_max = weir_max64(m->p_max, mg->p_prev);
}
