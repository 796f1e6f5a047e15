/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * weir as a blk-mq elevator: what the files of this host share.
 *
 *	main.c	  module, assertions, registration
 *	mq.c	  the elevator: insert, dispatch, finish, merge
 *	admit.c	  who may have a request at all: tasks wait here, not for tags
 *	groups.c  groups follow cgroups
 *	contexts.c who submits: a context for each process
 *	files.c	  io.weir.* of each cgroup
 *	sysfs.c	  queue/iosched/: the files, and which policy
 *	tunables.c the policy's tunables, a file each
 *	profile.c what requests cost on the disk
 *	debugfs.c the flight recorder, and what the state is
 *	watchdog.c what nobody moves on is passed through
 *
 * Lock order: queue_lock, then blkcg->lock or an io_context's lock, then mq->lock. The core is
 * called under mq->lock only, with interrupts off, since requests finish in interrupts.
 */
#ifndef WEIR_KERNEL_MQ_H
#define WEIR_KERNEL_MQ_H

#include <linux/blk-mq.h>
#include <linux/hrtimer.h>
#include <linux/workqueue.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "compat.h"

#include <weir/weir.h>

/* watchdog.c */
struct weir_mq_watch {
	struct delayed_work work;
	bool on;	   /* something waits: the work is on its way */
	bool past_core;	   /* requests are taken out of the core */
	u64 since_ns;	   /* nothing has moved since, though something waits */
	u64 until_ns;	   /* it was said then that something would; 0: nothing was said */
	u64 nr_dispatched; /* what was dispatched by then */
	u64 nr_none;	   /* and how often the device had asked in vain, when last looked */
	u64 passing_ns;	   /* all is passed through since; 0: it isn't */
	u32 nr_passed;	   /* how often it came to that */
	u32 nr_let_go;	   /* tasks that had to be helped, since nobody told them to go on */
	u32 stall;	   /* what to do wrong, to try the watchdog: */
};

enum {
	WEIR_MQ_STALL_NEVER = 1, /* unless it must, the policy gives nothing, and says: never */
	WEIR_MQ_STALL_SOON,	 /* the same, and it says: in 10 ms */
	WEIR_MQ_STALL_ALWAYS,	 /* it gives nothing, even if it must */
	WEIR_MQ_STALL_PLACES,	 /* tasks aren't told that they have a place */
};

/* debugfs.c */
struct weir_mq_debug {
	struct dentry *dir;
	void *ring; /* of the flight recorder, or NULL */
	size_t ring_bytes;
	bool recording; /* until it is ended, also if it overflowed */
};

/* One scheduled disk. */
struct weir_mq {
	spinlock_t lock;
	struct weir *w;
	struct request_queue *q;
	struct hrtimer timer; /* runs the queue when something may go by time alone */
	bool starved; /* the last dispatch found nothing that may go, though something waits */
	bool ask;     /* the timer fired: dispatch, whatever may_dispatch() says */
	const struct weir_rq *merging; /* the bio that a merge is about */
	u64 merging_ns;		       /* and the time */
	struct weir_config cfg;
	struct list_head groups; /* struct weir_mq_group */
	u64 next_ns;		 /* when to ask again, by the last answer of none */
	u64 nr_dispatched;
	u64 nr_none; /* answers of none, though something waited */
	struct weir_mq_watch watch;
	struct weir_mq_debug debug;
	u32 nr_contexts;
	struct mutex policy_lock; /* one change of the policy, and of its files, at a time */
	bool own_profile;	  /* cfg.profile was written; else it is the default */
	bool own_rotational;	  /* and says whether it rotates; else the queue does */
};

/* A cgroup on a disk. */
struct weir_mq_group {
	struct blkg_policy_data pd;
	struct weir_mq *mq;
	struct list_head in_groups; /* of mq */
	struct weir_group *g; /* NULL: none could be had, or it is gone: the parent's is used */
	struct weir_group_attr attr;
	bool own_weight; /* attr.weight is of this device; else the cgroup's default */
	struct list_head waiters[WEIR_NR_DIRS]; /* struct weir_mq_waiter */
	u32 pending[WEIR_NR_DIRS];		/* admitted, and not inserted yet */
};

/* All queues of tasks that wait for a place, of all groups of mq. Under mq->lock. */
#define weir_mq_for_each_queue(mg, dir, mq)               \
	list_for_each_entry(mg, &(mq)->groups, in_groups) \
		for (dir = 0; dir < WEIR_NR_DIRS; dir++)

/* A cgroup on all disks. */
struct weir_mq_cgroup {
	struct blkcg_policy_data cpd;
	u32 weight;
};

/* A request, found by its scheduler tag. */
struct weir_mq_rq {
	struct weir_rq rq;
	struct request *req;
	struct weir_group *admitted; /* by whom the place in the pool is held, or NULL */
};

/* Of a hardware queue. */
struct weir_mq_hctx {
	u32 nr;
	struct weir_mq_rq rq[]; /* the array is exchanged under mq->lock */
};

static inline struct weir_mq *weir_mq_of(struct request_queue *q)
{
	return q->elevator->elevator_data;
}

static inline struct weir_mq_rq *weir_mq_rq(struct request *rq)
{
	return rq->elv.priv[0];
}

static inline u64 weir_mq_now(void)
{
	return ktime_get_ns();
}

/* mq.c */
extern struct elevator_type weir_mq_elevator;
/* Was the queue left with nothing that could go, and now something may? Under mq->lock. */
static inline bool weir_mq_must_kick(struct weir_mq *mq, u64 now)
{
	if (!mq->starved || !weir_may_dispatch(mq->w, now))
		return false;
	mq->starved = false;
	return true;
}
/* Something may go now that could not before. Any context, but not under queue_lock. */
void weir_mq_kick(struct weir_mq *mq);
/* The same under any lock: by the timer. */
void weir_mq_kick_soon(struct weir_mq *mq);

/* admit.c */
enum weir_mq_verdict {
	WEIR_MQ_GO,
	WEIR_MQ_WAIT,	     /* the waiter stands in the queue: weir_mq_wait() */
	WEIR_MQ_WOULD_BLOCK, /* and the bio says that it must not wait */
};
/* A task that waits for a place, on its stack; the list is under mq->lock. */
struct weir_mq_waiter {
	struct list_head list; /* empty: it has its place */
	struct task_struct *task;
	const struct bio *bio;
};
/* A place in the pool for that bio of that group. Under mq->lock. */
enum weir_mq_verdict weir_mq_admit(struct weir_mq *mq, struct weir_mq_group *mg, struct bio *bio,
				   struct weir_mq_waiter *wt, u64 now);
/* Sleeps until the place is there, or the queue is being frozen. */
void weir_mq_wait(struct weir_mq *mq, struct weir_mq_waiter *wt);
/* A group goes: who waits there goes on as one of another. Under mq->lock. */
void weir_mq_move_waiters(struct weir_mq *mq, struct weir_mq_group *from, struct weir_mq_group *to);
/* A request of that group is inserted: does it have a place? Under mq->lock. */
bool weir_mq_admitted(struct weir_mq *mq, struct weir_mq_group *mg, enum weir_dir dir, u32 bytes,
		      u64 now);
/* The core's wake(). */
void weir_mq_wake(void *priv, struct weir_group *g, enum weir_dir dir);

/*
 * As many as there are places for go on, in their order. Under mq->lock. now: 0 if the core was told
 * the time just now. Returns how many.
 */
u32 weir_mq_hand_out(struct weir_mq *mq, struct weir_mq_group *mg, enum weir_dir dir, u64 now);
/* All who wait go on without a place. Under mq->lock. Returns how many. */
u32 weir_mq_let_go(struct weir_mq_group *mg, enum weir_dir dir);
/* No bio is on its way from admission to insertion: gives back what was lost there. Frozen. */
void weir_mq_forget_places(struct weir_mq *mq);

/* groups.c */
extern struct blkcg_policy weir_mq_blkcg_policy;
static inline struct weir_mq_group *weir_mq_group(struct blkg_policy_data *pd)
{
	return container_of(pd, struct weir_mq_group, pd);
}
/* The nearest that has a group; never NULL. Under mq->lock. */
struct weir_mq_group *weir_mq_bio_group(struct weir_mq *mq, const struct bio *bio);
/* mg->attr and the cgroup's default weight, into force. Returns a negative errno. */
int weir_mq_apply(struct weir_mq_group *mg);

/* files.c */
extern struct cftype weir_mq_files[];

/* watchdog.c */
void weir_mq_watch_init(struct weir_mq *mq);
void weir_mq_watch_begin(struct weir_mq *mq);
/* Nothing comes any more. May sleep. */
void weir_mq_watch_stop(struct weir_mq *mq);
/* The policy may be asked again: one was chosen. Under mq->lock. */
void weir_mq_watch_reset(struct weir_mq *mq);
/* When the oldest that waits was inserted; 0: none waits. Under mq->lock; O(tags). */
u64 weir_mq_oldest_ns(struct weir_mq *mq);
/* weir_dispatch() where something is wrong; weir_mq_watch_minds() says whether. Under mq->lock. */
struct weir_rq *weir_mq_watch_dispatch(struct weir_mq *mq, u64 now, struct weir_next *next);
static inline bool weir_mq_watch_minds(const struct weir_mq *mq)
{
	return unlikely(mq->watch.stall || mq->watch.past_core);
}
/* Something waits. Under mq->lock. */
static inline void weir_mq_watch(struct weir_mq *mq)
{
	if (unlikely(!mq->watch.on))
		weir_mq_watch_begin(mq);
}

/* debugfs.c: of the module, and of a disk */
void weir_mq_debugfs_init(void);
void weir_mq_debugfs_exit(void);
void weir_mq_debug_add(struct weir_mq *mq);
void weir_mq_debug_remove(struct weir_mq *mq);

#endif
