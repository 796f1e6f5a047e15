// SPDX-License-Identifier: GPL-2.0-only
/*
 * BFQ, step by step: when the device is kept idle and how long, who goes when, classes, and the
 * settings.
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

/* ---- the schedule ---- */

/* The example of the essay: weights 3 and 1, turns of one request. */
static void who_goes_when(void **state)
{
	char order[13] = "";
	struct weir_ctx *ctx[2];
	uint32_t n;

	(void)state;
	set_up(false);
	tune("max_budget", 1000);
	tune("low_latency", 0);
	start();
	for (n = 0; n < 2; n++)
		ctx[n] = new_ctx(&h, util_group(&h, weir_root(h.w), n ? 100 : 300));
	for (n = 0; n < 24; n++)
		reads(&h, ctx[n % 2], (uint64_t)n % 2 << 30 | n * 1000, 1000);
	for (n = 0; n < 12; n++) {
		struct weir_rq *rq = weir_dispatch(h.w, h.now, NULL);

		assert_non_null(rq);
		order[n] = rq->ctx == ctx[0] ? 'A' : 'B';
		h.now += MS;
		weir_complete(h.w, rq, h.now);
	}
	assert_string_equal(order, "ABAAABAAABAA");
	util_host_stop(&h);
}

/*
 * Three queues of weight 40. One is served; one has the smallest finish, but begins ahead of the
 * level's time by 200 = 8000 / 40: it isn't eligible before the time has gone on as far, which is when
 * 200 x 120 sectors have been served.
 */
static void nobody_goes_before_its_start(void **state)
{
	struct bfq_entity *ahead, *patient;
	struct weir_ctx *ctx[3];
	struct bfq_group *root;
	struct bfq_tree *t;
	uint64_t before;
	uint32_t n;

	(void)state;
	set_up(false);
	tune("low_latency", 0);
	start();
	root = bfq_group(weir_root(h.w));
	t = &root->tree[BFQ_BE];
	for (n = 0; n < 3; n++) {
		ctx[n] = new_ctx(&h, weir_root(h.w));
		reads(&h, ctx[n], (uint64_t)n << 30, 8);
		h.now += 200 * MS;
	}
	util_dispatch(&h);
	assert_ptr_equal(bfq_of(h.w)->served, home_of(ctx[0]));
	ahead = &home_of(ctx[1])->entity;
	patient = &home_of(ctx[2])->entity;
	ahead->start = t->vtime + ((UINT64_C(8000) << BFQ_VTIME_SHIFT) / 40);
	bfq_entity_rebudget(ahead, 8);
	bfq_entity_rebudget(patient, 1000000);
	assert_true(ahead->finish < patient->finish);
	assert_ptr_equal(bfq_level_first(root), patient);
	before = t->vtime;
	bfq_sched_charge(bfq_of(h.w), home_of(ctx[0]), 23999);
	assert_int_equal(t->vtime - before, (UINT64_C(23999) << BFQ_VTIME_SHIFT) / 120);
	assert_ptr_equal(bfq_level_first(root), patient);
	bfq_sched_charge(bfq_of(h.w), home_of(ctx[0]), 2);
	assert_ptr_equal(bfq_level_first(root), ahead);
	util_host_stop(&h);
}

/* Who leaves ahead of time is remembered until the time has come, and goes on from there. */
static void early_leavers_are_remembered(void **state)
{
	struct weir_ctx *ctx[2];
	struct bfq_entity *e;
	struct bfq_tree *t;
	uint64_t finish;
	uint32_t first;

	(void)state;
	set_up(false);
	tune("low_latency", 0);
	tune("slice_idle", 0);
	start();
	t = &bfq_group(weir_root(h.w))->tree[BFQ_BE];
	ctx[0] = new_ctx(&h, weir_root(h.w));
	first = reads(&h, ctx[0], 0, 800);
	h.now += 200 * MS;
	ctx[1] = new_ctx(&h, weir_root(h.w));
	reads(&h, ctx[1], 1 << 30, 8);
	e = &home_of(ctx[0])->entity;
	serve(&h, first, MS);
	/* It has had 800 / 40 = 20, and V is at 800 / 80 = 10. */
	assert_false(home_of(ctx[0])->busy);
	assert_int_equal(e->place, BFQ_FORMER);
	assert_int_equal(t->weights, 80);
	finish = e->finish;
	assert_int_equal(finish - t->vtime, UINT64_C(10) << BFQ_VTIME_SHIFT);
	h.now += 100 * MS;
	reads(&h, ctx[0], 800, 8);
	assert_int_equal(e->start, finish);
	util_host_stop(&h);
}

/* Who was away comes back at V: neither with what it missed nor behind. */
static void no_credit_from_idleness(void **state)
{
	struct weir_ctx *ctx[2];
	uint32_t n, nr = 0;

	(void)state;
	set_up(false);
	tune("max_budget", 1000);
	tune("low_latency", 0);
	tune("slice_idle", 0);
	start();
	for (n = 0; n < 2; n++)
		ctx[n] = new_ctx(&h, util_group(&h, weir_root(h.w), 100));
	for (n = 0; n < 120; n++)
		reads(&h, ctx[0], n * 1000, 1000);
	for (n = 0; n < 100; n++) {
		h.now += MS;
		util_complete(&h, util_dispatch(&h));
	}
	for (n = 0; n < 20; n++)
		reads(&h, ctx[1], UINT64_C(1) << 30 | n * 1000, 1000);
	for (n = 0; n < 20; n++) {
		struct weir_rq *rq = weir_dispatch(h.w, h.now, NULL);

		nr += rq->ctx == ctx[1];
		h.now += MS;
		weir_complete(h.w, rq, h.now);
	}
	assert_in_range(nr, 10, 11);
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
		cmocka_unit_test(idling_rules),
		cmocka_unit_test(raised_is_waited_for),
		cmocka_unit_test(think_time),
		cmocka_unit_test(slice_idle_zero_never_waits),
		cmocka_unit_test(strict_is_one_at_a_time),
		cmocka_unit_test(who_goes_when),
		cmocka_unit_test(nobody_goes_before_its_start),
		cmocka_unit_test(early_leavers_are_remembered),
		cmocka_unit_test(no_credit_from_idleness),
		cmocka_unit_test(real_time_goes_first),
		cmocka_unit_test(idle_class_each_200_ms),
		cmocka_unit_test(head_and_flushes_go_before_all),
		cmocka_unit_test(weights_are_clamped_with_a_note),
		cmocka_unit_test(slice_idle_has_two_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
