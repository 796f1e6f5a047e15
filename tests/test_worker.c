// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workers over a device that takes 100 us for everything and writes down what comes: when each I/O
 * is issued, how deep, and what counts. Jobs are given as fio text; times are exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/list.h"
#include "lab/worker.h"

#define US UINT64_C(1000)
#define MS (1000 * US)

enum { LOG_MAX = 4096 };

struct logged {
	enum weir_op op;
	uint16_t flags;
	uint64_t sector;
	uint32_t nr_sectors, depth; /* depth: with this one */
	uint64_t at_ns;
};

struct fixture {
	struct lab_engine *engine;
	struct lab_device device;
	struct lab_host *host;
	struct lab_jobs *jobs;
	struct lab_worker_env env;
	struct lab_worker *worker;
	struct logged log[LOG_MAX];
	unsigned int nr;
	bool ended, idle;
	uint64_t ended_ns, idle_ns, latency_ns;
};

static struct fixture f;

static void log_done(struct lab_event *ev, uint64_t now_ns)
{
	struct lab_cmd *cmd = weir_container_of(ev, struct lab_cmd, ev);

	f.device.in_flight--;
	cmd->done(cmd, now_ns);
}

static void log_submit(struct lab_device *d, struct lab_cmd *cmd, uint64_t now_ns)
{
	assert_true(f.nr < LOG_MAX);
	f.log[f.nr++] = (struct logged){cmd->op,	 cmd->flags,   cmd->sector,
					cmd->nr_sectors, d->in_flight, now_ns};
	lab_event_init(&cmd->ev, log_done);
	lab_event_at(d->engine, &cmd->ev, now_ns + f.latency_ns);
}

static void on_ended(void *priv, uint64_t now_ns)
{
	(void)priv;
	assert_false(f.ended);
	f.ended = true;
	f.ended_ns = now_ns;
}

static void on_idle(void *priv, uint64_t now_ns)
{
	(void)priv;
	assert_true(f.ended && !f.idle);
	f.idle = true;
	f.idle_ns = now_ns;
}

static void open_job(const char *options)
{
	struct lab_host_config cfg;
	struct lab_worker_place place = {.nr_files = 1};
	char text[1024], err[256] = "";
	const char *wrong;
	int bytes;

	memset(&f, 0, sizeof(f));
	f.engine = lab_engine_new();
	f.latency_ns = 100 * US;
	f.device = (struct lab_device){
		.info = {.sectors = 1 << 20,
			 .queue_depth = 256,
			 .max_sectors = 1024,
			 .max_segments = 128,
			 .profile = {.rbps = 1000000000,
				     .rseqiops = 100000,
				     .rrandiops = 100000,
				     .wbps = 1000000000,
				     .wseqiops = 100000,
				     .wrandiops = 100000,
				     .flush_ns = 1000}},
		.engine = f.engine,
		.submit = log_submit,
	};
	lab_host_config_init(&cfg, &f.device.info);
	cfg.core.merge = false;
	f.host = lab_host_new(f.engine, &f.device, &cfg, weir_policy_find("noop"), NULL, err,
			      sizeof(err));
	assert_non_null(f.host);
	bytes = snprintf(text, sizeof(text), "[job]\nfilename=/dev/x\ndirect=1\nsize=16m\n%s",
			 options);
	f.jobs = lab_jobs_parse(text, (size_t)bytes, "job", NULL, err, sizeof(err));
	if (!f.jobs)
		fail_msg("%s", err);
	place.bytes = f.jobs->job[0]->size;
	place.start = f.jobs->job[0]->offset;
	f.env = (struct lab_worker_env){
		.engine = f.engine, .host = f.host, .seed = 1, .ended = on_ended, .idle = on_idle};
	f.worker = lab_worker_new(&f.env, f.jobs->job[0], &place, weir_root(lab_host_weir(f.host)),
				  0, &wrong);
	if (!f.worker)
		fail_msg("%s", wrong);
}

static void run_job(void)
{
	lab_worker_start(f.worker, 0);
	lab_engine_run(f.engine, LAB_NEVER);
	assert_true(f.ended && f.idle);
}

static void close_job(void)
{
	lab_worker_free(f.worker);
	lab_jobs_free(f.jobs);
	lab_host_free(f.host);
	lab_engine_free(f.engine);
}

static const struct lab_meter *reads(void)
{
	return f.worker->meter[LAB_DIR_READ];
}

static const struct lab_meter *writes(void)
{
	return f.worker->meter[LAB_DIR_WRITE];
}

/* ---- depth ---- */

static void one_at_a_time(void **state)
{
	unsigned int i;

	(void)state;
	open_job("rw=read\nsize=40k\n");
	run_job();
	assert_int_equal(f.nr, 10);
	for (i = 0; i < f.nr; i++) {
		assert_int_equal(f.log[i].sector, i * 8);
		assert_int_equal(f.log[i].at_ns, i * 100 * US);
		assert_int_equal(f.log[i].depth, 1);
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
	assert_int_equal(f.nr, 32);
	for (i = 0; i < 8; i++)
		assert_int_equal(f.log[i].depth, i + 1);
	assert_int_equal(f.log[8].at_ns, 100 * US);
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
	assert_int_equal(f.nr, 16);
	/* The ninth goes when 2 of the first eight are still there. */
	assert_int_equal(f.log[8].depth, 3);
	for (i = 8; i < 16; i++)
		deepest = f.log[i].depth > deepest ? f.log[i].depth : deepest;
	assert_int_equal(deepest, 8);
	close_job();
}

static void batches_wait_for_completions(void **state)
{
	(void)state;
	open_job("rw=read\nsize=64k\niodepth=8\niodepth_batch_complete_min=4\nioengine=libaio\n");
	run_job();
	/* Reaped in fours: after the first reaping four are in flight, and four go. */
	assert_int_equal(f.nr, 16);
	assert_int_equal(f.log[8].depth, 5);
	assert_int_equal(f.log[11].depth, 8);
	close_job();
}

/* ---- how much ---- */

static void number_ios_ends_it(void **state)
{
	(void)state;
	open_job("rw=randread\nnumber_ios=7\niodepth=4\nioengine=libaio\n");
	run_job();
	assert_int_equal(f.nr, 7);
	assert_int_equal(f.ended_ns, 200 * US);
	close_job();
}

static void loops_repeat(void **state)
{
	(void)state;
	open_job("rw=read\nsize=40k\nloops=3\n");
	run_job();
	assert_int_equal(f.nr, 30);
	assert_int_equal(f.log[10].sector, 0);
	assert_int_equal(f.log[29].sector, 72);
	close_job();
}

static void io_size_goes_around_or_stops_short(void **state)
{
	(void)state;
	open_job("rw=read\nsize=40k\nio_size=100k\n");
	run_job();
	assert_int_equal(f.nr, 25);
	assert_int_equal(f.log[24].sector, 32);
	close_job();
	open_job("rw=read\nsize=40k\nio_size=12k\n");
	run_job();
	assert_int_equal(f.nr, 3);
	close_job();
}

/* 10 KiB are two and a half blocks: the half is not a reason for another round. */
static void a_remainder_is_left(void **state)
{
	(void)state;
	open_job("rw=read\nsize=10k\n");
	run_job();
	assert_int_equal(f.nr, 2);
	close_job();
}

static void trim_and_write(void **state)
{
	(void)state;
	open_job("rw=trimwrite\nsize=8k\n");
	run_job();
	assert_int_equal(f.nr, 4);
	assert_int_equal(f.log[0].op, WEIR_OP_DISCARD);
	assert_int_equal(f.log[1].op, WEIR_OP_WRITE);
	assert_int_equal(f.log[1].sector, 0);
	assert_int_equal(f.log[2].op, WEIR_OP_DISCARD);
	assert_int_equal(f.log[3].sector, 8);
	close_job();
}

/* ---- time ---- */

static void runtime_cuts_and_late_completions_do_not_count(void **state)
{
	(void)state;
	open_job("rw=randread\ntime_based\nruntime=1050us\niodepth=2\nioengine=libaio\n");
	run_job();
	/* Completions at 100, 200 .. 1000 us count, two each; those at 1100 us are too late. */
	assert_int_equal(f.nr, 22);
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
	assert_int_equal(f.nr, 10); /* and nothing is issued any more */
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
	assert_int_equal(f.nr, 15);
	assert_int_equal(reads()->ios, 11);
	close_job();
}

static void a_start_delay(void **state)
{
	(void)state;
	open_job("rw=read\nsize=8k\nstartdelay=3ms\n");
	run_job();
	assert_int_equal(f.log[0].at_ns, 3 * MS);
	assert_int_equal(f.ended_ns, 3 * MS + 200 * US);
	assert_int_equal(lab_worker_measured_ns(f.worker), 200 * US);
	close_job();
}

/* ---- pacing ---- */

static void a_rate_is_a_plan(void **state)
{
	unsigned int i;

	(void)state;
	open_job("rw=read\nsize=80k\nrate_iops=3000\n");
	run_job();
	/* Rounded from totals: 333.333 us apart, no error adds up. */
	for (i = 0; i < 20; i++)
		assert_int_equal(f.log[i].at_ns, i * UINT64_C(1000000000) / 3000);
	close_job();
}

static void who_is_behind_catches_up(void **state)
{
	(void)state;
	/* One at a time, 100 us each, due every 50 us: it is issued back to back. */
	open_job("rw=read\nsize=80k\nrate_iops=20000\n");
	run_job();
	assert_int_equal(f.log[19].at_ns, 19 * 100 * US);
	close_job();
}

static void a_byte_rate_with_depth(void **state)
{
	(void)state;
	/* 4 KiB every 40 us with 100 us of latency: three are in flight. */
	open_job("rw=read\nsize=400k\nrate=102400000\niodepth=8\nioengine=libaio\n");
	run_job();
	assert_int_equal(f.log[50].at_ns, 50 * 40 * US);
	assert_int_equal(f.log[50].depth, 3);
	close_job();
}

static void each_direction_has_its_rate(void **state)
{
	unsigned int i, nr[2] = {0};

	(void)state;
	open_job("rw=randrw\ntime_based\nruntime=100ms\nrate_iops=1000,500\niodepth=8\n"
		 "ioengine=libaio\n");
	run_job();
	for (i = 0; i < f.nr; i++)
		nr[f.log[i].op == WEIR_OP_WRITE]++;
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
	for (i = 1; i < f.nr; i++) {
		gap = f.log[i].at_ns - f.log[i - 1].at_ns;
		longest = gap > longest ? gap : longest;
		short_gaps += gap < 100 * US;
	}
	/* 4000 gaps of 100 us: 400 ms, deviation 6.3; 63.2 % are below the mean. */
	assert_in_range(f.log[3999].at_ns, 368 * MS, 432 * MS);
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
		assert_int_equal(f.log[i].at_ns, i * 400 * US);
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
	assert_int_equal(f.log[7].at_ns, 100 * US);
	assert_int_equal(f.log[8].at_ns, 200 * US);
	assert_int_equal(f.log[9].at_ns, 600 * US);
	close_job();
}

static void bursts_by_iotime(void **state)
{
	(void)state;
	open_job("rw=randread\ntime_based\nruntime=10ms\nthinktime=1ms\nthinktime_iotime=1ms\n");
	run_job();
	/* 1 ms on, 1 ms off. */
	assert_int_equal(f.log[9].at_ns, 900 * US);
	assert_int_equal(f.log[10].at_ns, 2 * MS);
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
	assert_int_equal(f.nr, 5);
	assert_int_equal(f.log[2].op, WEIR_OP_FLUSH);
	assert_int_equal(f.log[2].at_ns, 200 * US);
	assert_int_equal(f.log[3].at_ns, 300 * US);
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
	assert_int_equal(f.nr, 5);
	assert_int_equal(f.log[4].op, WEIR_OP_FLUSH);
	assert_int_equal(f.ended_ns, 500 * US);
	close_job();
	open_job("rw=write\ntime_based\nruntime=250us\nend_fsync=1\n");
	run_job();
	/* Three writes, the last over at 300 us, then the flush. */
	assert_int_equal(f.nr, 4);
	assert_int_equal(f.ended_ns, 400 * US);
	assert_int_equal(writes()->ios, 3);
	close_job();
}

static void sync_writes_are_fua(void **state)
{
	(void)state;
	open_job("rw=write\nsize=8k\nsync=1\n");
	run_job();
	assert_int_equal(f.nr, 2);
	assert_true(f.log[0].flags & WEIR_RQ_FUA);
	assert_true(f.log[0].flags & WEIR_RQ_SYNC);
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
		cmocka_unit_test(bad_places),
	};

	return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
