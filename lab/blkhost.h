/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside the lab's block layer. One idea a file:
 *
 *	blkhost.c	    set-up, the way of a bio down and of a completion up
 *	plug.c		    gathering and merging before the core sees anything
 *	blkhost_admit.c	    who has no place in the pool waits; congestion
 *	blkhost_flush.c	    flush sequences
 *	blkhost_cpu.c	    the queue lock as a resource that takes time
 */
#ifndef LAB_BLKHOST_H
#define LAB_BLKHOST_H

#include "core/assert.h"
#include "core/list.h"
#include "lab/host.h"

/* Names what shall happen under the queue lock. */
enum host_call {
	HOST_INSERT,
	HOST_COMPLETE,
	HOST_DISPATCH,
};

struct host_work {
	struct host_work *next;
	enum host_call call;
};

/*
 * A bio, or a piece of one. Joined ones hang in a chain behind the one that the core knows, and
 * complete with it.
 */
struct host_rq {
	struct lab_host *host;
	struct lab_bio *bio;   /* NULL: a flush, see blkhost_flush.c */
	struct host_rq *next;  /* free list, or the queue for admission */
	struct host_rq *chain; /* absorbed by this one, or by the same one as this */
	struct host_rq *chain_tail;
	bool admitted;
	struct host_work work;
	struct weir_rq rq;
	struct lab_cmd cmd;
};

struct host_queue {
	struct host_rq *head, *tail;
	bool woken; /* in lab_host.woken */
	struct host_queue *next_woken;
	struct weir_group *group;
	enum weir_dir dir;
};

struct host_flush {
	struct host_rq *rq;			/* waiting or in the device; NULL: none */
	struct lab_bio *covered, *covered_tail; /* end with rq */
	struct lab_bio *later, *later_tail;	/* came when rq was in the device: need the next */
};

/* What the block layer keeps per group; made when first needed. */
struct host_group {
	struct host_queue wait[WEIR_NR_DIRS];
	struct host_flush flush;
};

struct host_waiter {
	struct host_waiter *next;
	struct weir_group *group;
	enum weir_dir dir;
	struct lab_event *ev;
};

struct lab_host {
	struct lab_engine *engine;
	struct lab_device *device;
	struct weir *weir;
	struct host_rq *free;
	uint32_t depth, max_sectors;
	uint32_t plug_depth, nr_plugged;
	bool merge, pooled, write_cache;
	uint64_t host_ns;
	uint64_t outstanding;
	struct lab_event kick; /* the core said when to ask again */
	uint64_t ask_at_ns;    /* what it said last; WEIR_NEVER: after something happens */
	struct lab_host_stats stats;

	struct host_rq *plugged[LAB_PLUG_MAX];
	struct lab_host_config cfg;
	struct host_chunk *chunks;

	struct host_group **groups; /* by id */
	uint32_t nr_groups;
	struct host_queue *woken, *woken_tail;
	struct host_waiter *waiters, **waiters_tail; /* for the end of congestion */
	bool admitting;

	/* blkhost_cpu.c */
	struct lab_event cpu; /* end of the call that holds the lock */
	struct host_work *work, *work_tail;
	struct host_work dispatch;
	bool lock_busy, dispatch_queued;

	/* Flushes that need no device. */
	struct lab_event instant;
	struct lab_bio *instant_head, *instant_tail;

	struct lab_recording *recording; /* or NULL */
	uint32_t visits;		 /* since its ring was emptied last */
};

/* blkhost.c */
void *host_alloc(size_t bytes);
struct host_rq *host_rq_get(struct lab_host *h);
void host_rq_put(struct lab_host *h, struct host_rq *r);
struct host_group *host_group(struct lab_host *h, struct weir_group *g);
void host_chain(struct host_rq *into, struct host_rq *r);
/* Into the core: now, or when the lock is free. */
void host_enter(struct lab_host *h, struct host_rq *r, uint64_t now_ns);
void host_submit_data(struct lab_host *h, struct lab_bio *bio, uint64_t now_ns);
void host_run(struct lab_host *h, uint64_t now_ns);
void host_bio_done(struct lab_host *h, struct lab_bio *bio, uint64_t now_ns);
/* The calls themselves, with the lock held. */
void host_insert(struct lab_host *h, struct host_rq *r, uint64_t now_ns);
void host_complete(struct lab_host *h, struct host_rq *r, uint64_t now_ns);
bool host_dispatch_one(struct lab_host *h, uint64_t now_ns);
void host_record_pump(struct lab_host *h);

/* plug.c */
void host_plug_add(struct lab_host *h, struct host_rq *r, uint64_t now_ns);

/* blkhost_admit.c */
bool host_admit(struct lab_host *h, struct host_rq *r, uint64_t now_ns);
void host_release(struct lab_host *h, struct host_rq *r, uint64_t now_ns);
void host_wake(void *priv, struct weir_group *g, enum weir_dir dir);
void host_admit_woken(struct lab_host *h, uint64_t now_ns);

/* blkhost_flush.c */
void host_flush_init(struct lab_host *h);
void host_flush_submit(struct lab_host *h, struct lab_bio *bio, uint64_t now_ns);
void host_flush_done(struct lab_host *h, struct host_rq *r, uint64_t now_ns);

/* blkhost_cpu.c */
void host_cpu_init(struct lab_host *h);
void host_cpu_call(struct lab_host *h, struct host_work *work, enum host_call call,
		   uint64_t now_ns);
void host_cpu_dispatch(struct lab_host *h, uint64_t now_ns);

#endif
