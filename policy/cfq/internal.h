/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the files of CFQ. cfq.c has the whole story, the tunables and the hooks.
 *
 *	queue.c		requests of one queue, and which of them goes next
 *	busy.c		queues that have something: service trees and their keys, positions on disk
 *	group.c		groups: activity, shares, virtual disk time
 *	slice.c		how long a slice is, how it begins and ends, whose turn is next
 *	think.c		what is known of processes: think time, seeks, idle window
 *	idle.c		waiting for one process on purpose
 *	select.c	the queue to serve now, and how much of it
 *	preempt.c	who may interrupt a slice
 *	coop.c		processes that read one stream together; queues that change hands
 */
#ifndef WEIR_POLICY_CFQ_INTERNAL_H
#define WEIR_POLICY_CFQ_INTERNAL_H

#include "core/assert.h"
#include "core/fixed.h"
#include "core/group.h"
#include "core/list.h"
#include "core/rbtree.h"
#include "core/spi.h"
#include "core/spi_state.h"

enum {
	CFQ_LEVELS = 8,	    /* of ioprio, 0 the highest */
	CFQ_LEVEL_NORM = 4, /* of a process that set none: nice 0 */
	CFQ_LEVEL_LAST = 7,
	CFQ_SLICE_SCALE = 5,	  /* a level is worth a fifth of the base slice */
	CFQ_TICK_NS = 1000000,	  /* the clock of a kernel with HZ=1000 */
	CFQ_MIN_TICKS = 2,	  /* shortest slice of a workload */
	CFQ_BEHIND = 200,	  /* "ticks in 200 ms": how far behind all others a group enters */
	CFQ_IDLE_DELAY_MS = 200,  /* between the turns of two queues of the idle class */
	CFQ_FRONT_MS = 1000,	  /* so far before all others goes a queue that preempts */
	CFQ_HW_MIN = 5,		  /* so many at once: the device queues commands */
	CFQ_HW_SAMPLES = 50,	  /* completions under load before that is decided */
	CFQ_SEEK_SECTORS = 800,	  /* farther from the last request: a seek */
	CFQ_CLOSE_SECTORS = 8192, /* as near to the head as a process's own next request */
	CFQ_SMALL_SECTORS = 64,	  /* without a head, smaller requests count as seeks */
	CFQ_SEEKY_BITS = 4,	  /* more seeks among the last 32: seeky */
	CFQ_DEEP = 4,		  /* so many queued at once: deep */
	CFQ_THINK_UNIT = 256,	  /* one sample of think time */
	CFQ_THINK_VALID = 80,	  /* more than two samples and a half, decayed */
	CFQ_PAGE_SECTORS = 8,	  /* larger requests need not wait for more to merge */
	CFQ_SHIFT = 12,		  /* of shares and virtual disk time */
	CFQ_CHARGE_MAX = 1 << 30, /* us: longer slices are a clock that jumped */
	CFQ_MIN_WEIGHT = 10,	  /* blkio.weight */
	CFQ_MAX_WEIGHT = 1000,
};

/* Keys of service trees are times that may lie before the clock's beginning. */
#define CFQ_KEY_BIAS (UINT64_C(1) << 62)

/* Tunables. */
enum {
	CFQ_QUANTUM,
	CFQ_FIFO_EXPIRE_SYNC,
	CFQ_FIFO_EXPIRE_ASYNC,
	CFQ_BACK_SEEK_MAX,
	CFQ_BACK_SEEK_PENALTY,
	CFQ_SLICE_SYNC,
	CFQ_SLICE_ASYNC,
	CFQ_SLICE_ASYNC_RQ,
	CFQ_SLICE_IDLE,
	CFQ_GROUP_IDLE,
	CFQ_LOW_LATENCY,
	CFQ_TARGET_LATENCY,
	CFQ_NONROT_IDLE,
	CFQ_GROUP_PREEMPT_NOIDLE,
	CFQ_CLOSE_COOPERATOR,
	CFQ_ALLOW_CROSS_MERGE,
};

enum cfq_class {
	CFQ_BE,
	CFQ_RT,
	CFQ_TYPED, /* classes with a tree for each type */
	CFQ_IDLE = CFQ_TYPED,
};

enum cfq_type {
	CFQ_ASYNC,
	CFQ_NOIDLE,
	CFQ_SYNC,
	CFQ_TYPES,
};

enum cfq_hw_tag {
	CFQ_HW_UNKNOWN, /* taken as yes */
	CFQ_HW_NO,
	CFQ_HW_YES,
};

/* How long somebody takes from a completion to the next request. */
struct cfq_think {
	uint64_t last_end_ns;
	uint64_t total, mean_ns;
	uint32_t samples;
};

struct cfq_tree {
	struct weir_rb_tree rb; /* of queues, by key */
	uint32_t count;
	struct cfq_think think;
};

struct cfq_queue {
	struct cfq_group *group;

	/* Its requests (queue.c). */
	struct weir_rb_tree sorted;  /* by first sector */
	struct weir_list fifo;	     /* waiting, by arrival: rq->link */
	struct weir_list in_driver;  /* rq->link */
	struct weir_rq *next;	     /* best for the head; NULL: nothing waits */
	uint32_t nr_queued, nr_meta; /* of them metadata */
	uint32_t nr_in_driver;
	uint8_t class, level;

	/* Whose turn it is (busy.c). */
	struct cfq_tree *tree; /* NULL: not busy */
	struct weir_rb by_key;
	struct weir_rb_tree *positions; /* NULL: not among them */
	struct weir_rb by_position;

	/* Its current or last slice. */
	uint64_t chosen_ns;	/* when it became the active queue */
	uint64_t slice_from_ns; /* of the first completion in it */
	uint64_t slice_end_ns, allocated_ns;
	int64_t residual_ns; /* what it left of its last slice */
	uint32_t slice_dispatched;

	/* What is known of it. */
	uint64_t last_end; /* sector behind its last request; 0: none yet */
	uint32_t seeks;	   /* a bit for each request, 1: far from the one before */

	bool sync;
	bool slice_new;	    /* nothing has completed in this slice */
	bool waiting;	    /* the device is kept for it */
	bool must_dispatch; /* goes whatever the limits are */
	bool fifo_checked;  /* in this slice */
	bool wait_busy;	    /* it was waited for beyond the end of its slice */
	bool idle_window;   /* worth waiting for */
	bool deep;	    /* has had several requests at once */
	bool coop;	    /* of several processes */
	bool split;	    /* they shall part */

	/* Sync queues: who puts requests here (coop.c). */
	struct weir_list procs; /* of struct cfq_proc, by in_queue */
	uint32_t nr_procs;
	struct cfq_queue *redirect;  /* they'll go there with their next requests */
	struct weir_list redirected; /* in the target's list `incoming`, while there is one */
	struct weir_list incoming;
};

/* A process: a context's state, and the anonymous one of each group. */
struct cfq_proc {
	struct weir_ctx *ctx;	 /* NULL: anonymous */
	struct cfq_queue *queue; /* its own, or a cooperator's */
	struct weir_list in_queue;
	struct cfq_think think;
	struct cfq_queue own;
};

struct cfq_group {
	struct weir_group *group;
	struct weir_rb by_vdisktime;
	uint64_t vdisktime; /* 1/4096 us of the whole device; requests in IOPS mode */
	bool on_tree;
	uint32_t nr_queues; /* busy ones */

	/* The hierarchy (group.c). */
	uint32_t nr_active; /* active children, and one if there are own busy queues */
	uint32_t children_weight;
	uint32_t weight, leaf_weight;
	uint32_t next_weight, next_leaf_weight; /* from the next activation on */
	uint32_t fraction;			/* of the device, CFQ_SHIFT */

	/* What is served in it. */
	struct cfq_tree tree[CFQ_TYPED][CFQ_TYPES];
	struct cfq_tree idle;
	uint32_t busy_average[CFQ_TYPED];
	uint64_t saved_ns; /* left of a workload's time when its last turn ended; 0: nothing */
	uint8_t saved_class, saved_type;
	struct cfq_think think;
	uint32_t in_driver;

	struct cfq_proc anonymous;
	struct cfq_queue async[CFQ_TYPED][CFQ_LEVELS];
	struct cfq_queue async_idle;
};

struct cfq {
	struct weir *w;
	struct weir_list express; /* flushes, and what was put at the head: rq->link */

	struct weir_rb_tree groups; /* by virtual disk time */
	uint64_t min_vdisktime;
	struct weir_rb_tree positions[CFQ_LEVELS]; /* queues by the sector of their next request */

	struct cfq_queue *active;
	struct cfq_proc *active_proc; /* first to dispatch in this slice */
	struct cfq_group *serving;
	uint8_t serving_class, serving_type;
	uint64_t workload_end_ns;
	uint64_t timer_ns; /* end of the wait for the active queue, or WEIR_NEVER */

	uint32_t nr_busy, nr_busy_sync; /* queues */
	uint32_t nr_queued;
	uint32_t in_driver, in_flight[2]; /* the latter by kind of queue, sync: 1 */

	enum cfq_hw_tag hw_tag;
	uint32_t hw_samples, hw_peak;

	uint64_t position;	  /* of the head: end of the last request dispatched */
	uint64_t delayed_sync_ns; /* when a sync request last took too long */
};

/* In rq->policy. */
struct cfq_rq {
	struct weir_rb by_sector;
	struct weir_rq *rq;
	struct cfq_queue *queue;
	struct cfq_proc *proc;
	uint64_t expires_ns;
	bool express;
};

_Static_assert(sizeof(struct cfq_rq) <= WEIR_RQ_POLICY_BYTES, "does not fit into a request");

static inline struct cfq_rq *cfq_rq(struct weir_rq *rq)
{
	return (struct cfq_rq *)rq->policy;
}

static inline const struct cfq_rq *cfq_rq_const(const struct weir_rq *rq)
{
	return (const struct cfq_rq *)rq->policy;
}

static inline struct cfq_group *cfq_group(const struct weir_group *g)
{
	return g->policy;
}

static inline uint64_t cfq_now(const struct cfq *c)
{
	return weir_now(c->w);
}

static inline uint64_t cfq_tunable(const struct cfq *c, unsigned int index)
{
	return weir_policy_tunable(c->w, index);
}

static inline uint64_t cfq_ms(const struct cfq *c, unsigned int index)
{
	return cfq_tunable(c, index) * WEIR_NS_PER_MS;
}

static inline bool cfq_rotational(const struct cfq *c)
{
	return weir_cfg(c->w)->profile.rotational;
}

static inline uint64_t cfq_slice_idle(const struct cfq *c)
{
	return cfq_rotational(c) || cfq_tunable(c, CFQ_NONROT_IDLE) ? cfq_ms(c, CFQ_SLICE_IDLE) : 0;
}

static inline uint64_t cfq_group_idle(const struct cfq *c)
{
	return cfq_ms(c, CFQ_GROUP_IDLE);
}

static inline bool cfq_hw_queues(const struct cfq *c)
{
	return c->hw_tag != CFQ_HW_NO;
}

/* Groups are charged for requests instead of time. */
static inline bool cfq_iops_mode(const struct cfq *c)
{
	return !cfq_slice_idle(c) && cfq_hw_queues(c);
}

static inline bool cfq_is_empty(const struct cfq_queue *q)
{
	return !q->next;
}

static inline bool cfq_is_seeky(const struct cfq_queue *q)
{
	uint32_t seeks = q->seeks;
	int bit;

	for (bit = 0; bit < CFQ_SEEKY_BITS; bit++)
		seeks &= seeks - 1; /* without its lowest */
	return seeks != 0;
}

static inline bool cfq_is_busy(const struct cfq_queue *q)
{
	return q->tree != NULL;
}

static inline enum cfq_type cfq_type_of(const struct cfq_queue *q)
{
	return !q->sync ? CFQ_ASYNC : q->idle_window ? CFQ_SYNC : CFQ_NOIDLE;
}

static inline bool cfq_slice_used(const struct cfq *c, const struct cfq_queue *q)
{
	return !q->slice_new && cfq_now(c) >= q->slice_end_ns;
}

static inline uint64_t cfq_slice_left(const struct cfq *c, const struct cfq_queue *q)
{
	return q->slice_end_ns > cfq_now(c) ? q->slice_end_ns - cfq_now(c) : 0;
}

/* ---- queue.c ---- */

void cfq_queue_init(struct cfq_queue *q, struct cfq_group *cg, bool sync);
/* A request comes to, or leaves, its queue; the service trees aren't touched. O(log n) */
void cfq_queue_add(struct cfq *c, struct cfq_queue *q, struct weir_rq *rq);
void cfq_queue_take(struct cfq *c, struct weir_rq *rq);
/* It has grown at its front. */
void cfq_queue_moved(struct cfq *c, struct weir_rq *rq);
/* First in the queue by sector that is at or behind this one, or NULL. */
struct weir_rq *cfq_queue_at(const struct cfq_queue *q, uint64_t sector);
struct weir_rq *cfq_queue_latter(struct weir_rq *rq);
struct weir_rq *cfq_queue_former(struct weir_rq *rq);
/* Goes to the driver. */
void cfq_queue_dispatch(struct cfq *c, struct weir_rq *rq);
/* Is there no more. */
void cfq_queue_left_driver(struct cfq *c, struct weir_rq *rq);

/* ---- busy.c ---- */

struct cfq_tree *cfq_tree_of(struct cfq_group *cg, unsigned int class, unsigned int type);
struct cfq_queue *cfq_tree_first(const struct cfq_tree *t);
/* Queues that are busy in a class of a group. */
uint32_t cfq_nr_busy_in(const struct cfq_group *cg, unsigned int class);
uint32_t cfq_nr_busy_async(const struct cfq_group *cg);
/* It has something, and gets a place; it has nothing, and gives it up. */
void cfq_busy_add(struct cfq *c, struct cfq_queue *q);
void cfq_busy_remove(struct cfq *c, struct cfq_queue *q);
/* A busy queue gets a new key, and may be of another class and type by now. */
void cfq_busy_resort(struct cfq *c, struct cfq_queue *q);
/* Before all others of its tree. */
void cfq_busy_to_front(struct cfq *c, struct cfq_queue *q);
/* The queue's next request is another one. */
void cfq_position_changed(struct cfq *c, struct cfq_queue *q);
/* Distance of a sector from the head. */
bool cfq_is_close(const struct cfq *c, uint64_t sector);
/* A queue of that level whose next request is close to the head, or NULL. */
struct cfq_queue *cfq_position_close(const struct cfq *c, unsigned int level);

/* ---- group.c ---- */

void cfq_group_init(struct cfq *c, struct cfq_group *cg, struct weir_group *g);
void cfq_group_read_weights(struct cfq *c, struct cfq_group *cg);
/* One of its queues became busy, or ceased to be. O(depth + log n) */
void cfq_group_queue_added(struct cfq *c, struct cfq_group *cg);
void cfq_group_queue_removed(struct cfq *c, struct cfq_group *cg);
/* The active queue's slice is over: its group pays. */
void cfq_group_charge(struct cfq *c, const struct cfq_queue *q);
/* The one that is served next, or NULL; and the tree's lower end follows it. */
struct cfq_group *cfq_group_first(const struct cfq *c);
struct cfq_group *cfq_group_next(struct cfq *c);

/* ---- slice.c ---- */

uint64_t cfq_slice_base(const struct cfq *c, bool sync, unsigned int level);
/* Part of target_latency that a group is entitled to. */
uint64_t cfq_group_slice(const struct cfq *c, const struct cfq_group *cg);
/* What the queue's next slice is; a look at it moves the average number of busy queues. */
uint64_t cfq_slice_scaled(struct cfq *c, const struct cfq_queue *q);
/* The clock starts. */
void cfq_slice_begin(struct cfq *c, struct cfq_queue *q);
void cfq_set_active(struct cfq *c, struct cfq_queue *q);
/* Ends the active queue's slice, if there is one; `keep`: it gets back what is left of it. */
void cfq_expire(struct cfq *c, bool keep);
/* The next group, the workload in it, and the queue in that. Something is busy. */
struct cfq_queue *cfq_choose_queue(struct cfq *c);

/* ---- think.c ---- */

bool cfq_think_is_long(const struct cfq_think *t, uint64_t than_ns);
bool cfq_think_is_known(const struct cfq_think *t);
void cfq_learn(struct cfq *c, struct cfq_queue *q, struct weir_rq *rq);
bool cfq_proc_is_gone(const struct cfq_proc *p);

/* ---- idle.c ---- */

/* Shall the device wait for this queue, which is busy and may be empty? */
bool cfq_should_idle(const struct cfq *c, const struct cfq_queue *q);
void cfq_stop_timer(struct cfq *c);
/* The wait is over, if it is. To be called before anything else happens. */
void cfq_run_timer(struct cfq *c);
/* A request of the active queue has completed. */
void cfq_active_completed(struct cfq *c, struct cfq_queue *q, bool sync);
void cfq_learn_hw_tag(struct cfq *c);

/* ---- select.c ---- */

struct weir_rq *cfq_dispatch(struct weir *w, bool force, struct weir_verdict *v);
struct weir_group *cfq_next_group(struct weir *w);

/* ---- preempt.c ---- */

/* A request was added to a queue: what does that mean for the slice that is going on? */
void cfq_enqueued(struct cfq *c, struct cfq_queue *q, const struct weir_rq *rq);

/* ---- coop.c ---- */

void cfq_proc_init(struct cfq_proc *p, struct weir_ctx *ctx, struct cfq_group *cg, uint64_t now);
/* It takes its queue out of its group, for good or to go elsewhere. O(n) in what it has there. */
void cfq_proc_leave(struct cfq *c, struct cfq_proc *p);
/* The queue of its next sync request: here processes join and part. */
struct cfq_queue *cfq_proc_queue(struct cfq_proc *p);
struct cfq_queue *cfq_close_cooperator(const struct cfq *c, const struct cfq_queue *q);
void cfq_coop_join(struct cfq_queue *q, struct cfq_queue *with);

#endif
