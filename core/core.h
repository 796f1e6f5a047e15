/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The instance, as the core's own files see it. Policies include core/spi.h, core/spi_state.h and
 * core/group.h.
 */
#ifndef WEIR_CORE_CORE_H
#define WEIR_CORE_CORE_H

#include <weir/weir.h>

#include "core/assert.h"
#include "core/cost.h"
#include "core/fixed.h"
#include "core/group.h"
#include "core/heap.h"
#include "core/list.h"
#include "core/spi.h"

#define WEIR_MERGE_BUCKETS 4096

struct weir_recorder;

struct weir {
	uint64_t now;
	struct weir_wait_clocks clocks;
	const struct weir_policy *policy;
	void *policy_data;
	struct weir_verdict verdict; /* preset, for the next dispatch that gives nothing */
	struct weir_heap turn_all;   /* for the policy: room for every group */
	uint64_t tunable[WEIR_TUNABLES_MAX];
	uint16_t epoch; /* grows with each switch of policy */
	bool drain;
	bool rare; /* weir_rare_update() */

	uint64_t seq; /* of the last insertion */
	uint64_t nr_held, nr_queued, nr_in_flight;
	/* So many in flight fill the device: cfg.device_depth, or no number does. */
	uint64_t full_at;
	uint64_t retry_ns; /* no dispatch before, unless something happens */

	/*
	 * Entitlement: time in which something was queued or in flight; up to where the root has
	 * it; and what it was when the statistics were reset.
	 */
	uint64_t in_use_ns, in_use_settled_ns, in_use_reset_ns;
	struct weir_list claims;

	struct weir_cost_model cost;

	/* Limits stage. */
	struct weir_heap limit_timers;
	uint32_t nr_limited; /* flows with a rate of their own */
	bool limit_root_ready[WEIR_NR_DIRS];

	uint32_t nr_judged; /* groups with a floor or a latency target */

	/* Admission. */
	uint32_t pool_used;
	uint64_t pool_lent; /* of 2^32: shares of those whose ceilings keep them from using them */
	bool waking, wake_again; /* weir_admission_wake() runs; and was asked for from within */
	struct weir_list admit_waiters;
	struct weir_list wake_end, wake_after; /* marks in it, while they are woken */

	/* Merging. */
	struct weir_rq *last_merge;
	struct weir_list merge_new; /* in order of arrival, not yet in the hash: core/merge.h */
	struct weir_list merge_hash[WEIR_MERGE_BUCKETS]; /* by end sector */

	struct weir_group *root;
	struct weir_list groups; /* parents before children */
	struct weir_list ctxs;
	uint32_t nr_groups, next_group_id, next_ctx_id;

	struct weir_switch *pending;	 /* prepared change of policy */
	struct weir_recorder *recorder;	 /* storage in the host's ring; NULL: off */
	struct weir_recorder *recording; /* the latest one, which may still be read out; or NULL */

	struct weir_config cfg;
	struct weir_host host;
};

/* The recorder must know of each time, also if the call itself is not recorded. */
void weir_rec_tick(struct weir *w);

/* Time up to now was in use, or not, and waited for one cause: by what the instance has just now. */
static inline void weir_advance(struct weir *w, uint64_t now)
{
	uint64_t passed_ns = now - w->now;

	weir_wait_advance(&w->clocks, passed_ns);
	if (w->nr_queued | w->nr_in_flight)
		w->in_use_ns += passed_ns;
	w->now = now;
}

/*
 * Is there anything that most requests have nothing to do with? Then inserting and completing look
 * for it; else they look here once. Called by whoever changes one of these.
 */
static inline void weir_rare_update(struct weir *w)
{
	w->rare = w->recorder || w->nr_limited || w->nr_held || w->nr_judged || w->drain ||
		  !list_is_empty(&w->claims) || !w->cfg.accounting;
}

/* Every call begins with this: time moves on, never back. */
static inline void weir_tick(struct weir *w, uint64_t now)
{
	if (now <= w->now)
		return;
	if (weir_unlikely(w->recorder != NULL))
		weir_rec_tick(w);
	if (weir_unlikely(!list_is_empty(&w->claims)) &&
	    list_first(&w->claims, struct weir_group, entitle.claim)->entitle.claim_end_ns <= now)
		weir_entitle_expire(w, now);
	weir_advance(w, now);
}

/* The same where nothing is rare. */
static inline void weir_tick_plain(struct weir *w, uint64_t now)
{
	if (now > w->now)
		weir_advance(w, now);
}

/* Frees a removed group, and then its removed ancestors, as far as nothing names them any more. */
void weir_group_reap(struct weir_group *g);
void weir_group_destroy(struct weir_group *g);
void weir_ctx_put(struct weir_ctx *ctx);
void weir_ctx_destroy(struct weir_ctx *ctx);

/* Takes a waiting request out of the limits stage or the policy. */
void weir_rq_unqueue(struct weir *w, struct weir_rq *rq);
/* A request leaves for good: its group and context are named once less. */
void weir_rq_left(struct weir *w, struct weir_rq *rq);

/* Policy of the prepared switch; only while there is one. */
const struct weir_policy *weir_switch_policy(const struct weir *w);
/* The policy begins afresh, as after a switch to itself. Nothing waits or is in flight. O(n). */
void weir_policy_restart(struct weir *w);

int weir_tunables_check(const struct weir_policy *policy, const uint64_t *tunables);
void weir_tunables_load(uint64_t *to, const struct weir_policy *policy, const uint64_t *from);

#endif
