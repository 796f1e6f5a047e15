// SPDX-License-Identifier: GPL-2.0-only
/* Workers: how deep, how much, how long, and what counts. Times are exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/one_worker.h"

/* ---- depth ---- */

static void one_at_a_time(void **state)
{
	unsigned int i;

	(void)state;
	open_job("rw=read\nsize=40k\n");
	run_job();
	assert_int_equal(f.device.nr, 10);
	for (i = 0; i < f.device.nr; i++) {
		assert_int_equal(f.device.log[i].sector, i * 8);
		assert_int_equal(f.device.log[i].at_ns, i * 100 * US);
		assert_int_equal(f.device.log[i].depth, 1);
	}
	assert_int_equal(f.ended_ns, 1 * MS);
	assert_int_equal(lab_worker_measured_ns(f.worker), 1 * MS);
	assert_int_equal(reads()->ios, 10);
	assert_int_equal(reads()->bytes, 40960);
	assert_int_equal(reads()->lat.min_ns, 100 * US);
	assert_int_equal(reads()->lat.max_ns, 100 * US);
	close_job();
}

/* iodepth means nothing to an engine that waits for each I/O. */
static void sync_engines_ignore_iodepth(void **state)
{
	(void)state;
	open_job("rw=read\nsize=40k\niodepth=8\nioengine=psync\n");
	run_job();
	assert_int_equal(f.ended_ns, 1 * MS);
	close_job();
}

static void async_keeps_its_depth(void **state)
{
	unsigned int i;

	(void)state;
	open_job("rw=randread\nsize=128k\niodepth=8\nioengine=libaio\n");
	run_job();
	assert_int_equal(f.device.nr, 32);
	for (i = 0; i < 8; i++)
		assert_int_equal(f.device.log[i].depth, i + 1);
	assert_int_equal(f.device.log[8].at_ns, 100 * US);
	assert_int_equal(f.ended_ns, 400 * US);
	assert_int_equal(f.worker->depth_level[0], 1); /* one was issued at depth 1 */
	assert_int_equal(f.worker->depth_level[1], 2);
	assert_int_equal(f.worker->depth_level[2], 4);
	assert_int_equal(f.worker->depth_level[3], 25);
	close_job();
}

/* Full at 8, nothing more before 2 are left. All complete at one instant, one by one. */
static void iodepth_low_drains_first(void **state)
{
	unsigned int i, deepest = 0;

	(void)state;
	open_job("rw=read\nsize=64k\niodepth=8\niodepth_low=2\nioengine=libaio\n");
	run_job();
	assert_int_equal(f.device.nr, 16);
	/* The ninth goes when 2 of the first eight are still there. */
	assert_int_equal(f.device.log[8].depth, 3);
	for (i = 8; i < 16; i++)
		deepest = f.device.log[i].depth > deepest ? f.device.log[i].depth : deepest;
	assert_int_equal(deepest, 8);
	close_job();
}

static void batches_wait_for_completions(void **state)
{
	(void)state;
	open_job("rw=read\nsize=64k\niodepth=8\niodepth_batch_complete_min=4\nioengine=libaio\n");
	run_job();
	/* Reaped in fours: after the first reaping four are in flight, and four go. */
	assert_int_equal(f.device.nr, 16);
	assert_int_equal(f.device.log[8].depth, 5);
	assert_int_equal(f.device.log[11].depth, 8);
	close_job();
}

/* ---- how much ---- */

static void number_ios_ends_it(void **state)
{
	(void)state;
	open_job("rw=randread\nnumber_ios=7\niodepth=4\nioengine=libaio\n");
	run_job();
	assert_int_equal(f.device.nr, 7);
	assert_int_equal(f.ended_ns, 200 * US);
	close_job();
}

static void loops_repeat(void **state)
{
	(void)state;
	open_job("rw=read\nsize=40k\nloops=3\n");
	run_job();
	assert_int_equal(f.device.nr, 30);
	assert_int_equal(f.device.log[10].sector, 0);
	assert_int_equal(f.device.log[29].sector, 72);
	close_job();
}

static void io_size_goes_around_or_stops_short(void **state)
{
	(void)state;
	open_job("rw=read\nsize=40k\nio_size=100k\n");
	run_job();
	assert_int_equal(f.device.nr, 25);
	assert_int_equal(f.device.log[24].sector, 32);
	close_job();
	open_job("rw=read\nsize=40k\nio_size=12k\n");
	run_job();
	assert_int_equal(f.device.nr, 3);
	close_job();
}

/* 10 KiB are two and a half blocks: the half is not a reason for another round. */
static void a_remainder_is_left(void **state)
{
	(void)state;
	open_job("rw=read\nsize=10k\n");
	run_job();
	assert_int_equal(f.device.nr, 2);
	close_job();
}

static void trim_and_write(void **state)
{
	(void)state;
	open_job("rw=trimwrite\nsize=8k\n");
	run_job();
	assert_int_equal(f.device.nr, 4);
	assert_int_equal(f.device.log[0].op, WEIR_OP_DISCARD);
	assert_int_equal(f.device.log[1].op, WEIR_OP_WRITE);
	assert_int_equal(f.device.log[1].sector, 0);
	assert_int_equal(f.device.log[2].op, WEIR_OP_DISCARD);
	assert_int_equal(f.device.log[3].sector, 8);
	close_job();
}

/* ---- time ---- */

static void runtime_cuts_and_late_completions_do_not_count(void **state)
{
	(void)state;
	open_job("rw=randread\ntime_based\nruntime=1050us\niodepth=2\nioengine=libaio\n");
	run_job();
	/* Completions at 100, 200 .. 1000 us count, two each; those at 1100 us are too late. */
	assert_int_equal(f.device.nr, 22);
	assert_int_equal(reads()->ios, 20);
	assert_int_equal(f.ended_ns, 1050 * US);
	assert_int_equal(f.idle_ns, 1100 * US);
	assert_int_equal(lab_worker_measured_ns(f.worker), 1050 * US);
	close_job();
}

static void a_completion_at_the_end_counts(void **state)
{
	(void)state;
	open_job("rw=randread\ntime_based\nruntime=1ms\n");
	run_job();
	assert_int_equal(reads()->ios, 10);
	assert_int_equal(f.device.nr, 10); /* and nothing is issued any more */
	assert_int_equal(f.idle_ns, 1 * MS);
	close_job();
}

static void the_ramp_does_not_count(void **state)
{
	(void)state;
	open_job("rw=randread\ntime_based\nramp_time=500us\nruntime=1ms\n");
	run_job();
	/* The one at 500 us belongs to the ramp. */
	assert_int_equal(reads()->ios, 10);
	assert_int_equal(f.ended_ns, 1500 * US);
	assert_int_equal(lab_worker_measured_ns(f.worker), 1 * MS);
	close_job();
}

/* What was done in the ramp is not taken off the size. */
static void a_size_counts_from_the_end_of_the_ramp(void **state)
{
	(void)state;
	open_job("rw=read\nsize=40k\nramp_time=450us\n");
	run_job();
	/* Issued at 0, 100 .. 400 before the end of the ramp, ten blocks after it; the first of the
	 * five that belong to the ramp completes at 500 us and counts as well. */
	assert_int_equal(f.device.nr, 15);
	assert_int_equal(reads()->ios, 11);
	close_job();
}

static void a_start_delay(void **state)
{
	(void)state;
	open_job("rw=read\nsize=8k\nstartdelay=3ms\n");
	run_job();
	assert_int_equal(f.device.log[0].at_ns, 3 * MS);
	assert_int_equal(f.ended_ns, 3 * MS + 200 * US);
	assert_int_equal(lab_worker_measured_ns(f.worker), 200 * US);
	close_job();
}

static void bad_places(void **state)
{
	struct lab_worker_place place = {.nr_files = 1, .bytes = 512};
	const char *wrong;

	(void)state;
	open_job("rw=read\n");
	assert_null(lab_worker_new(&f.env, f.jobs->job[0], &place, weir_root(lab_host_weir(f.host)),
				   1, &wrong));
	assert_string_equal(wrong, "is smaller than one block");
	close_job();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_at_a_time),
		cmocka_unit_test(sync_engines_ignore_iodepth),
		cmocka_unit_test(async_keeps_its_depth),
		cmocka_unit_test(iodepth_low_drains_first),
		cmocka_unit_test(batches_wait_for_completions),
		cmocka_unit_test(number_ios_ends_it),
		cmocka_unit_test(loops_repeat),
		cmocka_unit_test(io_size_goes_around_or_stops_short),
		cmocka_unit_test(a_remainder_is_left),
		cmocka_unit_test(trim_and_write),
		cmocka_unit_test(runtime_cuts_and_late_completions_do_not_count),
		cmocka_unit_test(a_completion_at_the_end_counts),
		cmocka_unit_test(the_ramp_does_not_count),
		cmocka_unit_test(a_size_counts_from_the_end_of_the_ramp),
		cmocka_unit_test(a_start_delay),
		cmocka_unit_test(bad_places),
	};

	return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
