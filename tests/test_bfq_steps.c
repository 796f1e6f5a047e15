// SPDX-License-Identifier: GPL-2.0-only
/*
 * BFQ, step by step: which request of a queue goes, what is charged, and what a turn's end makes of
 * the budget.
 */
#include "tests/bfq_util.h"

static struct util_host h;
static uint64_t values[WEIR_TUNABLES_MAX];

static void set_up(bool rotational)
{
	util_host_init(&h);
	h.cfg.profile.rotational = rotational;
	util_defaults(&weir_policy_bfq, values);
}

static void tune(const char *name, uint64_t value)
{
	util_tune(&weir_policy_bfq, values, name, value);
}

static void start(void)
{
	util_host_start(&h, &weir_policy_bfq, values);
}

/* ---- which request goes ---- */

static void nearest_first_with_penalty(void **state)
{
	struct weir_ctx *ctx;
	uint32_t a, b, c;

	(void)state;
	set_up(true);
	start();
	ctx = new_ctx(&h, weir_root(h.w));
	a = reads(&h, ctx, 10000, 8);
	b = reads(&h, ctx, 9900, 8);  /* 100 back: counts 200 */
	c = reads(&h, ctx, 10199, 8); /* 199 ahead: nearer */
	util_expect(&h, b);	      /* nothing served yet: the lowest is ahead of sector 0 */
	util_expect(&h, a);
	util_expect(&h, c);

	a = reads(&h, ctx, 20000, 8);
	util_expect(&h, a);
	a = reads(&h, ctx, 20107, 8); /* 99 ahead of 20008 */
	b = reads(&h, ctx, 19958, 8); /* 50 back, counts 100 */
	util_expect(&h, a);
	util_expect(&h, b);
	util_host_stop(&h);
}

static void no_further_back_than_allowed(void **state)
{
	struct weir_ctx *ctx;
	uint32_t a, near, far;

	(void)state;
	set_up(true);
	tune("back_seek_max", 1); /* KiB: 2 sectors */
	start();
	ctx = new_ctx(&h, weir_root(h.w));
	a = reads(&h, ctx, 100000, 8);
	util_expect(&h, a);
	near = reads(&h, ctx, 100005, 8);  /* 3 sectors back */
	far = reads(&h, ctx, 90000000, 8); /* ahead */
	util_expect(&h, far);
	util_expect(&h, near);
	util_host_stop(&h);
}

/* Once in a turn, the oldest that has expired goes first. */
static void expired_goes_first(void **state)
{
	struct weir_ctx *ctx;
	uint32_t old, a, b, c;

	(void)state;
	set_up(true);
	tune("timeout_sync", 10000);
	start();
	ctx = new_ctx(&h, weir_root(h.w));
	a = reads(&h, ctx, 1000, 8);
	old = reads(&h, ctx, 500000, 8);
	serve(&h, a, MS);
	h.now += 125 * MS;
	b = reads(&h, ctx, 500008, 8);
	c = reads(&h, ctx, 500016, 8);
	(void)c;
	/* `old` is the next anyway; with it gone the list's head is young. */
	serve(&h, old, MS);
	serve(&h, b, MS);
	serve(&h, c, MS);

	/* In a new turn: it is looked for when the first request has been chosen. */
	h.now += 20 * SEC;
	old = reads(&h, ctx, 900000, 8);
	a = reads(&h, ctx, 500024, 8);
	h.now += 125 * MS;
	b = reads(&h, ctx, 500032, 8);
	util_expect(&h, a);
	util_expect(&h, old);
	util_expect(&h, b);
	util_host_stop(&h);
}

static void async_has_a_queue_of_its_own(void **state)
{
	struct weir_ctx *ctx;
	uint32_t w, r;

	(void)state;
	set_up(true);
	tune("low_latency", 0);
	start();
	ctx = new_ctx(&h, weir_root(h.w));

	w = util_insert_as(&h, weir_root(h.w), ctx, WEIR_OP_WRITE, 100, 8);
	r = reads(&h, ctx, 100000, 8);
	assert_int_equal(home_of(ctx)->nr_queued, 1);
	assert_int_equal(bfq_group(weir_root(h.w))->async[BFQ_BE][4].nr_queued, 1);
	(void)w;
	(void)r;
	util_host_stop(&h);
}

/* ---- charging ---- */

static void async_is_charged_three_times(void **state)
{
	struct weir_ctx *ctx;
	struct bfq_queue *async;
	uint32_t w;

	(void)state;
	set_up(true);
	start();
	ctx = new_ctx(&h, weir_root(h.w));
	async = &bfq_group(weir_root(h.w))->async[BFQ_BE][4];
	w = writes(&h, ctx, 0, 100);
	assert_int_equal(bfq_charge_of(bfq_of(h.w), async, &h.rq[w]), 300);
	assert_int_equal(util_dispatch(&h), w);
	assert_int_equal(async->entity.service, 300);
	util_complete(&h, w);

	/* Not where weights differ and this one isn't the lightest. */
	weir_ctx_set_ioprio(ctx, WEIR_IOPRIO_BE, 7, h.now);
	reads(&h, ctx, 0, 8);
	w = util_insert(&h, WEIR_OP_WRITE, 100, 100);
	assert_int_equal(bfq_charge_of(bfq_of(h.w), async, &h.rq[w]), 100);
	util_host_stop(&h);
}

static void ioprio_is_weight(void **state)
{
	static const uint32_t weight[] = {80, 70, 60, 50, 40, 30, 20, 10};
	unsigned int level;

	(void)state;
	set_up(true);
	start();
	for (level = 0; level < 8; level++) {
		struct weir_ctx *ctx = weir_ctx_create(h.w, weir_root(h.w), WEIR_IOPRIO_BE, level,
						       h.now);

		reads(&h, ctx, level * 1000000, 8);
		assert_int_equal(home_of(ctx)->entity.base_weight, weight[level]);
		assert_int_equal(home_of(ctx)->entity.class, BFQ_BE);
	}
	util_host_stop(&h);
}

/* ---- budgets ---- */

/* What the end of a turn, for a reason, makes of a budget. */
static uint64_t next_budget(uint64_t budget, uint64_t service, uint32_t dispatched,
			    enum bfq_reason why)
{
	struct weir_ctx *ctx;
	struct bfq_queue *q;
	uint64_t after;

	set_up(true);
	tune("max_budget", 3200);
	tune("low_latency", 0);
	start();
	ctx = new_ctx(&h, weir_root(h.w));
	reads(&h, ctx, 0, 8);
	assert_int_not_equal(util_dispatch(&h), UTIL_NONE);
	q = home_of(ctx);
	assert_ptr_equal(bfq_of(h.w)->served, q);
	q->max_budget = budget;
	q->entity.budget = budget;
	q->entity.service = service;
	q->turn_ns = bfq_of(h.w)->now;
	if (!dispatched)
		util_complete(&h, 0);
	bfq_expire(bfq_of(h.w), q, false, why);
	after = q->max_budget;
	util_host_stop(&h);
	return after;
}

/* The smallest is 3200 / 32 = 100. */
static void feedback(void **state)
{
	(void)state;
	assert_int_equal(next_budget(1000, 0, 1, BFQ_TOO_IDLE), 2000);
	assert_int_equal(next_budget(1000, 0, 0, BFQ_TOO_IDLE), 600);
	assert_int_equal(next_budget(500, 0, 0, BFQ_TOO_IDLE), 100);
	assert_int_equal(next_budget(1000, 0, 0, BFQ_BUDGET_TIMEOUT), 2000);
	assert_int_equal(next_budget(2000, 0, 0, BFQ_BUDGET_TIMEOUT), 3200);
	assert_int_equal(next_budget(500, 500, 0, BFQ_BUDGET_EXHAUSTED), 2000);
	assert_int_equal(next_budget(1000, 1000, 0, BFQ_BUDGET_EXHAUSTED), 3200);
	assert_int_equal(next_budget(1000, 700, 0, BFQ_NO_MORE_REQUESTS), 700);
	assert_int_equal(next_budget(1000, 70, 0, BFQ_NO_MORE_REQUESTS), 100);
	assert_int_equal(next_budget(1000, 70, 0, BFQ_PREEMPTED), 1000);
}

/* From the least to the most in four turns: 100, 400, 1600, 3200. */
static void greedy_gets_the_most(void **state)
{
	struct weir_ctx *ctx;
	uint32_t n, turns = 0;
	uint64_t sector = 0, before = 0;
	struct bfq_queue *q;

	(void)state;
	set_up(true);
	tune("max_budget", 3200);
	tune("low_latency", 0);
	start();
	ctx = new_ctx(&h, weir_root(h.w));
	q = home_of(ctx);
	reads(&h, ctx, sector, 8);
	q->max_budget = 100;
	bfq_sched_rebudget(q, 100);
	for (n = 0; n < 1000 && q->max_budget < 3200; n++) {
		sector += 8;
		reads(&h, ctx, sector, 8);
		if (q->max_budget != before)
			turns++;
		before = q->max_budget;
		assert_int_not_equal(util_dispatch(&h), UTIL_NONE);
		util_complete(&h, n);
	}
	assert_int_equal(q->max_budget, 3200);
	assert_int_equal(turns, 3); /* seen: 100, 400, 1600 */
	util_host_stop(&h);
}

/* One request, then nothing for a long time: to the least, by 4 leasts each time. */
static void sporadic_gets_the_least(void **state)
{
	struct weir_ctx *ctx;
	struct bfq_queue *q;
	uint32_t n;

	(void)state;
	set_up(true);
	tune("max_budget", 3200);
	tune("low_latency", 0);
	start();
	ctx = new_ctx(&h, weir_root(h.w));
	for (n = 0; n < 5; n++) {
		serve(&h, reads(&h, ctx, n * 8, 8), MS);
		h.now += 100 * MS;
	}
	q = home_of(ctx);
	/* 2133, then 1733, 1333, 933, 533 at the ends of the first four turns. */
	assert_int_equal(q->max_budget, 3200 * 2 / 3 - 4 * 400);
	serve(&h, reads(&h, ctx, 800, 8), MS);
	h.now += 100 * MS;
	serve(&h, reads(&h, ctx, 808, 8), MS);
	h.now += 100 * MS;
	reads(&h, ctx, 816, 8);
	assert_int_equal(q->max_budget, 100);
	util_host_stop(&h);
}

/* ---- slow queues are charged for their time ---- */

static uint64_t charged(bool seeky, uint64_t turn_ns, enum bfq_reason why)
{
	struct weir_ctx *ctx;
	struct bfq_queue *q;
	uint64_t finish;

	set_up(true);
	tune("max_budget", 8000);
	tune("low_latency", 0);
	start();
	ctx = new_ctx(&h, weir_root(h.w));
	serve(&h, reads(&h, ctx, 0, 80), turn_ns);
	q = home_of(ctx);
	q->seek_history = seeky ? UINT32_MAX >> 1 : 0;
	finish = q->entity.start;
	bfq_expire(bfq_of(h.w), q, false, why);
	finish = q->entity.finish - finish;
	util_host_stop(&h);
	/* In sectors of a queue of weight 40. */
	return finish * 40 >> BFQ_VTIME_SHIFT;
}

static void slow_is_charged_time(void **state)
{
	(void)state;
	/* A short turn: by whether it seeks. 10 of 125 ms are 640 of 8000 sectors. */
	assert_in_range(charged(true, 10 * MS, BFQ_NO_MORE_REQUESTS), 639, 640);
	assert_in_range(charged(false, 10 * MS, BFQ_NO_MORE_REQUESTS), 79, 80);
	/* A longer one: by service. 80 sectors are less than half of 8000. */
	assert_in_range(charged(false, 50 * MS, BFQ_NO_MORE_REQUESTS), 3199, 3200);
	/* Never more than a whole turn. */
	assert_in_range(charged(false, 900 * MS, BFQ_NO_MORE_REQUESTS), 7999, 8000);
	/* Out of time with much of its budget left, though neither slow nor seeking. */
	assert_in_range(charged(false, 15 * MS, BFQ_BUDGET_TIMEOUT), 959, 960);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearest_first_with_penalty),
		cmocka_unit_test(no_further_back_than_allowed),
		cmocka_unit_test(expired_goes_first),
		cmocka_unit_test(async_has_a_queue_of_its_own),
		cmocka_unit_test(async_is_charged_three_times),
		cmocka_unit_test(ioprio_is_weight),
		cmocka_unit_test(feedback),
		cmocka_unit_test(greedy_gets_the_most),
		cmocka_unit_test(sporadic_gets_the_least),
		cmocka_unit_test(slow_is_charged_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
