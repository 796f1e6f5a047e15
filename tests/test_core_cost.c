// SPDX-License-Identifier: GPL-2.0-only
/* core/cost.c: prices by the linear model, what counts as random, bounds, and refused profiles. */
#include "tests/util_host.h"

#include "core/core.h"
#include "core/cost.h"

static struct util_host host;

/* The example of cost.h: 500 MB/s, 6250 random and 25,000 sequential reads/s. */
static const struct weir_profile example = {
	.rbps = 500000000,
	.rseqiops = 25000,
	.rrandiops = 6250,
	.wbps = 250000000,
	.wseqiops = 20000,
	.wrandiops = 5000,
	.flush_ns = 700000,
};

static void worked_example(void **unused)
{
	(void)unused;
	/* 160 us; and with 31 pages more, of 8.192 us each, 413.952 us, cut off. */
	assert_int_equal(weir_profile_cost_ns(&example, WEIR_OP_READ, 8, true), 160000);
	assert_int_equal(weir_profile_cost_ns(&example, WEIR_OP_READ, 256, true), 413952);
	assert_int_equal(weir_profile_cost_ns(&example, WEIR_OP_READ, 8, false), 40000);
	assert_int_equal(weir_profile_cost_ns(&example, WEIR_OP_WRITE, 8, true), 200000);
	assert_int_equal(weir_profile_cost_ns(&example, WEIR_OP_WRITE, 8, false), 50000);
	/* 1 MiB more of writes at 4 ns a byte. */
	assert_int_equal(weir_profile_cost_ns(&example, WEIR_OP_WRITE, 2056, false),
			 50000 + 4 * 1048576);
}

static void small_and_dataless(void **unused)
{
	struct weir_profile free_flush = example;

	(void)unused;
	/* Less than a page costs a page. */
	assert_int_equal(weir_profile_cost_ns(&example, WEIR_OP_READ, 1, true), 160000);
	/* Discard and zeroing: one small write, whatever their length. */
	assert_int_equal(weir_profile_cost_ns(&example, WEIR_OP_DISCARD, 1 << 20, false), 50000);
	assert_int_equal(weir_profile_cost_ns(&example, WEIR_OP_WRITE_ZEROES, 1 << 20, true),
			 200000);
	assert_int_equal(weir_profile_cost_ns(&example, WEIR_OP_FLUSH, 0, false), 700000);
	/* Nothing is for nothing: tags must move. */
	free_flush.flush_ns = 0;
	assert_int_equal(weir_profile_cost_ns(&free_flush, WEIR_OP_FLUSH, 0, false), 1);
}

/* Where 4 KiB at full bandwidth take longer than 1/iops, bandwidth alone counts. */
static void base_is_never_negative(void **unused)
{
	struct weir_profile p = example;

	(void)unused;
	p.rrandiops = 10000000;
	assert_int_equal(weir_profile_cost_ns(&p, WEIR_OP_READ, 8, true), 8192);
	p.rbps = UINT64_C(1) << 50;
	p.rrandiops = UINT64_C(1) << 50;
	assert_int_equal(weir_profile_cost_ns(&p, WEIR_OP_READ, 8, true), 1);
}

static void bounded(void **unused)
{
	struct weir_profile p = example;

	(void)unused;
	p.rbps = 1024;
	assert_int_equal(weir_profile_cost_ns(&p, WEIR_OP_READ, 8, false), 4000000000);
	assert_int_equal(weir_profile_cost_ns(&p, WEIR_OP_READ, 16, false), WEIR_COST_MAX_NS);
	assert_int_equal(weir_profile_cost_ns(&p, WEIR_OP_READ, WEIR_RQ_SECTORS_MAX, true),
			 WEIR_COST_MAX_NS);
	p.flush_ns = UINT64_MAX;
	assert_int_equal(weir_profile_cost_ns(&p, WEIR_OP_FLUSH, 0, false), WEIR_COST_MAX_NS);
	p = example;
	p.rrandiops = 1; /* a second */
	assert_int_equal(weir_profile_cost_ns(&p, WEIR_OP_READ, 8, true), 1000000000);
}

static void check_profile(void **unused)
{
	const uint64_t max = UINT64_C(1) << 50;
	uint64_t *field[6];
	struct weir_profile p;
	unsigned int i;

	(void)unused;
	assert_null(weir_profile_check(&example));
	field[0] = &p.rbps, field[1] = &p.wbps, field[2] = &p.rseqiops;
	field[3] = &p.rrandiops, field[4] = &p.wseqiops, field[5] = &p.wrandiops;
	for (i = 0; i < 6; i++) {
		uint64_t min = i < 2 ? 1024 : 1;

		p = example;
		*field[i] = min - 1;
		assert_non_null(weir_profile_check(&p));
		*field[i] = min;
		assert_null(weir_profile_check(&p));
		*field[i] = max;
		assert_null(weir_profile_check(&p));
		*field[i] = max + 1;
		assert_non_null(weir_profile_check(&p));
	}
}

/* ---- what is random: by the stream that the request belongs to ---- */

static int setup(void **state)
{
	util_host_init(&host);
	host.cfg.profile = example;
	util_host_start(&host, &weir_policy_noop, NULL);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static uint64_t price(struct util_host *h, struct weir_group *g, struct weir_ctx *ctx,
		      enum weir_op op, uint64_t sector)
{
	return h->rq[util_insert_as(h, g, ctx, op, sector, 8)].cost_ns;
}

static void distance(void **state)
{
	const uint64_t near = WEIR_RANDOM_SECTORS;
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w);

	assert_int_equal(near, 32768);					   /* 16 MiB */
	assert_int_equal(price(h, root, NULL, WEIR_OP_READ, near), 40000); /* from 0 */
	assert_int_equal(price(h, root, NULL, WEIR_OP_READ, 2 * near + 8),
			 40000); /* to the sector */
	assert_int_equal(price(h, root, NULL, WEIR_OP_READ, 3 * near + 17), 160000);
	assert_int_equal(price(h, root, NULL, WEIR_OP_READ, 2 * near + 25), 40000); /* backwards */
	assert_int_equal(price(h, root, NULL, WEIR_OP_READ, near + 32), 160000);
	/* The other direction has a place of its own. */
	assert_int_equal(price(h, root, NULL, WEIR_OP_WRITE, 100), 50000);
	assert_int_equal(price(h, root, NULL, WEIR_OP_WRITE, near + 109), 200000);
}

static void by_stream(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g = util_group(h, root, 100);
	struct weir_ctx *ctx = weir_ctx_create(h->w, g, WEIR_IOPRIO_NONE, 0, h->now);
	const uint64_t far = UINT64_C(1) << 30;

	assert_int_equal(price(h, g, ctx, WEIR_OP_READ, far), 160000);
	/* The group's anonymous stream and other groups are where they were. */
	assert_int_equal(price(h, g, NULL, WEIR_OP_READ, 0), 40000);
	assert_int_equal(price(h, root, NULL, WEIR_OP_READ, 0), 40000);
	assert_int_equal(price(h, g, ctx, WEIR_OP_READ, far + 8), 40000);
	/* Flushes are nowhere. */
	assert_int_equal(price(h, g, ctx, WEIR_OP_WRITE, far), 200000);
	assert_int_equal(price(h, g, ctx, WEIR_OP_FLUSH, 0), 700000);
	assert_int_equal(price(h, g, ctx, WEIR_OP_WRITE, far + 8), 50000);
	assert_int_equal(price(h, g, ctx, WEIR_OP_READ, far + 16), 40000);
	weir_ctx_exit(ctx, h->now);
}

/* What a bio adds when it joins: its bytes, no base; and the stream goes on behind it. */
static void merged(void **state)
{
	struct util_host *h = *state;
	uint32_t a = util_insert(h, WEIR_OP_READ, UINT64_C(1) << 30, 8);
	enum weir_merge kind;

	assert_int_equal(h->rq[a].cost_ns, 160000);
	assert_int_equal(util_merge(h, WEIR_OP_READ, (UINT64_C(1) << 30) + 8, 248, &kind), a);
	assert_int_equal(h->rq[a].cost_ns, 413952);
	assert_int_equal(
		price(h, weir_root(h->w), NULL, WEIR_OP_READ, (UINT64_C(1) << 30) + 256 + 32768),
		40000);
}

static void reconfigured(void **state)
{
	struct util_host *h = *state;
	struct weir_config cfg = h->cfg;
	uint32_t a = util_insert(h, WEIR_OP_READ, 0, 8);

	cfg.profile.rseqiops = 50000;
	assert_int_equal(weir_reconfigure(h->w, &cfg, h->now), 0);
	assert_int_equal(h->rq[a].cost_ns, 40000); /* priced already */
	assert_int_equal(price(h, weir_root(h->w), NULL, WEIR_OP_READ, 8), 20000);
	cfg.profile.rseqiops = 0;
	assert_int_equal(weir_reconfigure(h->w, &cfg, h->now), -WEIR_EINVAL);
	assert_int_equal(price(h, weir_root(h->w), NULL, WEIR_OP_READ, 16), 20000);
}

/* Tags of who was away: kept, brought up, or so old that they seem far ahead. */
static void stale_tags(void **unused)
{
	const uint64_t ahead = UINT64_C(1) << 52;
	uint64_t at;

	(void)unused;
	for (at = 0; at != UINT64_C(7) << 61; at += UINT64_C(1) << 61) {
		assert_int_equal(weir_vtime_enter(at, at, ahead), at);
		assert_int_equal(weir_vtime_enter(at + 5, at, ahead), at + 5);
		assert_int_equal(weir_vtime_enter(at + ahead, at, ahead), at + ahead);
		assert_int_equal(weir_vtime_enter(at - 5, at, ahead), at);
		assert_int_equal(weir_vtime_enter(at + ahead + 1, at, ahead), at);
		assert_int_equal(weir_vtime_enter(at + (UINT64_C(1) << 63), at, ahead), at);
	}
	/* One request of the highest price at the lowest weight is within what may be ahead. */
	assert_int_equal(weir_cost_per_weight(WEIR_COST_MAX_NS, 1), ahead);
	assert_int_equal(weir_cost_per_weight(60000, 200), (UINT64_C(300) << WEIR_VTIME_SHIFT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_example),
		cmocka_unit_test(small_and_dataless),
		cmocka_unit_test(base_is_never_negative),
		cmocka_unit_test(bounded),
		cmocka_unit_test(check_profile),
		cmocka_unit_test_setup_teardown(distance, setup, teardown),
		cmocka_unit_test_setup_teardown(by_stream, setup, teardown),
		cmocka_unit_test_setup_teardown(merged, setup, teardown),
		cmocka_unit_test_setup_teardown(reconfigured, setup, teardown),
		cmocka_unit_test(stale_tags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
