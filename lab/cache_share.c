// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each group's part of the dirty limits.
 *
 * A limit is divided like the device: down the tree, at each node among the children by io.weight,
 * with the node's own pages as one hidden child of weight own_weight. Only who is active counts: a
 * group that has dirty pages or writers that wait, or dirtied something within the last second. So
 * a lone writer has the whole limit, and a second one of equal weight halves it at its first page.
 *
 *	limit 100 MiB      root ---- a (weight 300) ---- a/x (100): 25 MiB
 *	                        |                   `--- a/y (200): 50 MiB
 *	                        `--- b (weight 100):                25 MiB
 *
 * Activation is O(depth). Leaving, and changes of weights, are noticed ten times a second, by
 * counting anew.
 */
#include "lab/cache_impl.h"

#define ACTIVE_NS (1000 * WEIR_NS_PER_MS)
#define REFRESH_NS (100 * WEIR_NS_PER_MS)
#define FRACTION_BITS 16 /* so that rounding at each level does not add up to a page */

static void read_weights(struct cache_group *g)
{
	struct weir_group_attr attr;

	weir_group_get(g->group, &attr);
	g->weight = attr.weight;
	g->own_weight = attr.own_weight;
}

void cache_share_activate(struct cache_group *g)
{
	uint32_t weight;

	if (g->own_active)
		return;
	g->own_active = true;
	if (!g->nr_active)
		read_weights(g);
	for (weight = g->own_weight;; g = g->parent) {
		g->active_weights += weight;
		if (g->nr_active++ || !g->parent)
			break;
		if (!g->parent->nr_active)
			read_weights(g->parent);
		weight = g->weight;
	}
}

static bool is_active(const struct cache_group *g, uint64_t now_ns)
{
	return g->nr_dirty || g->nr_writeback || g->writers.head ||
	       now_ns - g->dirtied_ns < ACTIVE_NS;
}

void cache_share_refresh(struct lab_cache *c, uint64_t now_ns)
{
	uint32_t slot;

	if (now_ns - c->share_fresh_ns < REFRESH_NS)
		return;
	c->share_fresh_ns = now_ns;
	for (slot = 0; slot < c->nr_groups; slot++) {
		c->group[slot]->nr_active = 0;
		c->group[slot]->active_weights = 0;
	}
	for (slot = 0; slot < c->nr_groups; slot++) {
		struct cache_group *g = c->group[slot];

		if (!g->own_active)
			continue;
		g->own_active = false;
		if (is_active(g, now_ns))
			cache_share_activate(g);
	}
}

uint64_t cache_share_pages(const struct cache_group *g, uint64_t limit_pages)
{
	uint64_t share = limit_pages << FRACTION_BITS;

	if (!g->own_active)
		return limit_pages;
	weir_assert(limit_pages >> (64 - FRACTION_BITS) == 0);
	share = weir_mul_div(share, g->own_weight, g->active_weights);
	for (; g->parent; g = g->parent)
		share = weir_mul_div(share, g->weight, g->parent->active_weights);
	share = (share + (UINT64_C(1) << (FRACTION_BITS - 1))) >> FRACTION_BITS;
	return weir_min64(limit_pages, weir_max64(share, CACHE_SHARE_MIN_PAGES));
}
