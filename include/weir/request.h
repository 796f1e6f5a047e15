/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A request, and its life.
 *
 *   admit -> insert -> (held by the limits stage) -> queued in the policy -> dispatched ->
 * completed
 *
 * or it is merged into another, removed while it waits, or requeued after dispatch. Every request
 * that was inserted leaves exactly once: completed, merged away, or removed.
 *
 * The host owns the storage, usually embedded in its own request. It fills the first part, the core
 * keeps the rest. weir_rq_init() zeroes what must be zero; the policy area may be garbage before
 * insertion.
 */
#ifndef WEIR_REQUEST_H
#define WEIR_REQUEST_H

#include <weir/types.h>

struct weir_list {
	struct weir_list *next, *prev;
};

enum weir_rq_state {
	WEIR_RQ_NEW,	    /* the host's: not inserted, or left again */
	WEIR_RQ_HELD,	    /* waits for a ceiling */
	WEIR_RQ_QUEUED,	    /* in the policy */
	WEIR_RQ_DISPATCHED, /* in the device */
};

struct weir_rq {
	/* The host's part: constant from insertion until the request leaves. */
	uint64_t sector;
	uint32_t nr_sectors; /* 0 for a flush */
	uint8_t op;	     /* enum weir_op */
	uint8_t ioprio_class;
	uint8_t ioprio_level;
	uint8_t state; /* enum weir_rq_state; the core's */
	uint16_t flags;
	uint16_t nr_merged; /* requests absorbed; the core's */
	uint16_t epoch;	    /* of the policy that dispatched it; the core's */
	struct weir_group *group;
	struct weir_ctx *ctx; /* may be NULL: the group's anonymous context */

	/* The core's part: the host may read, never write. */
	uint64_t seq;	       /* number of the insertion; names the request in recordings */
	uint64_t insert_ns;    /* inserted; after re-insertion still the first time */
	uint64_t since_ns;     /* waits since: insertion, or the last requeue */
	uint64_t release_ns;   /* left the limits stage */
	uint64_t dispatch_ns;  /* last time that it went to the device */
	uint64_t cost_ns;      /* device time that it is priced at, without the slow factor */
	struct weir_list link; /* limits stage while held; then the policy's own */
	struct weir_list hash; /* merge look-up */

	/* The policy's part. */
	uint64_t policy[WEIR_RQ_POLICY_BYTES / sizeof(uint64_t)];
};

static inline void weir_rq_init(struct weir_rq *rq, enum weir_op op, uint64_t sector,
				uint32_t nr_sectors, struct weir_group *group, struct weir_ctx *ctx)
{
	rq->sector = sector;
	rq->nr_sectors = nr_sectors;
	rq->op = (uint8_t)op;
	rq->ioprio_class = WEIR_IOPRIO_NONE;
	rq->ioprio_level = 0;
	rq->state = WEIR_RQ_NEW;
	rq->flags = 0;
	rq->nr_merged = 0;
	rq->group = group;
	rq->ctx = ctx;
	rq->hash.next = NULL;
}

static inline bool weir_rq_is_sync(const struct weir_rq *rq)
{
	return rq->op == WEIR_OP_READ || rq->op == WEIR_OP_FLUSH || (rq->flags & WEIR_RQ_SYNC);
}

static inline uint64_t weir_rq_end(const struct weir_rq *rq)
{
	return rq->sector + rq->nr_sectors;
}

static inline uint64_t weir_rq_bytes(const struct weir_rq *rq)
{
	return (uint64_t)rq->nr_sectors << WEIR_SECTOR_SHIFT;
}

#endif
