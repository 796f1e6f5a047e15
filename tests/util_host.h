/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The smallest host that a test needs: memory that is counted, notes and wakes that are kept, one
 * instance, a clock that the test sets, and requests out of one array, named by their index.
 *
 *	struct util_host h;
 *
 *	util_host_init(&h);
 *	util_host_start(&h, &weir_policy_noop, NULL);
 *	a = util_insert(&h, WEIR_OP_READ, 100, 8);
 *	util_expect(&h, a);		// the next that is dispatched
 *	util_host_stop(&h);		// drains, destroys, and checks that all memory came back
 */
#ifndef TESTS_UTIL_HOST_H
#define TESTS_UTIL_HOST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weir/weir.h>

#define UTIL_RQS 16384
#define UTIL_NONE UINT32_MAX

struct util_memory {
	size_t bytes;	  /* in use */
	uint64_t calls;	  /* of alloc */
	uint64_t fail_at; /* the call that fails; 0: none */
};

struct util_host {
	struct weir *w;
	struct weir_host host;
	struct weir_config cfg;
	struct util_memory memory;
	uint64_t now;
	uint32_t nr_rqs;
	struct weir_rq rq[UTIL_RQS];
	uint32_t nr_notes, nr_wakes;
	char last_note[200];
	struct weir_group *last_woken;
};

/* Memory functions alone, for tests with a host of their own. priv points to a util_memory. */
void *util_alloc(void *priv, size_t bytes);
void util_free(void *priv, void *p, size_t bytes);

/* A profile in round numbers: 1 GB/s, 100,000 IOPS in either direction. */
void util_config(struct weir_config *cfg);

/* Clears h and fills in cfg; now is 1 s. The test may change cfg before the start. */
void util_host_init(struct util_host *h);
/* values: NULL, or WEIR_TUNABLES_MAX of them. */
void util_host_start(struct util_host *h, const struct weir_policy *policy, const uint64_t *values);
void util_host_stop(struct util_host *h);

/* Fills values with the policy's defaults, then one by name. */
void util_defaults(const struct weir_policy *policy, uint64_t values[WEIR_TUNABLES_MAX]);
void util_tune(const struct weir_policy *policy, uint64_t values[WEIR_TUNABLES_MAX],
	       const char *name, uint64_t value);

/* Sets a tunable of the policy that runs. */
void util_set_tunable(struct util_host *h, const char *name, uint64_t value);

/* A new request of the root group; of a group and context. Returns its index. */
uint32_t util_insert(struct util_host *h, enum weir_op op, uint64_t sector, uint32_t nr_sectors);
uint32_t util_insert_as(struct util_host *h, struct weir_group *g, struct weir_ctx *ctx,
			enum weir_op op, uint64_t sector, uint32_t nr_sectors);
/* A request that is filled in and not inserted: a bio to merge. */
struct weir_rq *util_bio(struct util_host *h, enum weir_op op, uint64_t sector,
			 uint32_t nr_sectors);
/* Index of the next dispatched request, or UTIL_NONE. */
uint32_t util_dispatch(struct util_host *h);
void util_complete(struct util_host *h, uint32_t index);
/* Dispatches: it must be this one (UTIL_NONE: nothing), and it completes at once. */
void util_expect_at(struct util_host *h, uint32_t index, const char *file, int line);
#define util_expect(h, index) util_expect_at(h, index, __FILE__, __LINE__)

/* Finds and commits a merge; returns the index of the grown request or UTIL_NONE. */
uint32_t util_merge(struct util_host *h, enum weir_op op, uint64_t sector, uint32_t nr_sectors,
		    enum weir_merge *kind);

struct weir_group *util_group(struct util_host *h, struct weir_group *parent, uint32_t weight);

/* Small, seeded, the same everywhere: splitmix64. */
static inline uint64_t util_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* 0 .. n - 1 */
static inline uint64_t util_below(uint64_t *state, uint64_t n)
{
	return util_random(state) % n;
}

#endif
