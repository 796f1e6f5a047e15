// SPDX-License-Identifier: GPL-2.0-only
/* BFQ: injection and wakers, preemption, and whether the device queues. */
#include "tests/bfq_util.h"

static struct util_host h;
static uint64_t values[WEIR_TUNABLES_MAX];
static struct weir_ctx *a, *b;

static void start(bool rotational)
{
	util_host_init(&h);
	h.cfg.profile.rotational = rotational;
	util_defaults(&weir_policy_bfq, values);
	util_tune(&weir_policy_bfq, values, "low_latency", 0);
	util_host_start(&h, &weir_policy_bfq, values);
	a = new_ctx(&h, weir_root(h.w));
	b = new_ctx(&h, weir_root(h.w));
}

/* ---- injection ---- */

/* What a process wrote goes while the device is kept idle for its reads; others' writes don't. */
static void own_writes_are_injected(void **state)
{
	uint32_t others, own;

	(void)state;
	start(true);
	serve(&h, reads(&h, a, 0, 8), MS);
	others = writes(&h, b, UINT64_C(1) << 30, 8);
	assert_int_equal(nothing_until(&h), h.now + 8 * MS);
	h.now += 8 * MS;
	util_expect(&h, others);
	util_host_stop(&h);

	start(true);
	serve(&h, reads(&h, a, 0, 8), MS);
	own = writes(&h, a, UINT64_C(1) << 30, 8);
	util_expect(&h, own);
	assert_ptr_equal(bfq_of(h.w)->served, home_of(a));
	util_host_stop(&h);
}

/*
 * a thinks, and each time goes on when b's request has completed: b is its waker, after three times
 * in a row, and is served while the device is kept idle for a.
 */
static void wakers_are_served(void **state)
{
	struct weir_group *g;
	struct weir_ctx *c;
	uint32_t n, third;

	(void)state;
	start(true);
	g = util_group(&h, weir_root(h.w), 500);
	c = new_ctx(&h, g);
	home_of(c)->short_think = true;
	serve(&h, reads(&h, c, 0, 8), MS);
	home_of(c)->short_think = false;
	home_of(c)->split_ns = h.now;
	for (n = 0; n < 3; n++) {
		uint32_t index;

		h.now += 30 * MS;
		assert_null(home_of(c)->waker);
		index = reads(&h, b, UINT64_C(1) << 30, 8);
		assert_int_equal(util_dispatch(&h), index);
		h.now += MS;
		util_complete(&h, index);
		h.now += MS;
		home_of(c)->think_samples = 0;
		home_of(c)->split_ns = h.now; /* its think time isn't judged anew */
		home_of(c)->short_think = false;
		serve(&h, reads(&h, c, n * 8 + 8, 8), MS);
	}
	assert_ptr_equal(home_of(c)->waker, home_of(b));
	/* Two groups: the device is kept idle for c. (And b isn't to take its turn back.) */
	home_of(b)->non_blocking = false;
	third = reads(&h, b, UINT64_C(1) << 29, 8);
	assert_ptr_equal(bfq_of(h.w)->served, home_of(c));
	util_expect(&h, third);
	assert_ptr_equal(bfq_of(h.w)->served, home_of(c));
	/* And forgotten with it. */
	weir_ctx_exit(b, h.now);
	assert_null(home_of(c)->waker);
	util_host_stop(&h);
}

/* The number that may be in the driver: up by one while service takes less than 1.5 times as long. */
static void injection_is_learned(void **state)
{
	struct bfq_queue *q;
	struct bfq *bfq;
	struct weir_rq rq;

	(void)state;
	start(true);
	bfq = bfq_of(h.w);
	serve(&h, reads(&h, a, 0, 8), MS);
	q = home_of(a);
	assert_int_equal(q->inject_limit, 0);
	/* The baseline: 10 ms from arrival to completion, alone. */
	bfq->measured = &rq;
	bfq->measured_ns = bfq->now - 10 * MS;
	bfq->in_driver = 1;
	bfq_inject_completed(bfq, q, &rq);
	assert_int_equal(q->base_service_ns, 10 * MS);
	assert_int_equal(q->inject_limit, 1);
	/* 14 ms with one injected, 3 seen in the driver. */
	bfq->depth_max = 3;
	bfq->in_driver = 2;
	bfq->injected = true;
	bfq->measured = &rq;
	bfq->measured_ns = bfq->now - 14 * MS;
	bfq_inject_completed(bfq, q, &rq);
	assert_int_equal(q->inject_limit, 2);
	/* 15 ms are too many. */
	bfq->injected = true;
	bfq->measured = &rq;
	bfq->measured_ns = bfq->now - 15 * MS;
	bfq_inject_completed(bfq, q, &rq);
	assert_int_equal(q->inject_limit, 1);
	bfq->in_driver = 0;
	util_host_stop(&h);
}

/* ---- preemption ---- */

/* The group with more weight takes over; the one with less does not. */
static void heavier_preempts(void **state)
{
	struct weir_ctx *light, *heavy;
	uint32_t first, second;

	(void)state;
	start(true);
	light = new_ctx(&h, util_group(&h, weir_root(h.w), 100));
	heavy = new_ctx(&h, util_group(&h, weir_root(h.w), 200));
	first = reads(&h, light, 0, 8);
	reads(&h, light, 8, 8);
	assert_int_equal(util_dispatch(&h), first);
	second = reads(&h, heavy, UINT64_C(1) << 30, 8);
	assert_int_equal(util_dispatch(&h), second);
	util_complete(&h, first);
	util_complete(&h, second);
	util_host_stop(&h);

	start(true);
	light = new_ctx(&h, util_group(&h, weir_root(h.w), 100));
	heavy = new_ctx(&h, util_group(&h, weir_root(h.w), 200));
	first = reads(&h, heavy, 0, 8);
	second = reads(&h, heavy, 8, 8);
	assert_int_equal(util_dispatch(&h), first);
	reads(&h, light, UINT64_C(1) << 30, 8);
	assert_int_equal(util_dispatch(&h), second);
	util_complete(&h, first);
	util_complete(&h, second);
	util_host_stop(&h);
}

/* It was given up for an idle wait that it missed by little: it takes its turn back. */
static void late_by_little_preempts(void **state)
{
	uint32_t other, again, more;

	(void)state;
	start(true);
	serve(&h, reads(&h, a, 0, 8), MS);
	other = reads(&h, b, UINT64_C(1) << 30, 8);
	more = reads(&h, b, (UINT64_C(1) << 30) + 8, 8);
	h.now += 9 * MS;
	assert_int_equal(util_dispatch(&h), other);
	h.now += 10 * MS; /* within 3 * 8 ms of its last completion */
	again = reads(&h, a, 8, 8);
	assert_int_equal(util_dispatch(&h), again);
	util_complete(&h, other);
	util_complete(&h, again);
	(void)more;
	util_host_stop(&h);

	start(true);
	serve(&h, reads(&h, a, 0, 8), MS);
	other = reads(&h, b, UINT64_C(1) << 30, 8);
	more = reads(&h, b, (UINT64_C(1) << 30) + 8, 8);
	h.now += 9 * MS;
	assert_int_equal(util_dispatch(&h), other);
	h.now += 16 * MS;
	reads(&h, a, 8, 8);
	assert_int_equal(util_dispatch(&h), more);
	util_complete(&h, other);
	util_complete(&h, more);
	util_host_stop(&h);
}

/* ---- the device ---- */

static void queueing_is_noticed(void **state)
{
	uint32_t index[40], n;

	(void)state;
	start(false);
	assert_int_equal(bfq_of(h.w)->queueing, -1);
	for (n = 0; n < 40; n++)
		index[n] = reads(&h, a, n * 8, 8);
	for (n = 0; n < 36; n++)
		assert_int_not_equal(util_dispatch(&h), UTIL_NONE);
	for (n = 0; n < 36; n++)
		util_complete(&h, index[n]);
	assert_int_equal(bfq_of(h.w)->queueing, 1);
	assert_true(bfq_of(h.w)->flash);
	util_host_stop(&h);

	/* One at a time with more waiting: it doesn't. */
	start(false);
	for (n = 0; n < 40; n++)
		index[n] = reads(&h, a, n * 8, 8);
	for (n = 0; n < 36; n++)
		util_expect(&h, index[n]);
	assert_int_equal(bfq_of(h.w)->queueing, 0);
	assert_false(bfq_of(h.w)->flash);
	util_host_stop(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_writes_are_injected), cmocka_unit_test(wakers_are_served),
		cmocka_unit_test(injection_is_learned),	   cmocka_unit_test(heavier_preempts),
		cmocka_unit_test(late_by_little_preempts), cmocka_unit_test(queueing_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
