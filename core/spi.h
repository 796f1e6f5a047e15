/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a policy provides, and what it may call.
 *
 * A policy sees only requests that the limits stage has let through. It keeps per-instance,
 * per-group, per-context and per-request state in areas that the core gives it, zeroed. Everything
 * runs under the instance's lock. No allocation after init.
 */
#ifndef WEIR_CORE_SPI_H
#define WEIR_CORE_SPI_H

#include <weir/weir.h>

/* Why a dispatch gave nothing, for the accounting of waits. */
enum weir_stall {
	WEIR_STALL_NONE,    /* nothing queued */
	WEIR_STALL_DEPTH,   /* enough in flight; next says whose turn it would be */
	WEIR_STALL_LATENCY, /* the same, and the depth is held down for a latency target */
	WEIR_STALL_FLOOR,   /* enough in flight, and `next` goes first because of its floor */
	WEIR_STALL_IDLE,    /* waiting for more from one stream on purpose */
};

/* Preset, and left so by a dispatch that gives a request. */
struct weir_verdict {
	uint64_t at_ns;		 /* when to ask again; preset to WEIR_NEVER */
	enum weir_stall why;	 /* preset to WEIR_STALL_NONE */
	struct weir_group *next; /* whose request goes next, or NULL */
};

/* What changed, for group_changed(). */
enum {
	WEIR_CHANGED_WEIGHT = 1 << 0,
	WEIR_CHANGED_LOW = 1 << 1,
	WEIR_CHANGED_LATENCY = 1 << 2,
	WEIR_CHANGED_MAX = 1 << 3,
};

/*
 * What a policy that divides the request pool by a rule of its own says of a group, for one
 * direction: see `places` below. 1 <= off <= on <= most; with off < on congestion has hysteresis.
 */
struct weir_places {
	uint32_t most; /* requests that may be admitted at once */
	uint32_t on;   /* congested when it has so many */
	uint32_t off;  /* and until it has less than so many */
	uint32_t wake; /* who was refused may ask again when it has less than so many; 1..most */
};

/* The block layer's marks on a pool of n requests, n > 0: 128 gives on at 113, off below 103. */
static inline uint32_t weir_on_mark(uint32_t n)
{
	uint32_t on = n - n / 8 + 1;

	return on < n ? on : n;
}

static inline uint32_t weir_off_mark(uint32_t n)
{
	uint32_t less = n / 8 + n / 16 + 1;

	return n > less ? n - less : 1;
}

struct weir_policy {
	struct weir_policy_info info;
	uint32_t instance_size; /* bytes of state */
	uint32_t group_size;
	uint32_t ctx_size;

	/*
	 * State of the instance is zeroed, its tunables are set (weir_policy_tunable()), and no
	 * group is online yet. It may fail only at creation of an instance, never in a switch.
	 * `exit` is called with all groups offline. Both may be NULL, as may all hooks except
	 * insert, dispatch and remove.
	 */
	int (*init)(struct weir *w);
	void (*exit)(struct weir *w);

	/* Parents go online before and offline after their children; the root is one of them. */
	void (*group_online)(struct weir *w, struct weir_group *g);
	void (*group_offline)(struct weir *w, struct weir_group *g); /* no request of it is left */
	void (*group_changed)(struct weir *w, struct weir_group *g, unsigned int what);
	void (*ctx_online)(struct weir *w, struct weir_ctx *ctx);
	void (*ctx_offline)(struct weir *w, struct weir_ctx *ctx); /* no request of it is left */
	void (*ctx_moved)(struct weir *w, struct weir_ctx *ctx, struct weir_group *from);

	/* rq->policy is garbage on insert. Head insertions go before everything of their group. */
	void (*insert)(struct weir *w, struct weir_rq *rq, enum weir_where where);
	/* force: anything, at once; NULL only if nothing is queued. */
	struct weir_rq *(*dispatch)(struct weir *w, bool force, struct weir_verdict *v);
	/*
	 * Whose request would go next; asked when the device itself is full (config.device_depth),
	 * for the accounting of waits. No side effects, O(log n). NULL if not known.
	 */
	struct weir_group *(*next_group)(struct weir *w);
	/*
	 * The part of the device, of 2^32, that g is promised whatever its weight: it may have as
	 * much of the request pool. Default: none. O(depth)
	 */
	uint64_t (*promised)(struct weir *w, const struct weir_group *g);
	/*
	 * How many requests g may have of the pool in this direction, whatever the other direction
	 * and other groups have, and with which marks; in force also where the host has set no pool.
	 * config.pool, where there is one, stays the limit of all groups together. Answers may change
	 * only with the policy's tunables and in group_changed(). Default: by entitlement, with the
	 * block layer's marks, as core/admission.h tells. O(1)
	 */
	void (*places)(struct weir *w, const struct weir_group *g, enum weir_dir dir,
		       struct weir_places *out);
	void (*complete)(struct weir *w, struct weir_rq *rq);
	/* It left the device without completing: it will be inserted at the head right after. */
	void (*undispatch)(struct weir *w, struct weir_rq *rq);
	/* A queued request leaves: its client vanished, or it was absorbed. */
	void (*remove)(struct weir *w, struct weir_rq *rq);

	/* May bio join rq, making it nr_sectors long? Default: yes. */
	bool (*may_merge)(struct weir *w, const struct weir_rq *rq, const struct weir_rq *bio,
			  uint32_t nr_sectors);
	/*
	 * A queued request that starts where bio ends, or NULL. Group and size are checked by the
	 * core.
	 */
	struct weir_rq *(*find_front)(struct weir *w, const struct weir_rq *bio);
	/* rq grew at its back or front (cost_ns grew by added_cost_ns). */
	void (*merged)(struct weir *w, struct weir_rq *rq, enum weir_merge kind,
		       uint64_t added_cost_ns);
	/* `second` is about to be absorbed by `first` (and then removed). */
	void (*joining)(struct weir *w, struct weir_rq *first, struct weir_rq *second);
	/* Neighbours in the policy's order, for joining after a merge; default: end-sector look-up.
	 */
	struct weir_rq *(*latter)(struct weir *w, struct weir_rq *rq);
	struct weir_rq *(*former)(struct weir *w, struct weir_rq *rq);

	/*
	 * How long a task of g should pause before it goes on, for what it caused and could not be
	 * held back: weir_group_delay_ns(). Default: not at all. No side effects. O(depth)
	 */
	uint64_t (*delay_ns)(struct weir *w, const struct weir_group *g, uint64_t now);

	/* A tunable was set; UINT32_MAX: the configuration changed. */
	void (*tuned)(struct weir *w, unsigned int index);
};

/* ---- for policies, with what spi_state.h has ---- */

/* Has g a request waiting or in flight, or is it within its claim? O(1) */
bool weir_group_is_active(const struct weir_group *g);
/* Time in which that was so. A reset of the statistics does not touch it. O(1) */
uint64_t weir_group_active_ns(const struct weir_group *g);
/* Since when that has been so without a gap; only while it is. */
uint64_t weir_group_active_since_ns(const struct weir_group *g);
/* Tells the operator, through the host's note(). */
void weir_note(struct weir *w, const char *text);

extern const struct weir_policy weir_policy_noop;
extern const struct weir_policy weir_policy_deadline;
extern const struct weir_policy weir_policy_anticipatory;
extern const struct weir_policy weir_policy_cfq;
extern const struct weir_policy weir_policy_efq;
extern const struct weir_policy weir_policy_tpps;
extern const struct weir_policy weir_policy_bfq;
extern const struct weir_policy weir_policy_mq_deadline;
extern const struct weir_policy weir_policy_kyber;
extern const struct weir_policy weir_policy_iocost;
extern const struct weir_policy weir_policy_mclock;
extern const struct weir_policy weir_policy_sfqd;
extern const struct weir_policy weir_policy_weir;

#endif
