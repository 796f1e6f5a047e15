/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the files of iocost. iocost.c has the whole story and the hooks; model.c what a request
 * costs and the parameters, weights.c each group's part, charge.c who may go and who waits, debt.c
 * what could not wait, period.c the work at the end of each period, donate.c the lending in it.
 */
#ifndef WEIR_POLICY_IOCOST_INTERNAL_H
#define WEIR_POLICY_IOCOST_INTERNAL_H

#include "core/assert.h"
#include "core/fixed.h"
#include "core/group.h"
#include "core/heap.h"
#include "core/list.h"
#include "core/spi.h"
#include "core/spi_state.h"

enum {
	/* The whole device, as a part: fine enough for any group, and products fit 64 bits. */
	IOCOST_ONE = 1 << 16,
	/* Virtual time is in 1/256 ns: the cost of a page must not round, 100 times faster fits. */
	IOCOST_VTIME_SHIFT = 8,
	/* Rates of virtual time: 1:1 is 2^20, so 1 % is still exact to four digits. */
	IOCOST_RATE_ONE = 1 << 20,
	/* ns x rate >> this is virtual time. */
	IOCOST_RATE_SHIFT = 20 - IOCOST_VTIME_SHIFT,
	/* More than 16 MiB from where the group's last request ended: random. */
	IOCOST_RANDOM_PAGES = 4096,

	/* Below this budget, in percent of a period, a lender takes back; above `low` it may lend. */
	IOCOST_MARGIN_MIN = 10,
	IOCOST_MARGIN_LOW = 20,
	/* What a group should have left over: enough to begin at once after a pause. */
	IOCOST_MARGIN_TARGET = 50,
	/* A lender takes back in steps of this part of its weight, so that it takes no more than
	   it needs. */
	IOCOST_TAKE_BACK = 25,
	/* Waiters are woken this part of a period late: some together. */
	IOCOST_SLACK = 1,

	/* More of this for requests waiting for a place in the device means it is full. */
	IOCOST_WAIT_BUSY = 5,
	/* And it has room when all is below this part of the thresholds. */
	IOCOST_UNBUSY = 75,
	IOCOST_BUSY_MAX = 1000,
	/* A request that is out for more periods than this no longer counts as lagging. */
	IOCOST_LAGGING_PERIODS = 10,
	/* A rate outside its bounds, which may have moved, comes back in such steps. */
	IOCOST_CLAMP_STEP = 4,

	/* Debt in percent of a period at which tasks begin to be delayed, and are most. */
	IOCOST_DELAY_FROM = 500,
	IOCOST_DELAY_TO = 25000,
	/* Debts are forgiven while less than this part of the device is used. */
	IOCOST_FORGIVE_BELOW = 50,

	/* Periods that are caught up with after nobody called for long; more are left out. */
	IOCOST_CATCH_UP = 64,
};

#define IOCOST_PERIOD_MIN_NS WEIR_NS_PER_MS
#define IOCOST_PERIOD_MAX_NS WEIR_NS_PER_S
#define IOCOST_DELAY_MIN_NS (250 * WEIR_NS_PER_US)
#define IOCOST_DELAY_MAX_NS (250 * WEIR_NS_PER_MS)
#define IOCOST_FORGIVE_NS (100 * WEIR_NS_PER_MS)
/* Built-in models are changed when the rate has been beyond their marks for so long. */
#define IOCOST_MODEL_NS (10 * WEIR_NS_PER_S)
/* Debts end here, 2^42 ns of device time: conversions fit. */
#define IOCOST_DEBT_MAX (UINT64_C(1) << 50)
/* No single cost in a group's own time is more: a quarter of what the clock compares. */
#define IOCOST_COST_MAX (UINT64_C(1) << 60)

enum {
	IOCOST_RPCT,
	IOCOST_RLAT,
	IOCOST_WPCT,
	IOCOST_WLAT,
	IOCOST_MIN,
	IOCOST_MAX,
	IOCOST_AUTO,
	IOCOST_RBPS,
	IOCOST_RSEQIOPS,
	IOCOST_RRANDIOPS,
	IOCOST_WBPS,
	IOCOST_WSEQIOPS,
	IOCOST_WRANDIOPS,
	IOCOST_NR_TUNABLES,
};

/* What a request costs, in virtual time. */
struct iocost_model {
	uint64_t page[WEIR_NR_DIRS];
	uint64_t base[WEIR_NR_DIRS][2]; /* [random] */
};

struct iocost_clock {
	uint64_t at_ns, v; /* at that time it stood at v */
	uint64_t rate;
};

struct iocost {
	struct weir *w;
	struct weir_list ready;	 /* rq->link: charged, in order */
	struct weir_list active; /* groups, the latest first */
	uint32_t in_flight;
	struct weir_rq *requeued; /* on its way back from the device */
	uint64_t now;		  /* of what is being caught up with */
	struct iocost_clock clock;
	uint64_t base_rate;  /* without the compensation of the running period */
	int64_t error;	     /* virtual time gained (> 0) or thrown away, not yet made up for */
	uint32_t generation; /* of all weights */
	bool running;	     /* a period is */
	uint64_t period_at_ns, period_at_v, period_end_ns, period_nr;

	struct iocost_model model;
	uint32_t builtin; /* number of the built-in model, if ctrl says so */
	uint64_t too_fast_since_ns, too_slow_since_ns;
	uint64_t latency_ns[WEIR_NR_DIRS];
	uint32_t miss_ppm[WEIR_NR_DIRS]; /* allowed */
	uint64_t period_ns, slack_ns;	 /* of the next period */
	uint64_t rate_min, rate_max;
	uint64_t margin_min, margin_low, margin_target; /* in virtual time */

	/* Of the running period. */
	uint64_t met[WEIR_NR_DIRS], missed[WEIR_NR_DIRS];
	uint64_t device_wait_ns; /* sum over requests */
	int32_t busy_level;
	uint32_t nr_shortages, nr_lagging;

	uint64_t forgive_since_ns, forgive_rest_ns, forgive_usage_ns;
};

struct iocost_group {
	struct weir_group *group;
	struct iocost_group *parent;
	struct weir_list active; /* in iocost->active, while is_active */
	bool is_active;
	struct weir_list waiting; /* rq->link, in order of arrival */
	uint32_t nr_waiting;
	struct weir_heap_item timer; /* in weir_turn_all(): when to look at `waiting` */
	uint64_t timer_ns;

	/* Weights are IOCOST_ONE times the operator's, so that lending does not round. */
	uint32_t weight, active_weight, inuse, lent_inuse;
	uint64_t child_active, child_inuse; /* sums */
	uint32_t generation;		    /* of the two that follow */
	uint32_t hw_active, hw_inuse;	    /* parts of IOCOST_ONE */
	int64_t saved_margin;

	uint64_t cursor; /* end of the last request; 0: none yet */
	uint64_t vtime, done_vtime;
	uint64_t debt; /* virtual time of the device, not of the group */
	uint64_t delay_ns, delay_at_ns;
	uint64_t active_period, active_at_ns;
	uint64_t usage, usage_seen; /* virtual time of the device */
	uint64_t usage_ns;	    /* of the last period */

	/* While lending is computed. */
	struct weir_list lending; /* lenders, or inner nodes above them */
	bool in_walk;
	uint32_t hw_lending, hw_after;
	uint64_t adjusted;
};

enum iocost_state {
	IOCOST_READY,
	IOCOST_WAITING,
	IOCOST_ISSUED,
};

/* In rq->policy. */
struct iocost_rq {
	uint64_t abs_cost; /* of the device's time */
	uint64_t cost;	   /* of the group's, as charged; 0: was not */
	uint64_t ready_ns;
	uint32_t sectors; /* as charged */
	uint8_t state;
	bool fence; /* put at the head: nothing merges with it */
};

_Static_assert(sizeof(struct iocost_rq) <= WEIR_RQ_POLICY_BYTES, "does not fit into a request");

static inline struct iocost *iocost_of(const struct weir *w)
{
	return weir_policy_data(w);
}

static inline struct iocost_group *iocost_group(const struct weir_group *g)
{
	return g->policy;
}

static inline struct iocost_rq *iocost_rq(struct weir_rq *rq)
{
	return (struct iocost_rq *)rq->policy;
}

/* Somebody must have it at once, whichever group it is charged to: it is never held back. */
static inline bool iocost_cannot_wait(const struct weir_rq *rq)
{
	return rq->flags & WEIR_RQ_META;
}

static inline uint64_t iocost_div_up(uint64_t n, uint64_t d)
{
	uint64_t q = weir_div64(n, d);

	return q + (q * d != n);
}

/* Virtual time that passes at this rate. */
static inline uint64_t iocost_vtime(uint64_t ns, uint64_t rate)
{
	uint64_t hi, lo;

	weir_mul128(ns, rate, &hi, &lo);
	if (hi >> IOCOST_RATE_SHIFT)
		return UINT64_MAX;
	return hi << (64 - IOCOST_RATE_SHIFT) | lo >> IOCOST_RATE_SHIFT;
}

/* And the time in which it does, rounded up. */
static inline uint64_t iocost_wall_ns(uint64_t vtime, uint64_t rate)
{
	uint64_t ns = weir_mul_div(vtime, UINT64_C(1) << IOCOST_RATE_SHIFT, rate);

	return ns + (iocost_vtime(ns, rate) < vtime);
}

/* ---- model.c ---- */

extern const struct weir_tunable iocost_tunables[];
/* Everything that follows from tunables and configuration. */
void iocost_refresh(struct iocost *ioc);
/* With built-in models: is another one due? */
void iocost_try_model(struct iocost *ioc);
void iocost_refresh_margins(struct iocost *ioc);
/* Device time of so many sectors; 0: not charged. */
uint64_t iocost_cost(const struct iocost *ioc, const struct weir_rq *rq, uint32_t sectors,
		     const uint64_t *cursor);
/* The part of it that is for the size alone, in ns. */
uint64_t iocost_size_ns(const struct iocost *ioc, const struct weir_rq *rq);

/* ---- weights.c ---- */

void iocost_set_rate(struct iocost *ioc, uint64_t rate);
uint64_t iocost_vnow(const struct iocost *ioc);
uint64_t iocost_scaled(uint64_t abs_cost, uint32_t hw);
uint64_t iocost_unscaled(uint64_t cost, uint32_t hw);
/* A leaf's weights, and what follows for the nodes above. */
void iocost_weigh(struct iocost *ioc, struct iocost_group *ig, uint32_t active, uint32_t inuse);
/* Its budget now is what later ones are compared with, to see whether it shrinks. */
void iocost_save_margin(struct iocost *ioc, struct iocost_group *ig);
/* hw_active and hw_inuse are up to date after it. O(depth) after a change, else O(1). */
void iocost_parts(const struct iocost *ioc, struct iocost_group *ig);
/* What hw_inuse would be if it lent nothing. */
uint32_t iocost_part_unlent(const struct iocost_group *ig);
/* False: its requests are not controlled, since it is not a leaf. */
bool iocost_activate(struct iocost *ioc, struct iocost_group *ig);
void iocost_deactivate(struct iocost *ioc, struct iocost_group *ig);

/* ---- charge.c ---- */

void iocost_make_ready(struct iocost *ioc, struct weir_rq *rq);
/* A new request: it is charged, or waits. */
void iocost_submit(struct iocost *ioc, struct iocost_group *ig, struct weir_rq *rq);
/* rq has grown. */
void iocost_grown(struct iocost *ioc, struct iocost_group *ig, struct weir_rq *rq, bool back);
/* Debts are paid, who has the budget goes, and the timer is set for the next. */
void iocost_kick(struct iocost *ioc, struct iocost_group *ig);
/* One of the waiting has left. */
void iocost_waiter_left(struct iocost *ioc, struct iocost_group *ig);
/* Timers and periods up to now, each at its own time. */
void iocost_catch_up(struct iocost *ioc);
/* The next of them. */
uint64_t iocost_next_ns(const struct iocost *ioc);

/* ---- debt.c ---- */

void iocost_incur(struct iocost *ioc, struct iocost_group *ig, uint64_t abs_cost);
/* Out of the budget, in the group's time; returns what is left of it, below 0 while in debt. */
int64_t iocost_pay(struct iocost *ioc, struct iocost_group *ig, int64_t budget);
void iocost_update_delay(struct iocost *ioc, struct iocost_group *ig);
/* As it is now, having decayed. */
uint64_t iocost_delay_ns(const struct iocost *ioc, const struct iocost_group *ig, uint64_t now);
void iocost_forgive(struct iocost *ioc, uint64_t usage_ns, uint32_t nr_debtors);

/* ---- period.c, donate.c ---- */

void iocost_period_begin(struct iocost *ioc);
void iocost_period_end(struct iocost *ioc);
/* Those in the list lend: each hw_lending becomes hw_after, as others stand. */
void iocost_lend(struct iocost *ioc, struct weir_list *lenders);

#endif
