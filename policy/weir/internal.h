/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of the weir policy. The essay stands in weir.c; each part has its own file:
 *
 *	shares.[ch]	hierarchical fair queueing in device time
 *	leaf.[ch]	order of one group's own requests
 *	depth.[ch]	how much is in flight
 *	stagger.[ch]	bringing requests out of step
 *	probe.[ch]	finding the smallest depth of peak rate
 *	floor.c		io.low
 *	latency.c	io.latency
 *	ahead.h		memory that the next request will touch
 */
#ifndef WEIR_POLICY_WEIR_INTERNAL_H
#define WEIR_POLICY_WEIR_INTERNAL_H

#include <weir/weir.h>

#include "core/assert.h"
#include "core/cost.h"
#include "core/fixed.h"
#include "core/group.h"
#include "core/heap.h"
#include "core/list.h"
#include "core/spi.h"
#include "core/spi_state.h"

/* Order of the tunables in the table. */
enum {
	WP_DEPTH_US,
	WP_ADAPT,
	WP_ASYNC_EVERY,
	WP_ASYNC_WAIT_MS,
	WP_FLOOR_PERCENT,
	WP_MERGE_KB,
	WP_NR_TUNABLES,
};

enum {
	/* Depth with neither a profile's knee nor anything learned: a few requests of any device.
	 */
	WP_WINDOW_START_NS = 500000,
	WP_WINDOW_MIN_NS = 2000,
	WP_WINDOW_MAX_NS = 50000000,
	/* Of a disk whose depth is about to be squeezed: its queue of 32, 8 ms each. */
	WP_WINDOW_DISK_NS = 256000000,
	/* Who is behind a floor that fits may find this many windows more in flight than others. */
	WP_OWED_WINDOWS = 2,
	/* A request in flight for this many times the usual is stuck and leaves the budget. */
	WP_STUCK_FACTOR = 2,
	/* So many may be stuck: then they count again, or a slow device would be flooded. */
	WP_STUCK_MAX = 256,
	/* Periods of the latency control. */
	WP_LATENCY_PERIOD_NS = 20000000,
	WP_LATENCY_SAMPLES = 16,
	/* No misses, or nobody with a target asking, for so long: the depth recovers. */
	WP_LATENCY_CALM_NS = 100000000,
	/* A group that asks rarely is judged by fewer samples, after so long. */
	WP_LATENCY_TRIAL_NS = 1000000000,
	/* After a squeeze in vain the next is tried so much later, and longer each time. */
	WP_LATENCY_VAIN_MIN_NS = 1000000000,
	/* Nobody came near a target for so long: a greater depth may be tried. */
	WP_LATENCY_EASY_NS = 500000000,
	/* Periods of the floor control, and how much of the peak it may cost, in percent. */
	WP_FLOOR_PERIOD_NS = 50000000,
	WP_FLOOR_COST_PERCENT = 4,
	WP_FLOOR_REFERENCE_EVERY = 20,
	/* Floors are caught up on over this time, and no more. */
	WP_FLOOR_LAG_NS = 100000000,
	/* What floors inside were served counts towards a floor around them for so long. */
	WP_FLOOR_AHEAD_NS = 10000000,
	/* What floors may take of a shared node's turns is counted over so much time. */
	WP_FLOOR_BURST_NS = 5000000,
};

#define WP_LATENCY_VAIN_MAX_NS (32 * WEIR_NS_PER_S)

/* Something that competes at a node: a child group, or the node's own requests. */
struct wp_entity {
	struct weir_heap_item item; /* in the node's g->turn, by tag */
	uint64_t tag;		    /* virtual start time of its next request */
	uint64_t inverse;	    /* (2^32 - 1) / weight */
};

struct wp_floor {
	struct weir_heap_item item;		 /* in weir_turn_all(), by due_ns */
	uint64_t due_ns[WEIR_NR_DIRS][2];	 /* [dir][bytes, ios]: behind when past */
	uint64_t cost_per_unit[WEIR_NR_DIRS][2]; /* EWMA, ns << 16 per byte or request */
	/* The period being judged: what was served, since when, active for how long before it. */
	uint64_t period_units[WEIR_NR_DIRS][2];
	uint64_t since_ns, active_at_ns;
	/* Virtual times of the parent: this node's turns up to there went to floors below... */
	uint64_t paid_vtime;
	uint64_t beyond_vtime; /* ...and until then it is known that they want more than that */
	uint64_t need_ns;      /* device time per second that it asks for */
	uint64_t kept_ns;      /* of that, what is within its weight share, and never scaled down */
	uint32_t nr_inside;    /* floors below this group */
	bool has;
	bool counted;		    /* in wp->floor_kept_ns and floor_over_ns */
	bool unasked[WEIR_NR_DIRS]; /* in this period there was nothing to serve it with, at times
				     */
};

struct wp_latency {
	struct weir_list link; /* in wp->targets while it has one */
	uint64_t since_ns;
	uint32_t samples;
	uint32_t over;	  /* the target */
	uint32_t near;	  /* more than half of it */
	uint64_t mean_ns; /* EWMA 1/16 */
	/* The trial that is running: from this squeeze (0: none), at this mean... */
	uint32_t trial_squeeze;
	uint64_t trial_mean_ns;
	/* ...and what was seen since the last step. */
	uint32_t trial_samples;
	uint64_t trial_sum_ns, trial_since_ns;
	uint64_t vain_until_ns, vain_ns; /* the last was in vain: no other until then */
	bool is_own_fault;
	bool has;
};

struct wp_group {
	/* What a request's way up the tree touches: one cache line. */
	struct wp_entity up;   /* this subtree, at the parent */
	uint64_t vtime;	       /* of this node's children */
	struct wp_group *next; /* whose turn it is below; stale while nothing is queued */
	struct wp_group *parent;
	struct weir_group *g;
	uint32_t nr, nr_other; /* own requests; of them, what is not a sync read */

	/* The next line: own requests. */
	struct wp_entity own; /* at this node */
	uint32_t nr_async;
	uint32_t sync_run; /* sync requests since the last async one, while one waited */
	struct weir_list sync[WEIR_NR_DIRS]; /* in order of `seq` between them */

	struct weir_list async; /* writes */
	struct weir_list head;
	uint32_t nr_head;

	struct wp_floor floor;
	struct wp_latency latency;
	uint64_t period;	 /* of the latency control, in which... */
	uint64_t period_work_ns; /* ...this much was dispatched */
};

_Static_assert(sizeof(void *) != 8 || (offsetof(struct wp_group, own) == 64 &&
				       offsetof(struct wp_group, async) == 128),
	       "what belongs together lies in one cache line");

/* In which list of its group a request stands. */
enum wp_leaf_list {
	WP_LEAF_SYNC_READ,
	WP_LEAF_SYNC_WRITE,
	WP_LEAF_ASYNC,
	WP_LEAF_HEAD,
};

/* Of a request, which its `link` keeps in one of its group's lists, wp->in_flight or wp->stuck. */
struct wp_rq {
	enum wp_leaf_list list; /* while it is queued */
	bool stuck;		/* while it is in flight */
	bool is_spared;		/* the same; somebody was not charged for it: */
	uint64_t spared;	/* bit d: at depth d */
};

/* Probing for the smallest window of peak rate: probe.h. */
enum wp_probe_phase {
	WP_PROBE_STANDING,
	WP_PROBE_LESS,
	WP_PROBE_PLENTY,
};

/* Of late: time, of it the device stood still, and the sum of squares of that, in 1024 ns. */
struct wp_stood {
	uint64_t watched_ns, lost_ns, squares;
};

struct wp_probe {
	enum wp_probe_phase phase;
	bool grow;  /* the round asks whether the window should grow; else, shrink */
	bool clean; /* the depth was the limit all through this epoch */
	uint8_t pairs, strange;
	int64_t lost, lost_squares; /* sums over the pairs, 1 / LOST_ONE; see probe.c */
	uint32_t rest, rest_after;  /* standing epochs before the next round */
	uint32_t completions;
	uint64_t since_ns, work_ns;
	uint64_t cost_ns;    /* EWMA 1/16 of what is completed */
	uint64_t known_rate; /* standing, when it was last found to be another */
	uint64_t less_rate;  /* of the pair's first epoch, work << 20 / time */
	uint64_t last_ns;    /* completion */
	bool bridging;	     /* this epoch is to show whether so much bridges a standstill */
	struct wp_stood stood, stood_bridged; /* without, and with that */
};

/* Requests that end together, round by round: stagger.c. */
struct wp_stagger {
	uint32_t rounds;  /* in step, one after another */
	uint64_t seen_ns; /* the last of them */
	bool filling;	  /* free places: requests go one by one, nearly evenly */
	bool keeping;	  /* the places apart: one by one, half as far apart */
	uint64_t filling_until_ns, keeping_until_ns;
	uint64_t service_ns, round_ns; /* in so much time so much device time goes */
	uint64_t rest_until_ns;	       /* not again before */
	uint64_t rest_ns;
	bool in_vain; /* the last time */
};

struct wp {
	struct weir *w;
	struct wp_group *root;
	bool promises; /* somebody has a floor or a target */
	bool plain;    /* nobody has, and a standing epoch is clean so far */

	/* Depth. */
	uint64_t window_ns;	/* standing: device time that may be in flight */
	uint64_t open_ns;	/* the window as it is now: one more goes while less is in flight */
	uint64_t full_ns;	/* the same; open_ns is 0 while every dispatch must look closer */
	uint64_t unsqueezed_ns; /* the same without latency targets */
	uint64_t in_flight_ns;	/* counted now, without the stuck */
	uint64_t progress_ns;	/* time since which the oldest is being worked on */
	uint64_t service_ns;	/* EWMA 1/16 of service times */
	struct weir_list in_flight, stuck;
	uint32_t nr_in_flight, nr_stuck;
	bool held; /* something waited for the depth since the last completion */
	struct wp_probe probe;
	struct wp_stagger stagger;
	uint64_t work_rate; /* learned: device time completed per time while saturated, << 20 */

	/* Floors. */
	uint32_t nr_floors;
	/* Sums over backlogged floor groups, per second: within their shares, and beyond. */
	uint64_t floor_kept_ns, floor_over_ns;
	uint32_t floor_squeeze; /* window is multiplied by floor_squeeze / 256 */
	bool floor_missed;	/* by somebody, in this period */
	bool floor_reference;	/* this period is run with plenty, to know the peak */
	uint32_t floor_periods; /* since the last such */
	uint64_t floor_since_ns, floor_work_ns, floor_missed_ns;
	uint64_t peak_rate;    /* of reference periods, work << 20 / time */
	uint64_t floor_run_ns; /* work given to floors out of turn and not yet matched */

	/* Latency targets. */
	struct weir_list targets;
	uint32_t nr_targets;
	uint64_t last_miss_ns, last_near_ns, last_sample_ns, last_recovery_ns;
	uint32_t squeeze;      /* window is multiplied by squeeze / 256 */
	uint32_t squeeze_edge; /* at which a target was missed last */
	uint32_t creep;	       /* next step beyond the edge */
	uint64_t last_creep_ns;
	uint64_t period;
	struct weir_group *hog; /* dispatched most in this period */
	uint64_t hog_work_ns;
};

/* Called by whoever changes one of these. */
static inline void wp_update_plain(struct wp *p)
{
	p->promises = p->nr_floors || p->nr_targets;
	p->plain = !p->promises && p->probe.phase == WP_PROBE_STANDING && p->probe.clean;
}

static inline struct wp *wp_of(const struct weir *w)
{
	return weir_policy_data(w);
}

static inline struct wp_group *wp_group(const struct weir_group *g)
{
	return g->policy;
}

static inline struct wp_rq *wp_rq(struct weir_rq *rq)
{
	return (struct wp_rq *)rq->policy;
}

_Static_assert(sizeof(struct wp_rq) <= WEIR_RQ_POLICY_BYTES, "request state");

/* shares.c, and shares.h */
void wp_shares_online(struct weir_group *g);
void wp_shares_offline(struct weir_group *g);
void wp_shares_weight(struct weir_group *g);
/* g's own requests: the first was queued, the last left without being dispatched. O(depth log n) */
void wp_shares_activate(struct weir_group *g, uint64_t cost_ns);
void wp_shares_deactivate(struct weir_group *g);
/*
 * g's own requests were served cost_ns out of turn, for the floor of `owed`, which is g or above it;
 * `more` are queued. Returns a bit for each depth at which nobody was charged. O(depth log n), and
 * O(depth^2) where floors want more than there is.
 */
uint64_t wp_shares_charge_floor(struct weir_group *g, const struct weir_group *owed,
				uint64_t cost_ns, bool more);
/*
 * rq goes, of pg's own requests, in their turn: of which there are more, or this was the last. Returns
 * rq, so that a dispatch can end with it. O(depth log n)
 */
struct weir_rq *wp_shares_charge(struct wp_group *pg, struct weir_rq *rq);
struct weir_rq *wp_shares_charge_last(struct wp_group *pg, struct weir_rq *rq);
/* A served request came back: it will be charged again. spared: as charge_floor said, or 0. */
void wp_shares_refund(struct weir_group *g, uint64_t cost_ns, uint64_t spared);

/* leaf.c, and leaf.h */
void wp_leaf_init(struct wp_group *pg);
/*
 * The first of one direction, or a head insertion that has to go before it; or NULL if there is
 * none but, maybe, among head insertions. O(1)
 */
struct weir_rq *wp_leaf_peek_dir(const struct wp *p, const struct wp_group *pg, enum weir_dir dir);

/* depth.c, and depth.h */
void wp_depth_init(struct wp *p);
/* Something that the window depends on has changed. */
void wp_depth_update(struct wp *p);

/* probe.c, and probe.h */
void wp_probe_init(struct wp *p);
uint64_t wp_probe_window(const struct wp *p);
/* The standing window is that of the peak, as far as is known. */
bool wp_probe_settled(const struct wp *p);

/* floor.c */
/* As without floors. */
void wp_floor_init(struct wp *p);
void wp_floor_changed(struct wp *p, struct weir_group *g);
void wp_floor_offline(struct wp *p, struct weir_group *g);
void wp_floor_activate(struct wp *p, struct weir_group *g);
void wp_floor_deactivate(struct wp *p, struct weir_group *g);
/* What is owed to the group that is furthest behind its floor, *owed; or NULL. */
struct weir_rq *wp_floor_next(struct wp *p, uint64_t now, struct weir_group **owed);
/* When somebody will be owed something, if nobody is now. */
uint64_t wp_floor_when(const struct wp *p);
void wp_floor_charge(struct wp *p, struct weir_group *g, const struct weir_rq *rq, uint64_t now);
/* rq came back from the device: it will be charged again. */
void wp_floor_refund(struct wp *p, struct weir_group *g, const struct weir_rq *rq);
/* The part of the device, of 2^32, that g's floor asks for, or that around it. O(depth) */
uint64_t wp_floor_promised(const struct wp *p, const struct weir_group *g);
/* Do the floors of those who ask fit the device? O(1) */
bool wp_floor_fits(const struct wp *p);
/* rq was chosen by its floor (out_of_turn), or by share. */
void wp_floor_account(struct wp *p, uint64_t cost_ns, bool out_of_turn);
/* Work of cost_ns was completed: adapts the squeeze. Only while there are floors. */
void wp_floor_complete(struct wp *p, uint64_t cost_ns, uint64_t now);

/* latency.c */
void wp_latency_init(struct wp *p);
void wp_latency_changed(struct wp *p, struct weir_group *g);
void wp_latency_offline(struct wp *p, struct weir_group *g);
void wp_latency_start(struct wp *p, struct weir_group *g, uint64_t cost_ns);
void wp_latency_complete(struct wp *p, struct weir_rq *rq, uint64_t now);
/* All targets hold with so much to spare that the depth may be probed. O(1) */
bool wp_latency_is_easy(const struct wp *p, uint64_t now);

#endif
