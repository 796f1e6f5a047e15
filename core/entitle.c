/* SPDX-License-Identifier: GPL-2.0-only */
/* Entitlement by active weights: see entitle.h. */
#include "core/core.h"

/* a * b >> shift, for products beyond 64 bits; the result must fit. */
static uint64_t mul_shift(uint64_t a, uint64_t b, unsigned int shift)
{
	uint64_t hi, lo;

	weir_mul128(a, b, &hi, &lo);
	return hi << (64 - shift) | lo >> shift;
}

static void settle_node(struct weir_group *g)
{
	struct weir_entitle *e = &g->entitle;
	uint64_t gain;

	if (g->parent) {
		uint64_t unit = g->parent->entitle.unit;

		gain = e->nr_active
			       ? mul_shift(g->attr.weight, unit - e->seen_unit, WEIR_ENT_UNIT_SHIFT)
			       : 0;
		e->seen_unit = unit;
	} else {
		gain = g->w->in_use_pending_ns << WEIR_ENT_SHIFT;
		g->w->in_use_pending_ns = 0;
	}
	e->sum += gain;
	if (gain && e->weight_sum)
		e->unit += weir_mul_div(gain, UINT64_C(1) << WEIR_ENT_UNIT_SHIFT, e->weight_sum);
	if (e->own_active)
		e->own_sum += mul_shift(g->attr.own_weight, e->unit - e->own_seen_unit,
					WEIR_ENT_UNIT_SHIFT);
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

/* Time up to now was in use, or not: by what the instance has just now. */
static void integrate(struct weir *w, uint64_t now)
{
	if (w->nr_queued || w->nr_in_flight) {
		w->in_use_pending_ns += now - w->in_use_last_ns;
		w->in_use_ns += now - w->in_use_last_ns;
	}
	w->in_use_last_ns = now;
}

static void expire_claims(struct weir *w, uint64_t now)
{
	while (!list_is_empty(&w->claims)) {
		struct weir_group *g = list_first(&w->claims, struct weir_group, entitle.claim);

		if (g->entitle.claim_end_ns > now)
			break;
		integrate(w, g->entitle.claim_end_ns);
		list_unlink(&g->entitle.claim);
		g->entitle.claiming = false;
		deactivate(g, g->entitle.claim_end_ns);
	}
}

void weir_entitle_advance(struct weir *w, uint64_t now)
{
	if (!list_is_empty(&w->claims))
		expire_claims(w, now);
	integrate(w, now);
}

void weir_entitle_busy(struct weir_group *g, uint64_t now)
{
	struct weir_entitle *e = &g->entitle;

	if (e->claiming) {
		list_unlink(&e->claim);
		e->claiming = false;
	} else {
		activate(g, now);
	}
}

void weir_entitle_quiet(struct weir_group *g, uint64_t now)
{
	struct weir_entitle *e = &g->entitle;

	/* One constant length, so the list is in order of its ends. A change of claim_ns may break
	 * the order for one claim's length; the later end then waits for the earlier one behind it. */
	e->claiming = true;
	e->claim_end_ns = now + g->w->cfg.claim_ns;
	list_push_back(&g->w->claims, &e->claim);
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

void weir_entitle_forget(struct weir_group *g, uint64_t now)
{
	if (!g->entitle.claiming)
		return;
	list_unlink(&g->entitle.claim);
	g->entitle.claiming = false;
	deactivate(g, now);
}

uint64_t weir_entitle_share(const struct weir_group *g)
{
	const struct weir_entitle *e = &g->entitle;
	uint32_t weight = g->attr.own_weight;
	bool active = e->own_active;
	uint64_t share = UINT64_C(1) << 32;

	for (; g; g = g->parent) {
		uint32_t sum = g->entitle.weight_sum + (active ? 0 : weight);

		share = weir_div64(share * weight, sum);
		weight = g->attr.weight;
		active = g->entitle.nr_active > 0;
	}
	return share;
}

void weir_entitle_read(struct weir_group *g, uint64_t now, struct weir_group_stats *out)
{
	struct weir_entitle *e = &g->entitle;

	settle(g);
	out->entitled_ns = e->sum >> WEIR_ENT_SHIFT;
	out->in_use_ns = g->w->in_use_ns;
	out->active_ns = e->active_ns + (e->nr_active ? now - e->active_since_ns : 0);
}

void weir_entitle_reset(struct weir_group *g, uint64_t now)
{
	struct weir_entitle *e = &g->entitle;

	settle(g);
	e->sum = 0;
	e->own_sum = 0;
	e->active_ns = 0;
	e->active_since_ns = now;
}
