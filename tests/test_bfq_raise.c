// SPDX-License-Identifier: GPL-2.0-only
/* BFQ: whose weight is raised, how much, and when that ends; bursts; the peak rate behind it. */
#include "tests/bfq_util.h"

static struct util_host h;
static uint64_t values[WEIR_TUNABLES_MAX];

static void start(bool rotational)
{
	util_host_init(&h);
	h.cfg.profile.rotational = rotational;
	util_defaults(&weir_policy_bfq, values);
	util_host_start(&h, &weir_policy_bfq, values);
}

/* A read is inserted, served and completed in 1 ms. */
static void one_read(struct weir_ctx *ctx, uint64_t sector, uint32_t nr_sectors)
{
	uint32_t index = reads(&h, ctx, sector, nr_sectors), got = util_dispatch(&h);

	while (got == UTIL_NONE) {
		h.now = nothing_until(&h);
		got = util_dispatch(&h);
	}
	assert_int_equal(got, index);
	h.now += MS;
	util_complete(&h, index);
}

static enum bfq_raised kind_of(const struct weir_ctx *ctx)
{
	return (enum bfq_raised)home_of(ctx)->raise.kind;
}

/* ---- interactive ---- */

static void new_and_idle_ones_are_interactive(void **state)
{
	struct weir_ctx *ctx;

	(void)state;
	start(true);
	ctx = new_ctx(&h, weir_root(h.w));
	one_read(ctx, 0, 8);
	assert_int_equal(kind_of(ctx), BFQ_INTERACTIVE);
	assert_int_equal(home_of(ctx)->entity.weight, 40 * 30);
	/* 7 s of the reference rate; the peak rate is thought to be 2/3 of it. */
	assert_in_range(home_of(ctx)->raise.length_ns, 10499 * MS, 10501 * MS);
	assert_int_equal(bfq_of(h.w)->nr_busy_raised, 1);
	/* The turn is longer, too. */
	assert_int_equal(home_of(ctx)->budget_end_ns - home_of(ctx)->turn_ns, 30 * 125 * MS);

	/* It asks again within 2 s: for the rest of the time only. */
	h.now += 9 * SEC;
	nothing_until(&h); /* the wait has ended */
	bfq_raise_end(bfq_of(h.w), home_of(ctx));
	one_read(ctx, 8, 8);
	h.now += 1900 * MS;
	one_read(ctx, 16, 8);
	assert_int_not_equal(kind_of(ctx), BFQ_INTERACTIVE);
	h.now += 2100 * MS;
	one_read(ctx, 24, 8);
	assert_int_equal(kind_of(ctx), BFQ_INTERACTIVE);
	util_host_stop(&h);
}

static void ends_with_time(void **state)
{
	struct weir_ctx *ctx;
	uint64_t begin_ns, sector = 0;

	(void)state;
	start(false); /* 2.5 s of the reference rate: 3.75 s */
	ctx = new_ctx(&h, weir_root(h.w));
	begin_ns = h.now;
	reads(&h, ctx, 0, 8);
	while (kind_of(ctx) == BFQ_INTERACTIVE) {
		sector += 8;
		reads(&h, ctx, sector, 8); /* always one more */
		h.now += 10 * MS;
		util_complete(&h, util_dispatch(&h));
		assert_true(h.now < begin_ns + 5 * SEC);
	}
	assert_in_range(h.now - begin_ns, 3740 * MS, 3780 * MS);
	assert_int_equal(home_of(ctx)->entity.weight, 40);
	assert_int_equal(bfq_of(h.w)->nr_busy_raised, 0);
	util_host_stop(&h);
}

static void ends_with_service(void **state)
{
	struct weir_ctx *ctx;
	uint64_t sectors = 0;

	(void)state;
	start(true);
	ctx = new_ctx(&h, weir_root(h.w));
	reads(&h, ctx, 0, 1000);
	while (kind_of(ctx) == BFQ_INTERACTIVE) {
		sectors += 1000;
		reads(&h, ctx, sectors, 1000);
		util_complete(&h, util_dispatch(&h));
		h.now += MS;
	}
	assert_int_equal(sectors, 121000);
	util_host_stop(&h);
}

static void not_with_an_ioprio_of_its_own(void **state)
{
	struct weir_ctx *ctx;

	(void)state;
	start(true);
	ctx = weir_ctx_create(h.w, weir_root(h.w), WEIR_IOPRIO_BE, 3, h.now);
	one_read(ctx, 0, 8);
	assert_int_equal(kind_of(ctx), BFQ_NOT_RAISED);
	util_host_stop(&h);
}

static void not_with_low_latency_off(void **state)
{
	struct weir_ctx *ctx;

	(void)state;
	start(true);
	ctx = new_ctx(&h, weir_root(h.w));
	one_read(ctx, 0, 8);
	assert_int_equal(weir_tunable_set(h.w, BFQ_LOW_LATENCY, 0, h.now), 0);
	assert_int_equal(kind_of(ctx), BFQ_NOT_RAISED);
	assert_int_equal(bfq_of(h.w)->nr_busy_raised, 0);
	h.now += 10 * SEC;
	one_read(ctx, 8, 8);
	assert_int_equal(kind_of(ctx), BFQ_NOT_RAISED);
	util_host_stop(&h);
}

/* Write-back after half a second of silence, not the first: it got busy with that. */
static void async_is_raised_mildly(void **state)
{
	struct bfq_queue *async;
	uint32_t a;

	(void)state;
	start(true);
	async = &bfq_group(weir_root(h.w))->async[BFQ_BE][4];
	a = util_insert(&h, WEIR_OP_WRITE, 0, 8);
	util_insert(&h, WEIR_OP_WRITE, 1000, 8);
	assert_int_equal(async->raise.kind, BFQ_NOT_RAISED);
	util_expect(&h, a);
	h.now += 501 * MS;
	util_insert(&h, WEIR_OP_WRITE, 2000, 8);
	assert_int_equal(async->raise.kind, BFQ_INTERACTIVE);
	util_host_stop(&h);
}

/* ---- bursts ---- */

static void eight_at_once_are_a_burst(void **state)
{
	struct weir_ctx *ctx[10];
	uint32_t n;

	(void)state;
	start(true);
	for (n = 0; n < 10; n++) {
		ctx[n] = weir_ctx_create(h.w, weir_root(h.w), WEIR_IOPRIO_NONE, 0, h.now);
		reads(&h, ctx[n], n << 20, 8);
		if (n < 7)
			assert_int_equal(kind_of(ctx[n]), BFQ_INTERACTIVE);
		else
			assert_int_equal(kind_of(ctx[n]), BFQ_NOT_RAISED);
		h.now += 100 * MS;
	}
	for (n = 0; n < 10; n++)
		assert_true(home_of(ctx[n])->in_large_burst);
	/* Who was raised loses it with the next request that is dispatched. */
	util_complete(&h, util_dispatch(&h));
	for (n = 0; n < 10; n++)
		if (home_of(ctx[n]) == bfq_of(h.w)->served)
			assert_int_equal(kind_of(ctx[n]), BFQ_NOT_RAISED);
	util_host_stop(&h);
}

static void one_after_another_is_no_burst(void **state)
{
	struct weir_ctx *ctx;
	uint32_t n;

	(void)state;
	start(true);
	for (n = 0; n < 12; n++) {
		ctx = new_ctx(&h, weir_root(h.w));
		reads(&h, ctx, n << 20, 8);
		assert_int_equal(kind_of(ctx), BFQ_INTERACTIVE);
		h.now += 181 * MS;
	}
	util_host_stop(&h);
}

/* ---- soft real-time ---- */

/* So many sectors each 60 ms, from a queue that isn't interactive (any more). */
static struct weir_ctx *player(uint32_t nr_sectors)
{
	struct weir_ctx *ctx = new_ctx(&h, weir_root(h.w));
	uint32_t n;

	one_read(ctx, 0, nr_sectors);
	bfq_raise_end(bfq_of(h.w), home_of(ctx));
	for (n = 1; n < 20; n++) {
		h.now += 59 * MS;
		nothing_until(&h);
		one_read(ctx, (uint64_t)n * nr_sectors, nr_sectors);
	}
	return ctx;
}

static void isochronous_is_soft_real_time(void **state)
{
	struct weir_ctx *ctx;

	(void)state;
	start(true);
	ctx = player(256); /* 4267 sectors/s */
	assert_int_equal(kind_of(ctx), BFQ_SOFT_RT);
	assert_int_equal(home_of(ctx)->entity.weight, 40 * 3000);
	assert_int_equal(home_of(ctx)->raise.length_ns, 300 * MS);
	/* Turns as usual: it is served at once, not for long. */
	assert_int_equal(home_of(ctx)->budget_end_ns - home_of(ctx)->turn_ns, 125 * MS);
	util_host_stop(&h);

	start(true);
	ctx = player(450); /* 7500 sectors/s */
	assert_int_equal(kind_of(ctx), BFQ_NOT_RAISED);
	util_host_stop(&h);
}

/* An application that begins to play while it is interactive is so again afterwards. */
static void falls_back_to_interactive(void **state)
{
	struct weir_ctx *ctx;
	uint64_t begin_ns;
	uint32_t n;

	(void)state;
	start(true);
	ctx = new_ctx(&h, weir_root(h.w));
	begin_ns = h.now;
	one_read(ctx, 0, 256);
	assert_int_equal(kind_of(ctx), BFQ_INTERACTIVE);
	for (n = 1; n < 5; n++) {
		h.now += 59 * MS;
		nothing_until(&h);
		one_read(ctx, (uint64_t)n * 256, 256);
	}
	assert_int_equal(kind_of(ctx), BFQ_SOFT_RT);
	/* Now it goes through seeks, all of them. */
	home_of(ctx)->seek_history = UINT32_MAX;
	h.now += 59 * MS;
	nothing_until(&h);
	one_read(ctx, 1 << 30, 8);
	assert_int_equal(kind_of(ctx), BFQ_INTERACTIVE);
	assert_int_equal(home_of(ctx)->raise.since_ns, begin_ns);
	util_host_stop(&h);
}

/* ---- the peak rate ---- */

/* 256 sectors each us_each, one at a time, for so many seconds. */
static uint64_t peak_after(uint64_t us_each, uint64_t seconds, bool sequential)
{
	struct weir_ctx *ctx;
	uint64_t end_ns, sector = 0, peak;

	start(true);
	assert_int_equal(bfq_of(h.w)->rate.peak, 9333);
	ctx = new_ctx(&h, weir_root(h.w));
	reads(&h, ctx, 0, 256);
	end_ns = h.now + seconds * SEC;
	while (h.now < end_ns) {
		uint32_t index = util_dispatch(&h);

		if (index == UTIL_NONE) {
			h.now = nothing_until(&h);
			continue;
		}
		sector += sequential ? 256 : 10000;
		h.now += us_each * 1000;
		util_complete(&h, index);
		h.nr_rqs = 0; /* the same one again */
		reads(&h, ctx, sector, 256);
	}
	peak = bfq_of(h.w)->rate.peak;
	util_host_stop(&h);
	return peak;
}

static void peak_rate_is_learned(void **state)
{
	(void)state;
	/* 256 sectors in 500 us: 33554 in this unit. Near it after some seconds of streaming. */
	assert_in_range(peak_after(500, 10, true), 33400, 33560);
	/* Slower than thought, and streaming: that is believed. */
	assert_in_range(peak_after(5000, 10, true), 3350, 3400);
	/* And seeking: it isn't. */
	assert_int_equal(peak_after(5000, 10, false), 9333);
	/* Faster though it seeks: a tenth of the difference each time. */
	assert_in_range(peak_after(500, 10, false), 9333 + (33554 - 9333) / 10, 33554 * 3 / 4);
}

static void largest_budget_follows(void **state)
{
	struct weir_ctx *ctx;
	uint64_t sector = 0, end_ns;

	(void)state;
	start(true);
	assert_int_equal(bfq_max_budget(bfq_of(h.w)), 16384);
	ctx = new_ctx(&h, weir_root(h.w));
	reads(&h, ctx, 0, 256);
	end_ns = h.now + 20 * SEC;
	while (h.now < end_ns) {
		uint32_t index = util_dispatch(&h);

		sector += 256;
		reads(&h, ctx, sector, 256);
		h.now += 20 * MS;
		util_complete(&h, index);
	}
	/* 12800 sectors/s for 125 ms. */
	assert_in_range(bfq_max_budget(bfq_of(h.w)), 1550, 1700);
	assert_int_equal(weir_tunable_set(h.w, BFQ_MAX_BUDGET, 5000, h.now), 0);
	assert_int_equal(bfq_max_budget(bfq_of(h.w)), 5000);
	assert_int_equal(weir_tunable_set(h.w, BFQ_MAX_BUDGET, 0, h.now), 0);
	assert_int_equal(weir_tunable_set(h.w, BFQ_TIMEOUT_SYNC, 250, h.now), 0);
	assert_in_range(bfq_max_budget(bfq_of(h.w)), 3100, 3400);
	util_host_stop(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_and_idle_ones_are_interactive),
		cmocka_unit_test(ends_with_time),
		cmocka_unit_test(ends_with_service),
		cmocka_unit_test(not_with_an_ioprio_of_its_own),
		cmocka_unit_test(not_with_low_latency_off),
		cmocka_unit_test(async_is_raised_mildly),
		cmocka_unit_test(eight_at_once_are_a_burst),
		cmocka_unit_test(one_after_another_is_no_burst),
		cmocka_unit_test(isochronous_is_soft_real_time),
		cmocka_unit_test(falls_back_to_interactive),
		cmocka_unit_test(peak_rate_is_learned),
		cmocka_unit_test(largest_budget_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
