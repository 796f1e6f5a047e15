/* SPDX-License-Identifier: GPL-2.0-only */
/* Entitlement by active weights: see entitle.h. */
#include "core/core.h"

/*
 * What that weight gains while the clock goes on by so much. The product is at most the whole
 * node's gain in the clock's unit, which fits.
 */
static uint64_t part(uint32_t weight, uint64_t units)
{
	return weight * units >> WEIR_ENT_UNIT_SHIFT;
}

static void settle_node(struct weir_group *g)
{
	struct weir_entitle *e = &g->entitle;
	uint64_t gain;

	if (g->parent) {
		uint64_t unit = g->parent->entitle.unit;

		gain = e->nr_active ? part(g->attr.weight, unit - e->seen_unit) : 0;
		e->seen_unit = unit;
	} else {
		gain = (g->w->in_use_ns - g->w->in_use_settled_ns) << WEIR_ENT_SHIFT;
		g->w->in_use_settled_ns = g->w->in_use_ns;
	}
	e->sum += gain;
	if (gain && e->weight_sum) {
		uint64_t give = (gain << WEIR_ENT_UNIT_SHIFT) + e->rest;
		uint64_t units = weir_div64(give, e->weight_sum);

		e->unit += units;
		e->rest = (uint32_t)(give - units * e->weight_sum);
	}
	if (e->own_active)
		e->own_sum += part(g->attr.own_weight, e->unit - e->own_seen_unit);
	e->own_seen_unit = e->unit;
}

/* Brings the path from the root down to g up to date. O(depth). */
static void settle(struct weir_group *g)
{
	struct weir_group *path[WEIR_GROUP_DEPTH_MAX + 1];
	unsigned int n = 0;

	for (; g; g = g->parent)
		path[n++] = g;
	while (n)
		settle_node(path[--n]);
}

static void activate(struct weir_group *g, uint64_t now)
{
	uint32_t weight = g->attr.own_weight;

	settle(g);
	g->entitle.own_active = true;
	for (; g; g = g->parent) {
		struct weir_entitle *e = &g->entitle;

		e->weight_sum += weight;
		weight = g->attr.weight;
		if (e->nr_active++)
			return;
		e->active_since_ns = now;
	}
}

static void deactivate(struct weir_group *g, uint64_t now)
{
	uint32_t weight = g->attr.own_weight;

	settle(g);
	g->entitle.own_active = false;
	for (; g; g = g->parent) {
		struct weir_entitle *e = &g->entitle;

		weir_assert(e->nr_active > 0 && e->weight_sum >= weight);
		e->weight_sum -= weight;
		weight = g->attr.weight;
		if (--e->nr_active)
			return;
		e->active_ns += now - e->active_since_ns;
	}
}

static void end_claim(struct weir_group *g)
{
	list_unlink(&g->entitle.claim);
	g->entitle.claiming = false;
	weir_rare_update(g->w);
}

/* Who waits for admission has its claim renewed, as long as it takes. */
static bool renew_claim(struct weir_group *g, uint64_t now)
{
	struct weir_entitle *e = &g->entitle;

	if (!g->admission[WEIR_READ].waiting && !g->admission[WEIR_WRITE].waiting)
		return false;
	e->claim_end_ns = now + weir_max64(g->w->cfg.claim_ns, 1);
	list_unlink(&e->claim);
	list_push_back(&g->w->claims, &e->claim);
	return true;
}

void weir_entitle_expire(struct weir *w, uint64_t now)
{
	while (!list_is_empty(&w->claims)) {
		struct weir_group *g = list_first(&w->claims, struct weir_group, entitle.claim);
		uint64_t end_ns = g->entitle.claim_end_ns;

		if (end_ns > now)
			break;
		if (renew_claim(g, now))
			continue;
		/* It may have stood behind one with a later end: time doesn't run back for it. */
		end_ns = weir_max64(end_ns, w->now);
		weir_advance(w, end_ns);
		end_claim(g);
		deactivate(g, end_ns);
	}
}

void weir_entitle_busy(struct weir_group *g, uint64_t now)
{
	if (g->entitle.claiming)
		end_claim(g);
	else
		activate(g, now);
}

void weir_entitle_quiet(struct weir_group *g, uint64_t now)
{
	struct weir_entitle *e = &g->entitle;

	/* One constant length, so the list is in order of its ends. A change of claim_ns may break
	 * the order for one claim's length; the later end then waits for the earlier one behind it.
	 */
	e->claiming = true;
	e->claim_end_ns = now + g->w->cfg.claim_ns;
	list_push_back(&g->w->claims, &e->claim);
	weir_rare_update(g->w);
}

void weir_entitle_weights(struct weir_group *g, uint32_t weight, uint32_t own_weight)
{
	struct weir_entitle *e = &g->entitle;

	settle(g);
	if (e->nr_active && g->parent)
		g->parent->entitle.weight_sum += weight - g->attr.weight;
	if (e->own_active)
		e->weight_sum += own_weight - g->attr.own_weight;
	g->attr.weight = weight;
	g->attr.own_weight = own_weight;
}

void weir_entitle_unclaim(struct weir_group *g, uint64_t now)
{
	if (!g->entitle.claiming)
		return;
	end_claim(g);
	deactivate(g, now);
}

void weir_entitle_forget(struct weir_group *g, uint64_t now)
{
	weir_entitle_unclaim(g, now);
	settle(g);
	if (g->parent)
		g->parent->entitle.own_sum += g->entitle.sum;
}

/* What is left of a part of g, in which something of that weight competes, is active or will be. */
static uint64_t share_in(const struct weir_group *g, uint64_t share, uint32_t weight, bool active)
{
	for (; g; g = g->parent) {
		uint32_t sum = g->entitle.weight_sum + (active ? 0 : weight);

		share = weir_div64(share * weight, sum);
		weight = g->attr.weight;
		active = g->entitle.nr_active > 0;
	}
	return share;
}

uint64_t weir_entitle_share(const struct weir_group *g)
{
	return share_in(g, UINT64_C(1) << 32, g->attr.own_weight, g->entitle.own_active);
}

uint64_t weir_entitle_node_share(const struct weir_group *g)
{
	return share_in(g->parent, UINT64_C(1) << 32, g->attr.weight, g->entitle.nr_active > 0);
}

void weir_entitle_read(struct weir_group *g, bool own, struct weir_group_stats *out)
{
	struct weir_entitle *e = &g->entitle;

	settle(g);
	out->entitled_ns = (own ? e->own_sum : e->sum) >> WEIR_ENT_SHIFT;
	out->in_use_ns = g->w->in_use_ns - g->w->in_use_reset_ns;
	out->active_ns = weir_group_active_ns(g) - e->active_reset_ns;
}

bool weir_group_is_active(const struct weir_group *g)
{
	return g->entitle.nr_active > 0;
}

uint64_t weir_group_active_ns(const struct weir_group *g)
{
	const struct weir_entitle *e = &g->entitle;

	return e->active_ns + (e->nr_active ? g->w->now - e->active_since_ns : 0);
}

uint64_t weir_group_active_since_ns(const struct weir_group *g)
{
	return g->entitle.active_since_ns;
}

void weir_entitle_reset(struct weir_group *g)
{
	struct weir_entitle *e = &g->entitle;

	settle(g);
	e->sum = 0;
	e->own_sum = 0;
	/* Policies go by the rest: statistics must not change what they do. */
	e->active_reset_ns = weir_group_active_ns(g);
}
