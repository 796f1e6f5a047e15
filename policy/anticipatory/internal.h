/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the files of the anticipatory policy. anticipatory.c has the whole story and the hooks;
 * queue.c keeps requests in order, batch.c has the batches of reads and of writes, wait.c decides
 * whether to wait, and process.c knows what processes are used to do.
 */
#ifndef WEIR_POLICY_ANTICIPATORY_INTERNAL_H
#define WEIR_POLICY_ANTICIPATORY_INTERNAL_H

#include "core/assert.h"
#include "core/fixed.h"
#include "core/group.h"
#include "core/list.h"
#include "core/rbtree.h"
#include "core/spi_state.h"
#include "policy/order.h"

/* Sync requests are reads, and writes that somebody waits for. */
enum {
	ANTIC_ASYNC,
	ANTIC_SYNC,
	ANTIC_CLASSES,
};

/* Fixed point of averages and probabilities: 256 is 1. */
enum { ANTIC_ONE = 256 };

/* Averages with a decay of 7/8, in fixed point. The mean is in ns, or in sectors. */
struct antic_mean {
	uint32_t samples;
	uint64_t total, mean;
};

/* In ctx->policy. */
struct antic_process {
	struct weir_ctx *ctx; /* NULL: it has exited */
	bool started;	      /* has asked for something sync */
	bool completed;	      /* and got it */
	uint32_t nr_queued;   /* also those of `moved` */
	uint64_t last_end_ns;
	uint64_t last_sector; /* end of its last sync request */
	struct antic_mean think, seek;
	struct weir_list awaited_by; /* queues that served it last */
};

/* What queues of one device have in common. */
struct antic_device {
	uint64_t expire_ns[ANTIC_CLASSES];
	uint64_t batch_ns[ANTIC_CLASSES];
	uint64_t wait_ns;
	/* Of processes without a history, in fixed point. */
	uint64_t new_think_total, new_seek_total;
	uint64_t new_think_ns, new_seek_sectors;
	uint32_t exit_prob;    /* that it exits, or pauses, after its first request */
	uint32_t exit_no_coop; /* that after an exit nobody else comes close */
};

enum antic_state {
	ANTIC_OFF,
	ANTIC_WAIT_REQ,	 /* for the completion of the last read */
	ANTIC_WAIT_NEXT, /* it has completed: for the next one */
	ANTIC_FINISHED,	 /* waited enough for what follows the last read */
};

struct antic_class {
	struct weir_rb_tree tree; /* by first sector, which are all different */
	struct weir_list fifo;	  /* by expiry: rq->link */
	struct weir_rq *next;	  /* by the arm's place; NULL: empty */
	uint64_t last_check_ns;	  /* when expiry was last looked at */
	uint64_t last_sector;	  /* end of the last that was dispatched */
};

struct antic_queue {
	struct antic_device *device;
	struct antic_class class[ANTIC_CLASSES];
	struct weir_list moved; /* chosen already, before their place was taken: rq->link */

	/* Batches. */
	uint8_t batch;	   /* class that has it */
	bool changed;	   /* it waits for the last of the other class to complete */
	bool new_batch;	   /* of reads, and the first of it has not completed */
	bool from_fifo;	   /* the first of a batch has not been dispatched */
	bool writes_idled; /* the batch ran short of writes, or had no reads waiting */
	uint64_t batch_ends_ns, writes_began_ns;
	uint32_t write_budget, writes_left;
	uint32_t nr_in_device; /* with `moved` */

	/* Waiting. */
	enum antic_state state;
	struct antic_process *reader; /* of the last that was dispatched; NULL: a write, unknown */
	bool reader_done;	      /* and that has completed */
	uint64_t wait_from_ns;	      /* when */
	uint64_t wait_until_ns;
	struct weir_list awaits;       /* in reader->awaited_by */
	struct antic_process departed; /* the reader, as it was when it exited */

	uint64_t turn_ended_ns; /* 0: this is its turn */
};

enum antic_where {
	ANTIC_QUEUED,
	ANTIC_MOVED,
	ANTIC_IN_DEVICE,
};

/* In rq->policy. */
struct antic_rq {
	struct weir_rb node;
	struct weir_rq *rq;
	uint64_t expires_ns;
	uint8_t class;
	uint8_t where;
	bool express; /* the policy's: not in the queue */
};

_Static_assert(sizeof(struct antic_rq) <= ORDER_RQ_BYTES, "does not fit into a request");

static inline struct antic_rq *antic_rq(struct weir_rq *rq)
{
	return (struct antic_rq *)rq->policy;
}

/* NULL for a request without a context: nobody is known to come back. */
static inline struct antic_process *antic_process_of(const struct weir_rq *rq)
{
	return rq->ctx ? rq->ctx->policy : NULL;
}

static inline struct weir_rq *antic_rq_at(struct weir_rb *node)
{
	return node ? weir_container_of(node, struct antic_rq, node)->rq : NULL;
}

static inline bool antic_is_empty(const struct antic_queue *q, unsigned int class)
{
	return list_is_empty(&q->class[class].fifo);
}

static inline struct weir_rq *antic_oldest(struct antic_queue *q, unsigned int class)
{
	return list_first(&q->class[class].fifo, struct weir_rq, link);
}

static inline uint64_t antic_distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/* ---- queue.c ---- */

/* Takes it out of tree and list. The arm's place is known already, for the choice of the next. */
void antic_take(struct antic_queue *q, struct weir_rq *rq);

/* ---- batch.c ---- */

/* Books a queued request as dispatched: the arm is behind it, and its process has been served. */
void antic_book(struct antic_queue *q, struct weir_rq *rq);
struct weir_rq *antic_dispatch(struct weir *w, void *queue, bool force, struct weir_verdict *v);
void antic_complete(struct weir *w, void *queue, struct weir_rq *rq);
/* One is no longer in the device, or on its way there. */
void antic_one_less(struct antic_queue *q, uint64_t now);

/* ---- wait.c ---- */

/* Ends a wait that has lasted long enough. To be called first, whenever something happens. */
void antic_look_at_clock(struct antic_queue *q, uint64_t now);
/* Should something better than rq (may be NULL) be waited for? It then is. */
bool antic_waits_instead(struct antic_queue *q, struct weir_rq *rq, uint64_t now);
/* rq has come: does it end a wait? */
void antic_arrived(struct antic_queue *q, struct weir_rq *rq, uint64_t now);
void antic_stop(struct antic_queue *q);
void antic_set_reader(struct antic_queue *q, struct antic_process *p);
static inline bool antic_is_waiting(const struct antic_queue *q)
{
	return q->state == ANTIC_WAIT_REQ || q->state == ANTIC_WAIT_NEXT;
}

/* ---- process.c ---- */

void antic_process_init(struct antic_process *p, struct weir_ctx *ctx);
/* It is about to be forgotten: who waits for it keeps what was known. */
void antic_process_exit(struct antic_process *p);
bool antic_has_exited(const struct antic_process *p);
/* rq belongs to the process, or is so close that it may count as its next one. */
void antic_learn(struct antic_device *d, struct antic_process *p, const struct weir_rq *rq,
		 uint64_t now);
/* 7/8 of a probability, and the last eighth if it happened. */
static inline void antic_probability(uint32_t *p, bool happened)
{
	*p = (7 * *p + (happened ? ANTIC_ONE : 0)) / 8;
}

#endif
