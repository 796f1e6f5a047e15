/* SPDX-License-Identifier: GPL-2.0-only */
/* Contexts of processes: see contexts.c. */
#ifndef WEIR_KERNEL_CONTEXTS_H
#define WEIR_KERNEL_CONTEXTS_H

#include <linux/iocontext.h>

#include "mq.h"

/* A process on a disk. The block layer allocates and frees it; ours is under mq->lock. */
struct weir_mq_icq {
	struct io_cq icq;     /* first */
	struct weir_ctx *ctx; /* NULL: not yet, or no memory for one, or gone */
	u16 ioprio;	      /* that the core knows */
	bool gone;	      /* the process ended, or the elevator does: no context any more */
};

/* Who inserts, found before mq->lock is taken. */
struct weir_mq_submitter {
	struct weir_mq_icq *icq;   /* NULL: has no context */
	const struct blkcg *blkcg; /* to compare with, not to follow */
	u16 ioprio;
};

/*
 * Of the current task, or NULL. In the task that submits, interrupts on, with a bio or request of q
 * in its hands, so that q keeps its elevator. Allocates, atomically; without memory it is NULL.
 */
struct weir_mq_icq *weir_mq_submitting(struct request_queue *q);
/* The same with what else insertion wants to know. */
void weir_mq_submitter(struct request_queue *q, struct weir_mq_submitter *who);

/* The context that a bio would be inserted with, if that is there already. Under mq->lock. */
struct weir_ctx *weir_mq_bio_ctx(const struct weir_mq_icq *icq, const struct bio *bio,
				 const struct weir_group *g);
/*
 * The context that a request is inserted with: created, moved and given its priority as need be.
 * NULL is the group's anonymous one. Under mq->lock.
 */
struct weir_ctx *weir_mq_rq_ctx(struct weir_mq *mq, const struct weir_mq_submitter *who,
				const struct request *rq, struct weir_group *g);

/* From prepare_request and finish_request; not under mq->lock, which nests inside an io_context's. */
void weir_mq_ctx_prepare(struct request *rq);
void weir_mq_ctx_finish(struct request *rq);

/* The elevator's exit_icq. */
void weir_mq_exit_icq(struct io_cq *io);

#endif
