// SPDX-License-Identifier: GPL-2.0-only
/* Workers: rates, think time, and what makes writes durable. Times are exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/one_worker.h"

/* ---- pacing ---- */

static void a_rate_is_a_plan(void **state)
{
	unsigned int i;

	(void)state;
	open_job("rw=read\nsize=80k\nrate_iops=3000\n");
	run_job();
	/* Rounded from totals: 333.333 us apart, no error adds up. */
	for (i = 0; i < 20; i++)
		assert_int_equal(f.device.log[i].at_ns, i * UINT64_C(1000000000) / 3000);
	close_job();
}

static void who_is_behind_catches_up(void **state)
{
	(void)state;
	/* One at a time, 100 us each, due every 50 us: it is issued back to back. */
	open_job("rw=read\nsize=80k\nrate_iops=20000\n");
	run_job();
	assert_int_equal(f.device.log[19].at_ns, 19 * 100 * US);
	close_job();
}

static void a_byte_rate_with_depth(void **state)
{
	(void)state;
	/* 4 KiB every 40 us with 100 us of latency: three are in flight. */
	open_job("rw=read\nsize=400k\nrate=102400000\niodepth=8\nioengine=libaio\n");
	run_job();
	assert_int_equal(f.device.log[50].at_ns, 50 * 40 * US);
	assert_int_equal(f.device.log[50].depth, 3);
	close_job();
}

static void each_direction_has_its_rate(void **state)
{
	unsigned int i, nr[2] = {0};

	(void)state;
	open_job("rw=randrw\ntime_based\nruntime=100ms\nrate_iops=1000,500\niodepth=8\n"
		 "ioengine=libaio\n");
	run_job();
	for (i = 0; i < f.device.nr; i++)
		nr[f.device.log[i].op == WEIR_OP_WRITE]++;
	assert_int_equal(nr[0], 100);
	assert_int_equal(nr[1], 50);
	close_job();
}

static void poisson_gaps_have_the_mean(void **state)
{
	uint64_t gap, longest = 0, short_gaps = 0;
	unsigned int i;

	(void)state;
	open_job("rw=randread\nnumber_ios=4000\nrate_iops=10000\nrate_process=poisson\niodepth=64\n"
		 "ioengine=libaio\n");
	run_job();
	for (i = 1; i < f.device.nr; i++) {
		gap = f.device.log[i].at_ns - f.device.log[i - 1].at_ns;
		longest = gap > longest ? gap : longest;
		short_gaps += gap < 100 * US;
	}
	/* 4000 gaps of 100 us: 400 ms, deviation 6.3; 63.2 % are below the mean. */
	assert_in_range(f.device.log[3999].at_ns, 368 * MS, 432 * MS);
	assert_in_range(short_gaps, 2370, 2680);
	assert_true(longest > 500 * US);
	close_job();
}

static void thinking_comes_after_each_completion(void **state)
{
	unsigned int i;

	(void)state;
	open_job("rw=read\nsize=40k\nthinktime=300\n");
	run_job();
	for (i = 0; i < 10; i++)
		assert_int_equal(f.device.log[i].at_ns, i * 400 * US);
	/* After the last, too, as in fio. */
	assert_int_equal(f.ended_ns, 10 * 400 * US);
	close_job();
}

static void thinking_waits_for_what_is_in_flight(void **state)
{
	(void)state;
	open_job("rw=read\nsize=64k\nthinktime=300\nthinktime_blocks=6\niodepth=4\n"
		 "ioengine=libaio\n");
	run_job();
	/* Four at 0, four at 100 us; at 200 us the fifth completion issues one more, the sixth
	 * stops it; that one is back at 300 us. */
	assert_int_equal(f.device.log[7].at_ns, 100 * US);
	assert_int_equal(f.device.log[8].at_ns, 200 * US);
	assert_int_equal(f.device.log[9].at_ns, 600 * US);
	close_job();
}

static void bursts_by_iotime(void **state)
{
	(void)state;
	open_job("rw=randread\ntime_based\nruntime=10ms\nthinktime=1ms\nthinktime_iotime=1ms\n");
	run_job();
	/* 1 ms on, 1 ms off. */
	assert_int_equal(f.device.log[9].at_ns, 900 * US);
	assert_int_equal(f.device.log[10].at_ns, 2 * MS);
	assert_int_equal(reads()->ios, 50);
	close_job();
}

/* ---- durability ---- */

static void fsync_on_the_device_is_a_flush(void **state)
{
	(void)state;
	open_job("rw=write\nsize=16k\nfsync=2\n");
	run_job();
	/* w w f w w: the job is over before another fsync would be due. */
	assert_int_equal(f.device.nr, 5);
	assert_int_equal(f.device.log[2].op, WEIR_OP_FLUSH);
	assert_int_equal(f.device.log[2].at_ns, 200 * US);
	assert_int_equal(f.device.log[3].at_ns, 300 * US);
	assert_int_equal(f.worker->sync->ios, 1);
	assert_int_equal(f.worker->sync->lat.max_ns, 100 * US);
	assert_int_equal(writes()->ios, 4);
	close_job();
}

static void the_final_fsync_belongs_to_the_run(void **state)
{
	(void)state;
	open_job("rw=write\nsize=16k\nend_fsync=1\n");
	run_job();
	assert_int_equal(f.device.nr, 5);
	assert_int_equal(f.device.log[4].op, WEIR_OP_FLUSH);
	assert_int_equal(f.ended_ns, 500 * US);
	close_job();
	open_job("rw=write\ntime_based\nruntime=250us\nend_fsync=1\n");
	run_job();
	/* Three writes, the last over at 300 us, then the flush. */
	assert_int_equal(f.device.nr, 4);
	assert_int_equal(f.ended_ns, 400 * US);
	assert_int_equal(writes()->ios, 3);
	close_job();
}

static void sync_writes_are_fua(void **state)
{
	(void)state;
	open_job("rw=write\nsize=8k\nsync=1\n");
	run_job();
	assert_int_equal(f.device.nr, 2);
	assert_true(f.device.log[0].flags & WEIR_RQ_FUA);
	assert_true(f.device.log[0].flags & WEIR_RQ_SYNC);
	close_job();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rate_is_a_plan),
		cmocka_unit_test(who_is_behind_catches_up),
		cmocka_unit_test(a_byte_rate_with_depth),
		cmocka_unit_test(each_direction_has_its_rate),
		cmocka_unit_test(poisson_gaps_have_the_mean),
		cmocka_unit_test(thinking_comes_after_each_completion),
		cmocka_unit_test(thinking_waits_for_what_is_in_flight),
		cmocka_unit_test(bursts_by_iotime),
		cmocka_unit_test(fsync_on_the_device_is_a_flush),
		cmocka_unit_test(the_final_fsync_belongs_to_the_run),
		cmocka_unit_test(sync_writes_are_fua),
	};

	return cmocka_run_group_tests_name("worker_pacing", tests, NULL, NULL);
}
