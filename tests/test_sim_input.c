// SPDX-License-Identifier: GPL-2.0-only
/* What a user types for weir sim: policies, settings of the host, built-in workloads, units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lab/sim.h"
#include "lab/sim_units.h"

/* ---- units ---- */

static void values_are_parsed(void **state)
{
	static const struct {
		const char *text;
		enum weir_unit unit;
		uint64_t value;
	} good[] = {
		{"0", WEIR_UNIT_COUNT, 0},
		{"18446744073709551615", WEIR_UNIT_COUNT, UINT64_MAX},
		{"128", WEIR_UNIT_BYTES, 128},
		{"128k", WEIR_UNIT_BYTES, 131072},
		{"128KiB", WEIR_UNIT_BYTES, 131072},
		{"2G", WEIR_UNIT_BYTES, UINT64_C(2) << 30},
		{"8", WEIR_UNIT_MS, 8},
		{"8ms", WEIR_UNIT_US, 8000},
		{"2s", WEIR_UNIT_MS, 2000},
		{"500ns", WEIR_UNIT_NS, 500},
		{"94%", WEIR_UNIT_PERCENT, 94},
		{"94", WEIR_UNIT_PERCENT, 94},
		{"yes", WEIR_UNIT_BOOL, 1},
		{"off", WEIR_UNIT_BOOL, 0},
		{"1", WEIR_UNIT_BOOL, 1},
	};
	static const struct {
		const char *text;
		enum weir_unit unit;
	} bad[] = {
		{"", WEIR_UNIT_COUNT},	     {"-1", WEIR_UNIT_COUNT},
		{"1k", WEIR_UNIT_COUNT},     {"18446744073709551616", WEIR_UNIT_COUNT},
		{"1.5", WEIR_UNIT_COUNT},    {" 1", WEIR_UNIT_COUNT},
		{"0x10", WEIR_UNIT_COUNT},   {"k", WEIR_UNIT_BYTES},
		{"1x", WEIR_UNIT_BYTES},     {"18446744073709551615k", WEIR_UNIT_BYTES},
		{"1500us", WEIR_UNIT_MS},    {"1500ns", WEIR_UNIT_US},
		{"1m", WEIR_UNIT_US},	     {"2", WEIR_UNIT_BOOL},
		{"94%%", WEIR_UNIT_PERCENT}, {"maybe", WEIR_UNIT_BOOL},
	};
	uint64_t value;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (!lab_parse_value(good[i].text, good[i].unit, &value))
			fail_msg("%s was not accepted", good[i].text);
		assert_int_equal(value, good[i].value);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (lab_parse_value(bad[i].text, bad[i].unit, &value))
			fail_msg("\"%s\" was accepted", bad[i].text);
}

/* What is printed of a value can be typed again. */
static void values_survive_printing(void **state)
{
	static const uint64_t values[] = {0,	1,	  7,	  999,	       1000,	  1024,
					  1500, 4096,	  100000, 1000000,     1048576,	  3600000,
					  4097, 10000000, 123456, 60000000000, 1073741824};
	char buf[LAB_TEXT_BYTES];
	uint64_t back;
	unsigned int i;
	int unit;

	(void)state;
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		for (unit = WEIR_UNIT_COUNT; unit <= WEIR_UNIT_MS; unit++) {
			lab_format_value(buf, values[i], (enum weir_unit)unit);
			if (!lab_parse_value(buf, (enum weir_unit)unit, &back) || back != values[i])
				fail_msg("%s in unit %d", buf, unit);
		}
	}
}

static void check_format(char *(*format)(char *, uint64_t), uint64_t value, const char *want)
{
	char buf[LAB_TEXT_BYTES];

	assert_string_equal(format(buf, value), want);
}

static void three_digits_and_a_unit(void **state)
{
	char buf[LAB_TEXT_BYTES];

	(void)state;
	check_format(lab_format_ns, 0, "0ns");
	check_format(lab_format_ns, 999, "999ns");
	check_format(lab_format_ns, 1000, "1.00us");
	check_format(lab_format_ns, 1234, "1.23us");
	check_format(lab_format_ns, 9995, "10.0us");
	check_format(lab_format_ns, 99950, "100us");
	check_format(lab_format_ns, 999499, "999us");
	check_format(lab_format_ns, 999500, "1.00ms");
	check_format(lab_format_ns, 12345678, "12.3ms");
	check_format(lab_format_ns, UINT64_C(17000000000), "17.0s");
	check_format(lab_format_ns, UINT64_C(3600000000000), "3600s");
	check_format(lab_format_count, 999999, "999999");
	check_format(lab_format_count, 1234567, "1.23M");
	check_format(lab_format_short, 999, "999");
	check_format(lab_format_short, 15241, "15.2k");
	check_format(lab_format_short, 999499, "999k");
	check_format(lab_format_short, 999500, "1.00M");
	check_format(lab_format_rate, 512000, "0.51");
	check_format(lab_format_rate, 97300000, "97.3");
	check_format(lab_format_rate, 1204000000, "1204");
	assert_string_equal(lab_format_share(buf, 1, 3), "33.3%");
	assert_string_equal(lab_format_share(buf, 2, 3), "66.7%");
	assert_string_equal(lab_format_share(buf, 5, 5), "100.0%");
	assert_string_equal(lab_format_share(buf, 0, 0), "-");
}

/* ---- policies ---- */

static void lists_of_policies(void **state)
{
	struct lab_policies p = {.nr = 0};
	char err[512];
	int index = weir_tunable_find(weir_policy_find("deadline"), "fifo_batch");

	(void)state;
	assert_true(index >= 0);
	assert_true(lab_policies_parse("noop,deadline:fifo_batch=3,deadline,noop", &p, err,
				       sizeof(err)));
	assert_int_equal(p.nr, 4);
	assert_string_equal(p.choice[1].label, "deadline:fifo_batch=3");
	assert_int_equal(p.choice[1].tunable[index], 3);
	assert_string_equal(p.choice[2].label, "deadline");
	assert_int_not_equal(p.choice[2].tunable[index], 3);
	assert_ptr_equal(p.choice[0].policy, p.choice[3].policy);
	lab_policies_free(&p);
	assert_true(lab_policies_parse("all", &p, err, sizeof(err)));
	assert_true(p.nr >= 4);
	assert_null(weir_policy_at(p.nr));
	lab_policies_free(&p);
}

/* One line each, with what is wrong and what would be right. */
static void check_error(const char *err, const char *wrong, const char *right)
{
	if (!strstr(err, wrong) || !strstr(err, right) || strchr(err, '\n'))
		fail_msg("got \"%s\", expected %s and %s in it", err, wrong, right);
}

static void bad_policies(void **state)
{
	static const char *const bad[][3] = {
		{"", "(empty)", "accepted are noop, deadline"},
		{"noop,", "(empty)", "accepted are noop"},
		{"cfs", "cfs", "or all"},
		{"NOOP", "NOOP", "noop"},
		{"noop:x=1", "noop: x=1", "no tunables"},
		{"deadline:fifo_batch", "fifo_batch (no value)", "tunable=value"},
		{"deadline:fifo=1", "fifo", "fifo_batch"},
		{"deadline:fifo_batch=", "fifo_batch=:", "a whole number, from"},
		{"deadline:fifo_batch=x", "fifo_batch=x:", "a whole number, from"},
		{"deadline:fifo_batch=99999999999",
		 "fifo_batch=99999999999:", "a whole number, from"},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lab_policies p = {.nr = 0};
		char err[1024] = "";

		if (lab_policies_parse(bad[i][0], &p, err, sizeof(err)))
			fail_msg("\"%s\" was accepted", bad[i][0]);
		/* A policy without tunables has none to list. */
		if (strcmp(bad[i][0], "noop:x=1") != 0)
			check_error(err, bad[i][1], bad[i][2]);
		else
			assert_non_null(strstr(err, "noop: x"));
		lab_policies_free(&p);
	}
}

/* ---- settings ---- */

static void settings_are_applied(void **state)
{
	struct lab_settings s = {.given = {false}};
	struct lab_host_config host = {.plug = 16};
	struct lab_cache_config cache = {.dirty_bytes = 1};
	char err[512];

	(void)state;
	assert_true(
		lab_settings_parse("host_ns=1us,nr_requests=1024,pool=64,merge=0,plug=8,claim=1ms",
				   &s, err, sizeof(err)));
	assert_true(lab_settings_parse(
		"cache=64m,read_ahead=256k,windows=3,charge=dirtier,barriers=off,"
		"copy=1us,dirty_expire=3s,flush_interval=500",
		&s, err, sizeof(err)));
	lab_settings_apply(&s, &host, &cache);
	assert_int_equal(host.host_ns, 1000);
	assert_int_equal(host.core.nr_requests, 1024);
	assert_int_equal(host.core.pool, 64);
	assert_int_equal(host.core.claim_ns, 1000000);
	assert_false(host.core.merge);
	assert_int_equal(host.plug, 8);
	assert_int_equal(cache.cache_bytes, 64 << 20);
	/* The dirty limits follow the cache unless they are given. */
	assert_int_equal(cache.dirty_bytes, (64 << 20) / 5);
	assert_int_equal(cache.dirty_background_bytes, (64 << 20) / 10);
	assert_int_equal(cache.read_ahead_bytes, 256 << 10);
	assert_int_equal(cache.read_ahead_windows, 3);
	assert_int_equal(cache.charge, LAB_CHARGE_DIRTIER);
	assert_false(cache.barriers);
	assert_int_equal(cache.dirty_expire_ns, UINT64_C(3000000000));
	assert_int_equal(cache.flush_interval_ns, 500000000);
	assert_true(lab_settings_parse("dirty=8m,charge=root", &s, err, sizeof(err)));
	lab_settings_apply(&s, &host, &cache);
	assert_int_equal(cache.dirty_bytes, 8 << 20);
	assert_int_equal(cache.dirty_background_bytes, 4 << 20);
	assert_int_equal(cache.charge, LAB_CHARGE_ROOT);
}

static void bad_settings(void **state)
{
	static const char *const bad[][3] = {
		{"", "(empty)", "accepted are host_ns"},
		{"pool", "pool=:", "accepted is a whole number"},
		{"pool=", "pool=:", "accepted is a whole number"},
		{"pool=1", "pool=1:", "from 2 to 1000000, or 0"},
		{"pool=64,", "(empty)", "accepted are host_ns"},
		{"depth=1", "depth:", "accepted are host_ns"},
		{"host_ns=2s", "host_ns=2s:", "from 0 to 1ms"},
		{"charge=nobody", "charge=nobody:", "root|dirtier"},
		{"charge=roo", "charge=roo:", "root|dirtier"},
		{"charge=", "charge=:", "root|dirtier"},
		{"merge=2", "merge=2:", "0 or 1"},
		{"windows=0", "windows=0:", "from 1 to 32"},
		{"cache=1k", "cache=1k:", "from 1m"},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lab_settings s = {.given = {false}};
		char err[1024] = "";

		if (lab_settings_parse(bad[i][0], &s, err, sizeof(err)))
			fail_msg("\"%s\" was accepted", bad[i][0]);
		check_error(err, bad[i][1], bad[i][2]);
	}
}

static void every_setting_is_explained(void **state)
{
	const struct lab_setting *s;
	unsigned int n;

	(void)state;
	for (n = 0; (s = lab_setting_at(n)); n++) {
		assert_non_null(s->help);
		assert_non_null(s->def);
		assert_non_null(s->apply);
		assert_true(s->min <= s->max);
	}
	assert_true(n > 10 && n <= LAB_SETTINGS_MAX);
}

/* ---- built-in workloads ---- */

static void interleave_is_made_of_clones(void **state)
{
	struct lab_builtin b;
	struct lab_jobs *jobs;
	char err[512];
	unsigned int i;

	(void)state;
	jobs = lab_builtin_jobs("builtin:interleave:threads=5:size=64m:block=32k:pause=1ms:seed=9:"
				"rw=write:cgroup=a/b",
				&b, err, sizeof(err));
	assert_non_null(jobs);
	assert_int_equal(b.seed, 9);
	assert_int_equal(b.pause_ns, 1000000);
	assert_int_equal(jobs->nr, 5);
	for (i = 0; i < 5; i++) {
		assert_int_equal(jobs->job[i]->rw, LAB_RW_WRITE);
		assert_int_equal(jobs->job[i]->size, 64 << 20);
		assert_int_equal(jobs->job[i]->bs_min[LAB_DIR_WRITE], 32768);
		assert_int_equal(jobs->job[i]->report_group, jobs->job[0]->report_group);
		assert_string_equal(jobs->job[i]->cgroup, "a/b");
	}
	lab_jobs_free(jobs);
	assert_non_null(strstr(lab_builtin_help(0), "builtin:interleave"));
	assert_null(lab_builtin_help(1));
}

static void bad_builtins(void **state)
{
	static const char *const bad[][3] = {
		{"builtin:", "builtin:", "builtin:interleave"},
		{"builtin:sysbench", "sysbench", "builtin:interleave"},
		{"builtin:interleave:threads=0", "threads=0:", "from 1 to 256"},
		{"builtin:interleave:threads", "threads:", "accepted are threads"},
		{"builtin:interleave:size=1k", "size=1k:", "from 4k"},
		{"builtin:interleave:rw=trim", "rw=trim:", "rw=read or write"},
		{"builtin:interleave:speed=1", "speed=1:", "accepted are threads"},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lab_builtin b;
		char err[1024] = "";

		if (lab_builtin_jobs(bad[i][0], &b, err, sizeof(err)))
			fail_msg("\"%s\" was accepted", bad[i][0]);
		check_error(err, bad[i][1], bad[i][2]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_parsed),
		cmocka_unit_test(values_survive_printing),
		cmocka_unit_test(three_digits_and_a_unit),
		cmocka_unit_test(lists_of_policies),
		cmocka_unit_test(bad_policies),
		cmocka_unit_test(settings_are_applied),
		cmocka_unit_test(bad_settings),
		cmocka_unit_test(every_setting_is_explained),
		cmocka_unit_test(interleave_is_made_of_clones),
		cmocka_unit_test(bad_builtins),
	};

	return cmocka_run_group_tests_name("sim_input", tests, NULL, NULL);
}
