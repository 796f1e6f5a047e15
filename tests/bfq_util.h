/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the tests of BFQ: an instance on the smallest host, and a look inside. */
#ifndef TESTS_BFQ_UTIL_H
#define TESTS_BFQ_UTIL_H

#include "tests/util_host.h"

#include "policy/bfq/internal.h"

#define MS UINT64_C(1000000)
#define SEC UINT64_C(1000000000)

static inline struct bfq *bfq_of(struct weir *w)
{
	return weir_policy_data(w);
}

static inline struct bfq_queue *home_of(const struct weir_ctx *ctx)
{
	return &bfq_process(ctx)->home;
}

static inline struct weir_ctx *new_ctx(struct util_host *h, struct weir_group *g)
{
	return weir_ctx_create(h->w, g, WEIR_IOPRIO_NONE, 0, h->now);
}

static inline uint32_t reads(struct util_host *h, struct weir_ctx *ctx, uint64_t sector,
			     uint32_t nr_sectors)
{
	return util_insert_as(h, weir_ctx_group(ctx), ctx, WEIR_OP_READ, sector, nr_sectors);
}

static inline uint32_t writes(struct util_host *h, struct weir_ctx *ctx, uint64_t sector,
			      uint32_t nr_sectors)
{
	return util_insert_as(h, weir_ctx_group(ctx), ctx, WEIR_OP_WRITE, sector, nr_sectors);
}

/* Nothing goes now: when to ask again. */
static inline uint64_t nothing_until(struct util_host *h)
{
	struct weir_next next = {0};

	assert_null(weir_dispatch(h->w, h->now, &next));
	return next.at_ns;
}

/* Dispatched and completed service_ns later. */
static inline void serve(struct util_host *h, uint32_t index, uint64_t service_ns)
{
	assert_int_equal(util_dispatch(h), index);
	h->now += service_ns;
	util_complete(h, index);
}

#endif
