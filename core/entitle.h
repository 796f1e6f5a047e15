/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a group was entitled to: the integral, over the time in which the device is in use, of its
 * share, where share(node) = share(parent) x weight / (sum of the active siblings' weights).
 *
 * Active means: has a request waiting or in flight somewhere below, or had one within the claim
 * (config.claim_ns). A node's own requests are one more child of its own_weight.
 *
 * Each node keeps a clock `unit`: entitlement per unit of active weight below it. A child's
 * entitlement grows by weight x (change of the parent's unit). So only a change of activity or
 * weight touches clocks, along one path: O(depth). This is the virtual time of generalised
 * processor sharing (Parekh and Gallager 1993), applied per level.
 *
 * Fixed point: `sum` is in ns << ENT_SHIFT; `unit` has UNIT_SHIFT more bits. What a division by the
 * active weight leaves over is kept and given out later, so nothing is lost however often clocks
 * are brought up to date. `unit` may wrap; a node must be brought up to date within 2^52 ns (52
 * days) of use, at weight 1. With more bits that would be seconds.
 */
#ifndef WEIR_CORE_ENTITLE_H
#define WEIR_CORE_ENTITLE_H

#include <weir/stats.h>

#define WEIR_ENT_SHIFT 8
#define WEIR_ENT_UNIT_SHIFT 4

struct weir_entitle {
	uint64_t sum;	    /* entitlement of the subtree */
	uint64_t unit;	    /* per unit of weight among the children */
	uint64_t seen_unit; /* parent's unit when sum was brought up to date */
	uint64_t own_sum, own_seen_unit;
	uint32_t weight_sum; /* of active children, own requests included: at most 2^32 / 10000 */
	uint32_t rest;	     /* gained and not yet in unit: less than weight_sum was */
	uint32_t nr_active;  /* active children, own requests included */
	bool own_active;
	bool claiming; /* own requests are gone, the claim runs */
	uint64_t claim_end_ns;
	uint64_t active_since_ns, active_ns;
	uint64_t active_reset_ns; /* active_ns when the statistics were reset */
	struct weir_list claim;	  /* in weir->claims, by end */
};

/* Ends the claims whose time has come, each at its own time: the instance's may move on up to now. */
void weir_entitle_expire(struct weir *w, uint64_t now);
/* The own requests: the first appeared, the last went. O(1), O(depth) if activity changes. */
void weir_entitle_busy(struct weir_group *g, uint64_t now);
void weir_entitle_quiet(struct weir_group *g, uint64_t now);
/* Before its weights change, and after. */
void weir_entitle_weights(struct weir_group *g, uint32_t weight, uint32_t own_weight);
/* Its claim ends now, if it has one. */
void weir_entitle_unclaim(struct weir_group *g, uint64_t now);
/* Its storage goes: no claim left behind. What it was entitled to becomes the parent's own. */
void weir_entitle_forget(struct weir_group *g, uint64_t now);
/* Share now, of 2^32, as if active: of g's own requests; of its subtree. O(depth). */
uint64_t weir_entitle_share(const struct weir_group *g);
uint64_t weir_entitle_node_share(const struct weir_group *g);
/* Of the subtree, or of the own requests only. O(depth). */
void weir_entitle_read(struct weir_group *g, bool own, struct weir_group_stats *out);
void weir_entitle_reset(struct weir_group *g);

#endif
