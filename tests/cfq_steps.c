// SPDX-License-Identifier: GPL-2.0-only
/* CFQ step by step: see cfq_steps.h. */
#include "tests/cfq_steps.h"

static struct util_host host;
struct util_host *const h = &host;
struct weir_group *root;

void start_with(const uint64_t *values, bool rotational)
{
	util_host_init(h);
	h->cfg.profile.rotational = rotational;
	util_host_start(h, &weir_policy_cfq, values);
	root = weir_root(h->w);
}

void start(const char *name, uint64_t value)
{
	uint64_t values[WEIR_TUNABLES_MAX];

	util_defaults(&weir_policy_cfq, values);
	if (name)
		util_tune(&weir_policy_cfq, values, name, value);
	start_with(values, true);
}

struct weir_ctx *process(struct weir_group *g, enum weir_ioprio_class class, unsigned int level)
{
	return weir_ctx_create(h->w, g, class, level, h->now);
}

struct weir_ctx *any_process(void)
{
	return process(root, WEIR_IOPRIO_NONE, 0);
}

static uint32_t insert_sized(struct weir_ctx *ctx, enum weir_op op, uint64_t sector,
			     uint32_t sectors, uint16_t flags)
{
	struct weir_rq *rq = util_bio(h, op, sector, sectors);

	rq->group = weir_ctx_group(ctx);
	rq->ctx = ctx;
	rq->flags = flags;
	weir_insert(h->w, rq, WEIR_TAIL, h->now);
	return h->nr_rqs - 1;
}

uint32_t insert(struct weir_ctx *ctx, enum weir_op op, uint64_t sector, uint16_t flags)
{
	return insert_sized(ctx, op, sector, 8, flags);
}

uint32_t read_at(struct weir_ctx *ctx, uint64_t sector)
{
	return insert(ctx, WEIR_OP_READ, sector, 0);
}

uint32_t write_at(struct weir_ctx *ctx, uint64_t sector)
{
	return insert(ctx, WEIR_OP_WRITE, sector, 0);
}

uint32_t commit_at(struct weir_ctx *ctx, uint64_t sector)
{
	return insert(ctx, WEIR_OP_WRITE, sector, WEIR_RQ_SYNC);
}

uint32_t read_16k_at(struct weir_ctx *ctx, uint64_t sector)
{
	return insert_sized(ctx, WEIR_OP_READ, sector, 32, 0);
}

void in_time(uint32_t index)
{
	uint32_t got;

	while ((got = util_dispatch(h)) == UTIL_NONE)
		h->now += 1 * MS;
	assert_int_equal(got, index);
	util_complete(h, index);
}

enum weir_merge merge_as(struct weir_ctx *ctx, uint64_t sector, uint32_t *into)
{
	struct weir_rq *bio = util_bio(h, WEIR_OP_READ, sector, 8), *found;
	enum weir_merge kind;

	bio->ctx = ctx;
	kind = weir_merge_find(h->w, bio, &found, h->now);
	*into = found ? (uint32_t)(found - h->rq) : UTIL_NONE;
	if (found)
		weir_merge_bio(h->w, found, bio, kind, h->now);
	return kind;
}

void expect_wait(uint64_t after_ns)
{
	struct weir_next next;

	assert_null(weir_dispatch(h->w, h->now, &next));
	if (after_ns == WEIR_NEVER)
		assert_true(next.at_ns == WEIR_NEVER);
	else
		assert_int_equal(next.at_ns - h->now, after_ns);
}

void expect_start(uint32_t index)
{
	assert_int_equal(util_dispatch(h), index);
}

uint32_t start_all(void)
{
	uint32_t n = 0;

	while (util_dispatch(h) != UTIL_NONE)
		n++;
	return n;
}
