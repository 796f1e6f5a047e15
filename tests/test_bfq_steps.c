// SPDX-License-Identifier: GPL-2.0-only
/*
 * BFQ, step by step: which request of a queue goes, what a turn's end makes of the budget, what is
 * charged, when the device is kept idle and how long, classes, and the settings.
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

/* ---- idling ---- */

/* A read has been served; now another queue has one. Until when is the device kept idle? */
static uint64_t idles_ns(bool rotational, int8_t queueing, bool seeky, bool other_group)
{
	struct weir_ctx *a, *b;
	struct weir_group *g;
	struct bfq_queue *q;
	uint64_t at_ns, from_ns;
	uint32_t first;

	set_up(rotational);
	tune("low_latency", 0);
	start();
	g = util_group(&h, weir_root(h.w), 100);
	a = new_ctx(&h, other_group ? util_group(&h, weir_root(h.w), 100) : weir_root(h.w));
	first = reads(&h, a, 0, 8);
	assert_int_equal(util_dispatch(&h), first);
	b = new_ctx(&h, other_group ? g : weir_root(h.w));
	q = home_of(a);
	bfq_of(h.w)->queueing = queueing;
	bfq_of(h.w)->flash = !rotational && queueing;
	reads(&h, b, UINT64_C(1) << 30, 8);
	q->seek_history = seeky ? UINT32_MAX : 0;
	util_complete(&h, first);
	from_ns = h.now;
	if (util_dispatch(&h) != UTIL_NONE) {
		util_host_stop(&h);
		return 0;
	}
	at_ns = nothing_until(&h);
	h.now = at_ns - 1;
	assert_int_equal(nothing_until(&h), at_ns);
	h.now = at_ns;
	assert_int_not_equal(util_dispatch(&h), UTIL_NONE);
	util_host_stop(&h);
	return at_ns - from_ns;
}

static void idling_rules(void **state)
{
	(void)state;
	/* An arm, whether it queues or not: for a stream. */
	assert_int_equal(idles_ns(true, 1, false, false), 8 * MS);
	assert_int_equal(idles_ns(true, 0, false, false), 8 * MS);
	/* For one that seeks only if the disk doesn't queue, and then shortly. */
	assert_int_equal(idles_ns(true, 1, true, false), 0);
	assert_int_equal(idles_ns(true, 0, true, false), 2 * MS);
	/* Flash: only if it doesn't queue. */
	assert_int_equal(idles_ns(false, 1, false, false), 0);
	assert_int_equal(idles_ns(false, 0, false, false), 8 * MS);
	assert_int_equal(idles_ns(false, 0, true, false), 0);
	/* Two groups: the shares need it, of those that seek too. */
	assert_int_equal(idles_ns(false, 1, false, true), 8 * MS);
	assert_int_equal(idles_ns(false, 1, true, true), 8 * MS);
}

/* A raised queue is waited for at least 20 ms while others aren't raised. */
static void raised_is_waited_for(void **state)
{
	struct weir_ctx *ctx;
	uint32_t write;

	(void)state;
	set_up(true);
	start();
	ctx = new_ctx(&h, weir_root(h.w));
	write = util_insert(&h, WEIR_OP_WRITE, 1 << 20, 8);
	serve(&h, reads(&h, ctx, 0, 8), MS);
	assert_true(bfq_is_raised(home_of(ctx)));
	assert_int_equal(nothing_until(&h) - h.now, 20 * MS);
	h.now += 20 * MS;
	util_expect(&h, write);
	util_host_stop(&h);
}

/* Whoever thinks longer than half of slice_idle is not waited for, by a disk that queues. */
static void think_time(void **state)
{
	struct weir_ctx *ctx;
	struct bfq_queue *q;
	uint32_t n;

	(void)state;
	set_up(true);
	tune("low_latency", 0);
	start();
	ctx = new_ctx(&h, weir_root(h.w));
	for (n = 0; n < 40; n++) {
		serve(&h, reads(&h, ctx, n * 8, 8), 100000);
		h.now += 12 * MS;
	}
	q = home_of(ctx);
	assert_in_range(q->think_mean_ns, 12 * MS, 13 * MS);
	assert_false(q->short_think);
	for (n = 0; n < 40; n++) {
		serve(&h, reads(&h, ctx, n * 8, 8), 100000);
		h.now += 1 * MS;
	}
	/* Within the wait it stays busy, and nothing is learned of it. */
	assert_false(q->short_think);
	util_host_stop(&h);
}

static void slice_idle_zero_never_waits(void **state)
{
	struct weir_ctx *a, *b;
	uint32_t n;

	(void)state;
	set_up(true);
	tune("slice_idle", 0);
	start();
	a = new_ctx(&h, util_group(&h, weir_root(h.w), 100));
	b = new_ctx(&h, util_group(&h, weir_root(h.w), 900));
	for (n = 0; n < 50; n++) {
		uint32_t x = reads(&h, a, n * 8, 8), y = reads(&h, b, n * 8 + 1000000, 8), i;

		for (i = 0; i < 2; i++) {
			uint32_t got = util_dispatch(&h);

			assert_true(got == x || got == y);
			util_complete(&h, got);
		}
	}
	util_host_stop(&h);
}

static void strict_is_one_at_a_time(void **state)
{
	struct weir_ctx *ctx;
	uint32_t a, b;

	(void)state;
	set_up(false);
	tune("slice_idle", 1);
	tune("strict_guarantees", 1);
	start();
	assert_int_equal(weir_tunable_get(h.w, BFQ_SLICE_IDLE), 8);
	ctx = new_ctx(&h, weir_root(h.w));
	a = reads(&h, ctx, 0, 8);
	b = reads(&h, ctx, 8, 8);
	assert_int_equal(util_dispatch(&h), a);
	assert_int_equal(nothing_until(&h), WEIR_NEVER);
	h.now += 3600 * SEC;
	assert_int_equal(nothing_until(&h), WEIR_NEVER);
	util_complete(&h, a);
	util_expect(&h, b);
	util_host_stop(&h);
}

/* ---- classes ---- */

static struct weir_ctx *ctx_of(enum weir_ioprio_class class)
{
	return weir_ctx_create(h.w, weir_root(h.w), class, 4, h.now);
}

static void real_time_goes_first(void **state)
{
	struct weir_ctx *be, *rt, *idle;
	uint32_t n, of_be, of_rt, of_idle;

	(void)state;
	set_up(false);
	start();
	be = ctx_of(WEIR_IOPRIO_BE);
	rt = ctx_of(WEIR_IOPRIO_RT);
	idle = ctx_of(WEIR_IOPRIO_IDLE);
	of_idle = reads(&h, idle, 0, 8);
	of_be = reads(&h, be, 1000000, 8);
	of_rt = reads(&h, rt, 2000000, 8);
	serve(&h, of_rt, MS);
	/* It may have more. Then it hasn't. */
	for (n = 0; n < 3 && util_dispatch(&h) == UTIL_NONE; n++)
		h.now = nothing_until(&h);
	assert_int_equal(h.rq[of_be].state, WEIR_RQ_DISPATCHED);
	assert_int_equal(h.rq[of_idle].state, WEIR_RQ_QUEUED);
	util_host_stop(&h);
}

/* Others always have something: the idle class gets one turn of one request in 200 ms. */
static void idle_class_each_200_ms(void **state)
{
	struct weir_ctx *be, *idle;
	uint64_t last_ns = 0, sector = 0;
	uint32_t n, nr = 0;

	(void)state;
	set_up(false);
	tune("timeout_sync", 1); /* turns are short, so that there is a choice */
	tune("low_latency", 0);
	start();
	be = ctx_of(WEIR_IOPRIO_BE);
	idle = ctx_of(WEIR_IOPRIO_IDLE);
	last_ns = h.now;
	for (n = 0; n < 10; n++)
		reads(&h, idle, UINT64_C(1) << 30, 8);
	reads(&h, be, sector, 8);
	for (n = 0; n < 1200; n++) {
		struct weir_rq *rq;

		sector += 8;
		reads(&h, be, sector, 8);
		rq = weir_dispatch(h.w, h.now, NULL);
		assert_non_null(rq);
		if (rq->ctx == idle) {
			assert_in_range(h.now - last_ns, 200 * MS, 204 * MS);
			last_ns = h.now;
			nr++;
		}
		h.now += MS;
		weir_complete(h.w, rq, h.now);
	}
	assert_int_equal(nr, 5);
	util_host_stop(&h);
}

/* ---- the rest ---- */

static void head_and_flushes_go_before_all(void **state)
{
	struct weir_ctx *ctx;
	struct weir_rq *back;
	uint32_t a, b, flush;

	(void)state;
	set_up(true);
	start();
	ctx = new_ctx(&h, weir_root(h.w));
	a = reads(&h, ctx, 0, 8);
	b = reads(&h, ctx, 8, 8);
	assert_int_equal(util_dispatch(&h), a);
	flush = util_insert(&h, WEIR_OP_FLUSH, 0, 0);
	weir_requeue(h.w, &h.rq[a], WEIR_REQUEUE_INSERT, h.now);
	back = weir_dispatch(h.w, h.now, NULL);
	assert_ptr_equal(back, &h.rq[a]);
	util_expect(&h, flush);
	util_expect(&h, b);
	util_complete(&h, a);
	util_host_stop(&h);
}

static void weights_are_clamped_with_a_note(void **state)
{
	struct weir_group *g;

	(void)state;
	set_up(true);
	start();
	g = util_group(&h, weir_root(h.w), 5000);
	assert_int_equal(h.nr_notes, 1);
	assert_string_equal(h.last_note,
			    "bfq: weight 5000 of group 1 is outside 1..1000, taken as 1000");
	assert_int_equal(bfq_group(g)->entity.weight, 1000);
	util_group(&h, weir_root(h.w), 1000);
	util_group(&h, weir_root(h.w), 1);
	assert_int_equal(h.nr_notes, 1);
	util_host_stop(&h);
}

static void slice_idle_has_two_names(void **state)
{
	(void)state;
	set_up(true);
	tune("slice_idle_us", 1500);
	start();
	assert_int_equal(bfq_of(h.w)->slice_idle_ns, 1500000);
	assert_int_equal(weir_tunable_get(h.w, BFQ_SLICE_IDLE), 1);
	assert_int_equal(weir_tunable_set(h.w, BFQ_SLICE_IDLE, 3, h.now), 0);
	assert_int_equal(weir_tunable_get(h.w, BFQ_SLICE_IDLE_US), 3000);
	assert_int_equal(bfq_of(h.w)->slice_idle_ns, 3 * MS);
	util_host_stop(&h);
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
		cmocka_unit_test(idling_rules),
		cmocka_unit_test(raised_is_waited_for),
		cmocka_unit_test(think_time),
		cmocka_unit_test(slice_idle_zero_never_waits),
		cmocka_unit_test(strict_is_one_at_a_time),
		cmocka_unit_test(real_time_goes_first),
		cmocka_unit_test(idle_class_each_200_ms),
		cmocka_unit_test(head_and_flushes_go_before_all),
		cmocka_unit_test(weights_are_clamped_with_a_note),
		cmocka_unit_test(slice_idle_has_two_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
