/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bench only: a dmClock queue to measure weir against. See dmclock_ref.c.
 *
 * Times and tags are seconds in double precision, as in the published algorithm's implementations.
 */
#ifndef BENCH_DMCLOCK_REF_H
#define BENCH_DMCLOCK_REF_H

#include <stddef.h>
#include <stdint.h>

struct dmc_queue;

/* A request; the caller embeds it. */
struct dmc_rq {
	struct dmc_rq *next;
	double arrival_s;
	uint32_t client;
	uint32_t rho, delta; /* what the client was served elsewhere since its last request */
	uint32_t cost;
};

/* Rates per second; 0: none. One of reservation and weight is not 0. */
struct dmc_client_info {
	double reservation, weight, limit;
};

enum dmc_phase {
	DMC_RESERVATION, /* its reservation was due */
	DMC_PRIORITY,	 /* by weight */
	DMC_FUTURE,	 /* nothing may go before *when_s */
	DMC_NONE,	 /* nothing queued */
};

/* Clients are numbered 0..nr-1 and known from the start. NULL without memory. */
struct dmc_queue *dmc_new(uint32_t nr, const struct dmc_client_info *info);
void dmc_free(struct dmc_queue *q);
void dmc_add(struct dmc_queue *q, struct dmc_rq *rq, double now_s);
struct dmc_rq *dmc_pull(struct dmc_queue *q, double now_s, enum dmc_phase *phase, double *when_s);

#endif
