/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the files of kyber. kyber.c has the whole story and the hooks; latency.c has histograms,
 * percentiles, and the rule that changes depths.
 */
#ifndef WEIR_POLICY_KYBER_INTERNAL_H
#define WEIR_POLICY_KYBER_INTERNAL_H

#include "core/assert.h"
#include "core/fixed.h"
#include "core/list.h"
#include "core/spi.h"
#include "core/spi_state.h"

enum {
	/* Of nr_requests, for requests that nobody waits for: a quarter is left to the others. */
	KYBER_ASYNC_PERCENT = 75,
	/* How far back a bio looks for a request to join, as every software queue of the kernel. */
	KYBER_MERGE_LOOKS = 8,

	/* A quarter of the target each; the first four are good. */
	KYBER_BUCKETS = 8,
	KYBER_GOOD_BUCKETS = 4,
	/* A percentile is computed from so many samples, */
	KYBER_SAMPLES = 500,
	/* or from fewer after so long. */
	KYBER_WINDOW_NS = 1000000000,
	/* From a completion to the look at the histograms. */
	KYBER_TIMER_NS = 100000000,
	/* What tells congestion: not the p99, which outliers move. */
	KYBER_CONGESTED_PERCENT = 90,
	KYBER_LATENCY_PERCENT = 99,
};

/* The target of discards can't be set. */
#define KYBER_DISCARD_TARGET_NS (5 * WEIR_NS_PER_S)

enum {
	KYBER_READ_LAT_NSEC,
	KYBER_WRITE_LAT_NSEC,
};

enum kyber_domain_nr {
	KYBER_READ,
	KYBER_WRITE,
	KYBER_DISCARD,
	KYBER_OTHER,
	KYBER_NR_DOMAINS,
	KYBER_NR_MEASURED = KYBER_OTHER,
};

enum kyber_kind {
	KYBER_TOTAL, /* from insertion to completion */
	KYBER_IO,    /* from dispatch to completion */
	KYBER_NR_KINDS,
};

struct kyber_domain {
	struct weir_list arrived; /* rq->link */
	struct weir_list flushed; /* goes first; nothing is merged into it */
	uint32_t flushes;	  /* times that all that had arrived went over */
	uint32_t depth, in_device;

	uint32_t bucket[KYBER_NR_KINDS][KYBER_BUCKETS];
	uint64_t window_end_ns; /* 0: not begun; one for both kinds */
	int p99;		/* remembered for the next congestion, or -1 */
};

struct kyber {
	struct kyber_domain domain[KYBER_NR_DOMAINS];
	struct weir_list express; /* rq->link */
	struct weir_list outside; /* waiting for a place: rq->link */
	uint32_t nr_async;	  /* inserted and not completed, with a place */
	uint32_t cur;		  /* domain of the batch */
	uint32_t batching;	  /* requests that it has had */
	uint64_t timer_ns;	  /* or WEIR_NEVER */
};

/* Most that a domain may have in the device. */
extern const uint16_t kyber_depth[KYBER_NR_DOMAINS];

/* ---- latency.c ---- */

void kyber_latency_init(struct kyber *k);
/* Looks at the histograms if it is time. Must come first in every hook. */
void kyber_run_timer(struct kyber *k, uint64_t now);
void kyber_add_sample(const struct weir *w, struct kyber *k, enum kyber_domain_nr nr,
		      uint64_t total_ns, uint64_t io_ns);

#endif
