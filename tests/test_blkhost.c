// SPDX-License-Identifier: GPL-2.0-only
/* The lab's block layer: the way through, splits, merges, plugs. Times are exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/log_host.h"

static struct fixture f;

/* ---- way through ---- */

static void one_request(void **state)
{
	struct io io;

	(void)state;
	open_host(&f, 4, 0);
	start_host(&f);
	submit(&f, &io, WEIR_OP_READ, 800, 8, 0);
	assert_int_equal(io.done_ns, 0);
	assert_int_equal(lab_host_outstanding(f.host), 1);
	run(&f);
	assert_int_equal(io.done_ns, LATENCY_NS);
	assert_int_equal(f.device.nr, 1);
	check_log(&f, 0, WEIR_OP_READ, 800, 8);
	close_host(&f);
}

static void depth_is_kept_and_filled_at_once(void **state)
{
	struct io io[10];
	unsigned int i;

	(void)state;
	open_host(&f, 3, 0);
	start_host(&f);
	for (i = 0; i < 10; i++)
		submit(&f, &io[i], WEIR_OP_READ, i * 1000, 8, 0);
	assert_int_equal(f.device.nr, 3);
	run(&f);
	assert_int_equal(f.device.nr, 10);
	for (i = 0; i < 10; i++)
		assert_int_equal(io[i].done_ns, (i / 3 + 1) * LATENCY_NS);
	close_host(&f);
}

static void large_bios_are_split(void **state)
{
	struct lab_host_stats stats;
	struct io io;

	(void)state;
	open_host(&f, 8, 0);
	f.cfg.core.merge = false;
	start_host(&f);
	submit(&f, &io, WEIR_OP_WRITE, 100, 256 * 2 + 10, 0);
	run(&f);
	assert_int_equal(f.device.nr, 3);
	check_log(&f, 0, WEIR_OP_WRITE, 100, 256);
	check_log(&f, 1, WEIR_OP_WRITE, 356, 256);
	check_log(&f, 2, WEIR_OP_WRITE, 612, 10);
	assert_int_equal(io.done_ns, LATENCY_NS);
	lab_host_read_stats(f.host, &stats);
	assert_int_equal(stats.splits, 2);
	assert_int_equal(stats.commands, 3);
	close_host(&f);
}

/* 16 segments of 4 KiB are less than the 256 sectors that a command may have. */
static void segments_bound_a_command(void **state)
{
	struct io io;

	(void)state;
	open_host(&f, 8, 0);
	f.device.dev.info.max_segments = 16;
	lab_host_config_init(&f.cfg, &f.device.dev.info);
	assert_int_equal(f.cfg.core.max_sectors, 128);
	start_host(&f);
	submit(&f, &io, WEIR_OP_READ, 0, 256, 0);
	run(&f);
	assert_int_equal(f.device.nr, 2);
	check_log(&f, 1, WEIR_OP_READ, 128, 128);
	close_host(&f);
}

/* ---- merging ---- */

static void waiting_requests_grow(void **state)
{
	struct lab_host_stats stats;
	struct weir_group_stats group;
	struct io busy, io[4];
	unsigned int i;

	(void)state;
	open_host(&f, 1, 0);
	start_host(&f);
	submit(&f, &busy, WEIR_OP_READ, 500000, 8, 0);
	submit(&f, &io[0], WEIR_OP_READ, 1000, 8, 0);
	submit(&f, &io[1], WEIR_OP_READ, 1008, 8, 0); /* back */
	submit(&f, &io[2], WEIR_OP_READ, 1024, 8, 0); /* a gap */
	submit(&f, &io[3], WEIR_OP_READ, 1016, 8, 0); /* fills it: back of the first */
	run(&f);
	lab_host_read_stats(f.host, &stats);
	assert_int_equal(stats.bio_merges, 2);
	weir_group_read_stats(f.group[0], lab_now(f.engine), &group);
	assert_int_equal(group.dir[WEIR_READ].inserted, 5);
	assert_int_equal(group.dir[WEIR_READ].completed + group.dir[WEIR_READ].merged, 5);
	assert_int_equal(group.dir[WEIR_READ].bytes, 5 * 4096);
	assert_int_equal(stats.commands, group.dir[WEIR_READ].completed);
	check_log(&f, 1, WEIR_OP_READ, 1000, stats.rq_merges ? 32 : 24);
	for (i = 0; i < 4; i++)
		assert_true(io[i].done_ns >= 2 * LATENCY_NS);
	close_host(&f);
}

static void merging_has_limits(void **state)
{
	struct io busy, io[3];

	(void)state;
	open_host(&f, 1, 0);
	start_host(&f);
	submit(&f, &busy, WEIR_OP_READ, 500000, 8, 0);
	submit(&f, &io[0], WEIR_OP_READ, 0, 250, 0);
	submit(&f, &io[1], WEIR_OP_READ, 250, 8, 0);		    /* larger than a command */
	submit_as(&f, f.group[1], &io[2], WEIR_OP_READ, 258, 8, 0); /* of another group */
	run(&f);
	assert_int_equal(f.device.nr, 4);
	close_host(&f);
}

static void merging_can_be_switched_off(void **state)
{
	struct io busy, io[2];

	(void)state;
	open_host(&f, 1, 0);
	f.cfg.core.merge = false;
	start_host(&f);
	submit(&f, &busy, WEIR_OP_READ, 500000, 8, 0);
	submit(&f, &io[0], WEIR_OP_READ, 0, 8, 0);
	submit(&f, &io[1], WEIR_OP_READ, 8, 8, 0);
	lab_host_plug(f.host);
	lab_host_unplug(f.host, 0);
	run(&f);
	assert_int_equal(f.device.nr, 3);
	close_host(&f);
}

static void a_plug_gathers_and_merges(void **state)
{
	struct lab_host_stats stats;
	struct weir_group_stats group;
	struct io io[5];
	unsigned int i;

	(void)state;
	open_host(&f, 8, 0);
	start_host(&f);
	lab_host_plug(f.host);
	lab_host_plug(f.host);
	submit(&f, &io[0], WEIR_OP_WRITE, 16, 8, 0);
	submit(&f, &io[1], WEIR_OP_WRITE, 24, 8, 0);  /* behind it */
	submit(&f, &io[2], WEIR_OP_WRITE, 8, 8, 0);   /* before it */
	submit(&f, &io[3], WEIR_OP_WRITE, 400, 8, 0); /* elsewhere */
	submit(&f, &io[4], WEIR_OP_READ, 32, 8, 0);   /* another direction */
	lab_host_unplug(f.host, 0);
	assert_int_equal(f.device.nr, 0); /* the outer one still holds */
	lab_host_unplug(f.host, 0);
	assert_int_equal(f.device.nr, 3);
	check_log(&f, 0, WEIR_OP_WRITE, 8, 24);
	check_log(&f, 1, WEIR_OP_WRITE, 400, 8);
	check_log(&f, 2, WEIR_OP_READ, 32, 8);
	run(&f);
	lab_host_read_stats(f.host, &stats);
	assert_int_equal(stats.plug_merges, 2);
	weir_group_read_stats(f.group[0], lab_now(f.engine), &group);
	assert_int_equal(group.dir[WEIR_WRITE].inserted, 2);
	for (i = 0; i < 5; i++)
		assert_int_equal(io[i].done_ns, LATENCY_NS);
	close_host(&f);
}

static void a_full_plug_flushes_itself(void **state)
{
	struct io io[5];
	unsigned int i;

	(void)state;
	open_host(&f, 8, 0);
	f.cfg.plug = 4;
	start_host(&f);
	lab_host_plug(f.host);
	for (i = 0; i < 5; i++)
		submit(&f, &io[i], WEIR_OP_READ, i * 1000, 8, 0);
	assert_int_equal(f.device.nr, 4);
	lab_host_unplug(f.host, 0);
	assert_int_equal(f.device.nr, 5);
	run(&f);
	close_host(&f);
}

static void configuration_is_checked(void **state)
{
	char err[256];

	(void)state;
	open_host(&f, 8, 0);
	f.cfg.plug = 0;
	assert_null(lab_host_new(f.engine, &f.device.dev, &f.cfg, weir_policy_find("noop"), NULL,
				 err, sizeof(err)));
	assert_string_equal(err, "a plug holds 1 to 128 requests");
	f.cfg.plug = 16;
	f.cfg.core.nr_requests = 0;
	assert_null(lab_host_new(f.engine, &f.device.dev, &f.cfg, weir_policy_find("noop"), NULL,
				 err, sizeof(err)));
	assert_string_equal(err, "settings of the block layer are out of range");
	lab_engine_free(f.engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_request),
		cmocka_unit_test(depth_is_kept_and_filled_at_once),
		cmocka_unit_test(large_bios_are_split),
		cmocka_unit_test(segments_bound_a_command),
		cmocka_unit_test(waiting_requests_grow),
		cmocka_unit_test(merging_has_limits),
		cmocka_unit_test(merging_can_be_switched_off),
		cmocka_unit_test(a_plug_gathers_and_merges),
		cmocka_unit_test(a_full_plug_flushes_itself),
		cmocka_unit_test(configuration_is_checked),
	};

	return cmocka_run_group_tests_name("blkhost", tests, NULL, NULL);
}
