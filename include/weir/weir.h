/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * weir: which request goes to the device next.
 *
 * One instance schedules one device. The host brings time, memory, the lock and the device:
 *
 *   - every call is made under one lock of the host, except weir_may_dispatch();
 *   - `now` is any monotonic clock in nanoseconds; the core takes max(now, last);
 *   - memory is asked for only when instances, groups, contexts and policies are set up, never
 *     between insert and complete.
 *
 * A host's loop:
 *
 *	weir_insert(w, rq, WEIR_TAIL, now);
 *	while ((rq = weir_dispatch(w, now, &next)))
 *		start(rq);
 *	// none: ask again at next.at_ns, or after an insert or completion when that is WEIR_NEVER
 *	...
 *	weir_complete(w, rq, now);
 */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

#include <weir/group.h>
#include <weir/policy.h>
#include <weir/profile.h>
#include <weir/recorder.h>
#include <weir/request.h>
#include <weir/stats.h>
#include <weir/types.h>

#define WEIR_VERSION "0.1.0"

/* What the host does for the core. alloc returns zeroed memory or NULL. wake and note may be NULL.
 */
struct weir_host {
	void *(*alloc)(void *priv, size_t bytes);
	void (*free)(void *priv, void *p, size_t bytes);
	/* weir_admit() said no for this group, and now it may say yes. Called with the lock held.
	 */
	void (*wake)(void *priv, struct weir_group *g, enum weir_dir dir);
	/* A setting was clamped, a policy cannot enforce something: a line for the operator. */
	void (*note)(void *priv, const char *text);
	void *priv;
};

/*
 * What the device and its queue look like. weir_config_init() fills in the defaults given here.
 */
struct weir_config {
	struct weir_profile profile;
	uint32_t nr_requests;  /* 128: the policies' idea of queue size (sysfs nr_requests) */
	uint32_t pool;	       /* 0: requests that may be admitted at once; 0 is no limit */
	uint32_t device_depth; /* 0: what the device takes; 0 is unknown */
	uint32_t max_sectors;  /* 1024: largest request that merging may make */
	uint32_t claim_ns;     /* 2 ms: a group that empties stays active that long */
	bool merge;	       /* true: offer merge look-ups */
	/*
	 * true: keep wait causes and histograms. Counters, device time, entitlement and all answers
	 * are the same without. Fixed when the instance is created.
	 */
	bool accounting;
};

void weir_config_init(struct weir_config *cfg);

/*
 * An instance with one root group. policy may not be NULL. tunables: WEIR_TUNABLES_MAX values in
 * the order of the policy's table, or NULL for the defaults. NULL on -ENOMEM or values out of range
 * (*err).
 */
struct weir *weir_create(const struct weir_config *cfg, const struct weir_host *host,
			 const struct weir_policy *policy, const uint64_t *tunables, uint64_t now,
			 int *err);
/* The instance must be drained: nothing waiting, nothing in flight. Frees all groups and contexts.
 */
void weir_destroy(struct weir *w);

/* ---- admission ---- */

/*
 * May this group occupy one more request of the pool? On true the request counts as admitted until
 * weir_release(). On false the host waits for wake(), which comes with hysteresis. O(depth).
 */
bool weir_admit(struct weir *w, struct weir_group *g, enum weir_dir dir, uint32_t bytes,
		uint64_t now);
/* An admitted request gave its place back: it completed, was merged or removed, or never came. */
void weir_release(struct weir *w, struct weir_group *g, enum weir_dir dir, uint64_t now);
bool weir_congested(const struct weir_group *g, enum weir_dir dir);
/* Requests that the group may have admitted now; UINT32_MAX without any limit. O(depth). */
uint32_t weir_admit_limit(const struct weir_group *g, enum weir_dir dir);
/* There is no pool, and the policy has no limit of its own: weir_admit() never says no. O(1). */
bool weir_admits_all(const struct weir *w);
/* That it has; and all groups together. O(1). */
uint32_t weir_admitted(const struct weir_group *g, enum weir_dir dir);
uint32_t weir_pool_used(const struct weir *w);
/* It was refused a place and has not been woken since: wake() is yet to come. O(1). */
bool weir_admit_waits(const struct weir_group *g, enum weir_dir dir);

/* ---- the life of a request ---- */

enum weir_where {
	WEIR_TAIL,
	WEIR_HEAD, /* goes before everything of its group, and past the limits stage */
};

/* O(log n) in groups. rq must be NEW. */
void weir_insert(struct weir *w, struct weir_rq *rq, enum weir_where where, uint64_t now);

/* Answer of weir_dispatch() when there is nothing to start. */
struct weir_next {
	/*
	 * Earliest time at which asking again can succeed; WEIR_NEVER: only after an insert or a
	 * completion.
	 */
	uint64_t at_ns;
};

/* The next request, or NULL with *next (may be NULL) filled in. O(log n). */
struct weir_rq *weir_dispatch(struct weir *w, uint64_t now, struct weir_next *next);

/*
 * A cheap hint that needs no lock: false means that weir_dispatch() would return none. True may be
 * wrong.
 */
bool weir_may_dispatch(const struct weir *w, uint64_t now);

/* The device is done with it. O(log n). */
void weir_complete(struct weir *w, struct weir_rq *rq, uint64_t now);

enum weir_requeue {
	WEIR_REQUEUE_INSERT,  /* back into the queue, at the head; it is dispatched again */
	WEIR_REQUEUE_REISSUE, /* the host starts it again without asking; it stays in flight */
};
void weir_requeue(struct weir *w, struct weir_rq *rq, enum weir_requeue how, uint64_t now);

/* Its client vanished. -EBUSY if it is in the device already. O(log n). */
int weir_remove(struct weir *w, struct weir_rq *rq, uint64_t now);

/* Requests waiting (held or queued), those of them that a ceiling holds, and in flight. */
uint64_t weir_nr_waiting(const struct weir *w);
uint64_t weir_nr_held(const struct weir *w);
uint64_t weir_nr_in_flight(const struct weir *w);

/*
 * Forced drain: while on, weir_dispatch() returns everything as fast as it is asked, past limits,
 * depth and shares.
 */
void weir_set_drain(struct weir *w, bool on, uint64_t now);

/* ---- merging: the host decides, the core looks up and keeps the books ---- */

enum weir_merge {
	WEIR_MERGE_NONE,
	WEIR_MERGE_BACK,
	WEIR_MERGE_FRONT,
};

/*
 * A waiting request that bio (not inserted; filled in as for insertion) could join at the back or
 * front, within max_sectors and the policy's rules. Never across groups. O(1) for back merges, the
 * policy's look-up for front merges. WEIR_MERGE_NONE leaves *into NULL.
 */
enum weir_merge weir_merge_find(struct weir *w, const struct weir_rq *bio, struct weir_rq **into,
				uint64_t now);
/*
 * The host joined bio to into. into grows; bio counts as inserted and merged, and is the host's
 * again. Returns a neighbour that now touches `into` and may be joined with weir_merge_rq(), or
 * NULL.
 */
struct weir_rq *weir_merge_bio(struct weir *w, struct weir_rq *into, const struct weir_rq *bio,
			       enum weir_merge kind, uint64_t now);
/* The host joined two waiting requests: `second` (the higher sectors) is absorbed and leaves. */
void weir_merge_rq(struct weir *w, struct weir_rq *first, struct weir_rq *second, uint64_t now);

/* ---- policy ---- */

const struct weir_policy *weir_current_policy(const struct weir *w);

struct weir_switch; /* a prepared change of policy */

/*
 * Prepare may allocate and needs no request to be absent; commit moves all waiting requests over in
 * insertion order, cannot fail, O(n). What the old policy left in flight is completed under the new
 * one. weir_switch_cancel() gives a prepared one back.
 */
struct weir_switch *weir_switch_prepare(struct weir *w, const struct weir_policy *policy,
					const uint64_t *tunables, int *err);
void weir_switch_commit(struct weir *w, struct weir_switch *sw, uint64_t now);
void weir_switch_cancel(struct weir *w, struct weir_switch *sw);

/* Tunables by index in the policy's table. -EINVAL: no such; -ERANGE: outside min..max. */
int weir_tunable_set(struct weir *w, unsigned int index, uint64_t value, uint64_t now);
uint64_t weir_tunable_get(const struct weir *w, unsigned int index);

/* Change of what the device is: a new profile, another nr_requests or pool. */
int weir_reconfigure(struct weir *w, const struct weir_config *cfg, uint64_t now);
void weir_get_config(const struct weir *w, struct weir_config *cfg);

/* Device time that a request would be priced at, by a profile alone. */
uint64_t weir_profile_cost_ns(const struct weir_profile *p, enum weir_op op, uint32_t nr_sectors,
			      bool random);
/* NULL if the profile can be used, else what is wrong with it. */
const char *weir_profile_check(const struct weir_profile *p);

/*
 * Hook of the host for what only a bug can cause. User space: say it and abort. Kernel: warn once
 * and return; the core then goes on serving. libweir has a default that aborts.
 */
__attribute__((cold)) void weir_assert_fail(const char *expr, const char *file, int line);

#endif
