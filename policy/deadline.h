/* SPDX-License-Identifier: GPL-2.0-only */
/* Batches by position, with expiry: deadline's queue, for who has one. See deadline.c. */
#ifndef WEIR_POLICY_DEADLINE_H
#define WEIR_POLICY_DEADLINE_H

#include "policy/order.h"
#include "policy/sorted.h"

/* The tunables: queues of one device have them in common. */
struct deadline_device {
	uint64_t expire_ns[WEIR_NR_DIRS];
	uint64_t writes_starved, fifo_batch;
	bool front_merges;
};

struct deadline_dir {
	struct weir_sorted sorted;
	struct weir_rq *next; /* continues the current batch, or NULL */
};

struct deadline_queue {
	const struct deadline_device *device;
	struct deadline_dir dir[WEIR_NR_DIRS];
	uint32_t batching; /* requests that the current batch has had */
	uint32_t starved;  /* times that waiting writes have stood back */
};

#endif
