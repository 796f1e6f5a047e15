// SPDX-License-Identifier: GPL-2.0-only
/* The lab's block layer: admission and congestion, flush sequences, the queue lock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/log_host.h"

static struct fixture f;

/* ---- admission ---- */

static void who_has_no_place_waits_in_order(void **state)
{
	struct lab_host_stats stats;
	struct io io[12];
	unsigned int i;

	(void)state;
	open_host(&f, 8, 0);
	f.cfg.core.pool = 4;
	start_host(&f);
	for (i = 0; i < 12; i++)
		submit(&f, &io[i], WEIR_OP_READ, i * 1000, 8, 0);
	assert_int_equal(f.device.nr, 4);
	run(&f);
	assert_int_equal(f.device.nr, 12);
	for (i = 0; i < 12; i++) {
		assert_int_equal(io[i].order, i);
		assert_int_equal(f.device.log[i].sector, i * 1000);
	}
	lab_host_read_stats(f.host, &stats);
	assert_int_equal(stats.admit_waits, 8);
	close_host(&f);
}

static struct lab_event uncongested;
static uint64_t uncongested_ns;

static void on_uncongested(struct lab_event *ev, uint64_t now_ns)
{
	(void)ev;
	uncongested_ns = now_ns;
}

static void the_end_of_congestion_is_told(void **state)
{
	struct io io[64];
	unsigned int i;

	(void)state;
	open_host(&f, 1, 0);
	f.cfg.core.pool = 64;
	start_host(&f);
	lab_event_init(&uncongested, on_uncongested);
	uncongested_ns = UINT64_MAX;
	/* Not congested: at once, but from an event. */
	lab_host_wait_uncongested(f.host, f.group[0], WEIR_WRITE, &uncongested);
	assert_int_equal(uncongested_ns, UINT64_MAX);
	run(&f);
	assert_int_equal(uncongested_ns, 0);
	for (i = 0; i < 64; i++)
		submit(&f, &io[i], WEIR_OP_WRITE, i * 1000, 8, 0);
	assert_true(lab_host_congested(f.host, f.group[0], WEIR_WRITE));
	uncongested_ns = UINT64_MAX;
	lab_host_wait_uncongested(f.host, f.group[0], WEIR_WRITE, &uncongested);
	run(&f);
	/* Writes may have 48 of the pool; hysteresis ends below 48 - 6 - 3 - 1 = 38: after some. */
	assert_false(lab_host_congested(f.host, f.group[0], WEIR_WRITE));
	assert_true(uncongested_ns > 10 * LATENCY_NS && uncongested_ns < 40 * LATENCY_NS);
	close_host(&f);
}

/* ---- flushes ---- */

static void a_preflush_goes_before_the_data(void **state)
{
	struct io io;

	(void)state;
	open_host(&f, 8, 1000);
	start_host(&f);
	submit(&f, &io, WEIR_OP_WRITE, 0, 8, WEIR_RQ_PREFLUSH | WEIR_RQ_FUA | WEIR_RQ_SYNC);
	assert_int_equal(f.device.nr, 1);
	run(&f);
	assert_int_equal(f.device.nr, 2);
	check_log(&f, 0, WEIR_OP_FLUSH, 0, 0);
	check_log(&f, 1, WEIR_OP_WRITE, 0, 8);
	assert_int_equal(f.device.log[1].at_ns, LATENCY_NS);
	assert_true(f.device.log[1].flags & WEIR_RQ_FUA);
	assert_false(f.device.log[1].flags & WEIR_RQ_PREFLUSH);
	assert_int_equal(io.done_ns, 2 * LATENCY_NS);
	close_host(&f);
}

static void without_a_write_cache_there_is_nothing_to_flush(void **state)
{
	struct io flush, data;

	(void)state;
	open_host(&f, 8, 0);
	start_host(&f);
	submit(&f, &flush, WEIR_OP_FLUSH, 0, 0, 0);
	assert_int_equal(flush.done_ns, 0); /* not from within */
	submit(&f, &data, WEIR_OP_WRITE, 0, 8, WEIR_RQ_PREFLUSH | WEIR_RQ_FUA);
	run(&f);
	assert_int_equal(flush.done_ns, 1); /* at time 0 */
	assert_int_equal(f.device.nr, 1);
	assert_int_equal(f.device.log[0].flags & (WEIR_RQ_FUA | WEIR_RQ_PREFLUSH), 0);
	close_host(&f);
}

static void flushes_share_what_has_not_begun(void **state)
{
	struct lab_host_stats stats;
	struct weir_group_stats group;
	struct io io[4];

	(void)state;
	open_host(&f, 8, 1000);
	start_host(&f);
	submit(&f, &io[0], WEIR_OP_FLUSH, 0, 0, 0);
	/* The device has begun: these two need, and share, the next one. */
	submit(&f, &io[1], WEIR_OP_FLUSH, 0, 0, 0);
	submit(&f, &io[2], WEIR_OP_FLUSH, 0, 0, 0);
	/* Another group has its own. */
	submit_as(&f, f.group[1], &io[3], WEIR_OP_FLUSH, 0, 0, 0);
	run(&f);
	assert_int_equal(io[0].done_ns, LATENCY_NS);
	assert_int_equal(io[1].done_ns, 2 * LATENCY_NS);
	assert_int_equal(io[2].done_ns, 2 * LATENCY_NS);
	assert_int_equal(io[3].done_ns, LATENCY_NS);
	assert_int_equal(f.device.nr, 3);
	lab_host_read_stats(f.host, &stats);
	assert_int_equal(stats.flushes, 3);
	assert_int_equal(stats.flush_joins, 2);
	weir_group_read_stats(f.group[0], lab_now(f.engine), &group);
	assert_int_equal(group.flushes, 2);
	close_host(&f);
}

static void a_flush_past_a_full_pool(void **state)
{
	struct io io[8], flush;
	unsigned int i;

	(void)state;
	open_host(&f, 16, 1000);
	f.cfg.core.pool = 2;
	start_host(&f);
	for (i = 0; i < 8; i++)
		submit(&f, &io[i], WEIR_OP_WRITE, i * 1000, 8, 0);
	submit(&f, &flush, WEIR_OP_FLUSH, 0, 0, 0);
	run(&f);
	assert_int_equal(flush.done_ns, LATENCY_NS);
	close_host(&f);
}

/* ---- the queue lock ---- */

static void calls_take_turns_at_the_lock(void **state)
{
	struct io io[2];

	(void)state;
	open_host(&f, 8, 0);
	f.cfg.host_ns = 10;
	f.cfg.core.merge = false;
	start_host(&f);
	submit(&f, &io[0], WEIR_OP_READ, 0, 8, 0);
	submit(&f, &io[1], WEIR_OP_READ, 1000, 8, 0);
	assert_int_equal(f.device.nr, 0);
	run(&f);
	/*
	 * insert 0 until 10, insert 1 until 20, dispatch of 0 until 30 and, queued behind it, of 1
	 * until 40. A completion holds the lock for 10 more.
	 */
	assert_int_equal(f.device.log[0].at_ns, 30);
	assert_int_equal(f.device.log[1].at_ns, 40);
	assert_int_equal(io[0].done_ns, 30 + LATENCY_NS + 10);
	assert_int_equal(io[1].done_ns, 40 + LATENCY_NS + 10);
	close_host(&f);
}

/* 100 commands of a saturated lock: three calls of 500 ns each bound the rate, not the device. */
static void the_lock_bounds_the_rate(void **state)
{
	struct io io[100];
	uint64_t last_ns = 0;
	unsigned int i;

	(void)state;
	open_host(&f, 64, 0);
	f.cfg.host_ns = 500;
	f.cfg.core.merge = false;
	start_host(&f);
	for (i = 0; i < 100; i++)
		submit(&f, &io[i], WEIR_OP_READ, i * 1000, 8, 0);
	run(&f);
	for (i = 0; i < 100; i++)
		last_ns = io[i].done_ns > last_ns ? io[i].done_ns : last_ns;
	assert_in_range(last_ns, 100 * 3 * 500, 100 * 3 * 500 + 2 * LATENCY_NS);
	close_host(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_no_place_waits_in_order),
		cmocka_unit_test(the_end_of_congestion_is_told),
		cmocka_unit_test(a_preflush_goes_before_the_data),
		cmocka_unit_test(without_a_write_cache_there_is_nothing_to_flush),
		cmocka_unit_test(flushes_share_what_has_not_begun),
		cmocka_unit_test(a_flush_past_a_full_pool),
		cmocka_unit_test(calls_take_turns_at_the_lock),
		cmocka_unit_test(the_lock_bounds_the_rate),
	};

	return cmocka_run_group_tests_name("blkhost_order", tests, NULL, NULL);
}
