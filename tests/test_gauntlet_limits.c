// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ceilings, floors and latency targets together, as a user gives them in a groups file: what was
 * promised is kept or named, and the rest of the device is used.
 */
#include "tests/gauntlet.h"

#include <weir/policy.h>

#define TREE "examples/005-limits/tree.fio --groups examples/005-limits/tree.ini"
#define FLOORS "examples/005-limits/floors.fio"
#define PERCENT 0.01

/* ---- the tree ---- */

/* Seven causes, and nothing else. */
static void judge_waits(const json_t *run)
{
	json_t *group, *wait;
	const char *cause;
	size_t i;

	json_array_foreach(gauntlet_part(run, "groups"), i, group)
	{
		double sum_ns = 0;

		json_object_foreach(gauntlet_part(group, "wait_ns"), cause, wait)
			sum_ns += json_number_value(wait);
		gauntlet_within("sum of the waits", sum_ns, gauntlet_number(group, "backlogged_ns"),
				0);
	}
}

static void judge_ceilings(const json_t *run)
{
	gauntlet_within("load", gauntlet_number(gauntlet_group(run, "batch/etl/load"), "read/iops"),
			3000, PERCENT);
	gauntlet_within("load, slowest half second",
			gauntlet_number(gauntlet_job(run, "load"), "read/iops_min"), 3000, PERCENT);
	gauntlet_within("load, fastest half second",
			gauntlet_number(gauntlet_job(run, "load"), "read/iops_max"), 3000, PERCENT);
	gauntlet_within("log",
			gauntlet_number(gauntlet_group(run, "batch/etl/log"), "write/bw_bytes"),
			20000000, PERCENT);
	gauntlet_within("backup",
			gauntlet_number(gauntlet_group(run, "batch/backup"), "read/bw_bytes"),
			30000000, PERCENT);
}

static void tree(void **state)
{
	unsigned int seed;

	(void)state;
	for (seed = 1; seed <= 3; seed++) {
		json_t *result = gauntlet_sim("", TREE " --device ssd --policy weir --seed %u",
					      seed);
		const json_t *weir = gauntlet_run(result, "weir"),
			     *report = gauntlet_group(weir, "prod/db/report"),
			     *oltp = gauntlet_group(weir, "prod/db/oltp");

		judge_ceilings(weir);
		judge_waits(weir);
		gauntlet_at_least("floor", gauntlet_number(report, "read/bw_bytes"), 80000000);
		gauntlet_check("floor met", gauntlet_true(report, "floor/met"));
		gauntlet_at_most("missing to the floor",
				 gauntlet_number(report, "floor/deficit_device/bytes_per_s"),
				 0.01 * 80000000);
		gauntlet_check("target met", gauntlet_true(oltp, "latency_target/met"));
		gauntlet_at_most("90th percentile", gauntlet_latency_ns(oltp, "90.000000"),
				 2000000);
		json_decref(result);
	}
	gauntlet_verdict();
}

/* Not more, that is; how much less is up to the policy. */
static void judge_not_above(const json_t *run)
{
	gauntlet_at_most("load, fastest half second",
			 gauntlet_number(gauntlet_job(run, "load"), "read/iops_max"),
			 3000 * (1 + PERCENT));
	gauntlet_at_most("log",
			 gauntlet_number(gauntlet_group(run, "batch/etl/log"), "write/bw_bytes"),
			 20000000 * (1 + PERCENT));
	gauntlet_at_most("backup",
			 gauntlet_number(gauntlet_group(run, "batch/backup"), "read/bw_bytes"),
			 30000000 * (1 + PERCENT));
}

/* Ceilings come before the policy, whichever it is. */
static void every_policy(void **state)
{
	json_t *result = gauntlet_sim("", TREE " --device ssd --policy all");
	unsigned int i;

	(void)state;
	for (i = 0; weir_policy_at(i); i++) {
		const char *name = weir_policy_info(weir_policy_at(i))->name;
		const json_t *run = gauntlet_run(result, name);

		if (gauntlet_keeps_idle(name))
			judge_not_above(run);
		else
			judge_ceilings(run);
		judge_waits(run);
	}
	json_decref(result);
	gauntlet_verdict();
}

/* A looser limit beside another is as if it were not there: the figures are the same bytes. */
static void loose_limit(void **state)
{
	struct gauntlet_text job = {0}, alone = {0}, both = {0};
	const char *path;
	json_t *a, *b;

	(void)state;
	gauntlet_add(&job, "[global]\nfilename=/dev/sdb\ndirect=1\nioengine=libaio\nrw=randwrite\n"
			   "iodepth=32\ntime_based\nramp_time=1\nruntime=4\n[a]\ncgroup=a\n"
			   "[b]\ncgroup=b\nrw=randread\n");
	gauntlet_add(&alone, "[a]\nio.max = wbps=10000000\n");
	gauntlet_add(&both, "[a]\nio.max = wbps=10000000 wiops=1000000\n");
	path = gauntlet_file("loose.fio", &job);
	a = gauntlet_sim("", "%s --groups %s", path, gauntlet_file("alone.ini", &alone));
	b = gauntlet_sim("", "%s --groups %s", path, gauntlet_file("both.ini", &both));
	gauntlet_within(
		"wbps",
		gauntlet_number(gauntlet_group(gauntlet_run(a, "weir"), "a"), "write/bw_bytes"),
		10000000, PERCENT);
	gauntlet_check("wiops changes nothing", json_equal(a, b));
	json_decref(a);
	json_decref(b);
	gauntlet_verdict();
}

/* ---- floors ---- */

static double missing(const json_t *group, const char *part, const char *unit)
{
	char path[64];

	snprintf(path, sizeof(path), "floor/deficit_%s/%s_per_s", part, unit);
	return gauntlet_number(group, path);
}

static double unlimited_iops(const char *device, unsigned int seed)
{
	json_t *result = gauntlet_sim("", FLOORS " --device %s --policy weir --seed %u", device,
				      seed);
	double iops = gauntlet_number(gauntlet_run(result, "weir"), "total/iops");

	json_decref(result);
	return iops;
}

static void floors_that_fit(void **state)
{
	static const struct {
		const char *path;
		double iops;
	} floors[] = {{"a", 40000}, {"c/d", 4000}, {"c/e", 10000}};
	unsigned int seed;
	size_t i;

	(void)state;
	for (seed = 1; seed <= 3; seed++) {
		json_t *result = gauntlet_sim(
			"",
			FLOORS " --groups examples/005-limits/floors-fit.ini --device ssd "
			       "--policy weir --seed %u",
			seed);
		const json_t *weir = gauntlet_run(result, "weir");

		for (i = 0; i < sizeof(floors) / sizeof(floors[0]); i++) {
			const json_t *g = gauntlet_group(weir, floors[i].path);

			gauntlet_at_least(floors[i].path, gauntlet_iops(g), floors[i].iops);
			gauntlet_check("met", gauntlet_true(g, "floor/met"));
			gauntlet_at_most(
				"missing, the device's part",
				missing(g, "device", "ios") + missing(g, "device", "bytes"), 0);
		}
		/* Who has none shares what is left by weight: b, and c with what its children have.
		 */
		gauntlet_within("c beside b",
				gauntlet_number(gauntlet_group(weir, "c"), "received"),
				gauntlet_number(gauntlet_group(weir, "b"), "received"), PERCENT);
		gauntlet_at_least("total against the unlimited run",
				  gauntlet_number(weir, "total/iops") / unlimited_iops("ssd", seed),
				  0.95);
		judge_waits(weir);
		json_decref(result);
	}
	gauntlet_verdict();
}

/* What is there and what is missing, for either reason, is the floor. */
static void judge_deficit(const char *what, const json_t *g, double floor_iops, const char *unit,
			  double per_io)
{
	double device = missing(g, "device", unit) / per_io,
	       demand = missing(g, "demand", unit) / per_io;

	gauntlet_check("not met", !gauntlet_true(g, "floor/met"));
	gauntlet_within(what, gauntlet_iops(g) + device + demand, floor_iops, 0.02);
}

static void floors_that_do_not_fit(void **state)
{
	unsigned int seed;

	(void)state;
	for (seed = 1; seed <= 3; seed++) {
		json_t *result = gauntlet_sim(
			"",
			FLOORS " --groups examples/005-limits/floors-misfit.ini --device ssd "
			       "--policy weir --seed %u",
			seed);
		const json_t *weir = gauntlet_run(result, "weir"), *a = gauntlet_group(weir, "a"),
			     *b = gauntlet_group(weir, "b"), *d = gauntlet_group(weir, "c/d");

		judge_deficit("a: received and missing", a, 60000, "ios", 1);
		judge_deficit("b: received and missing", b, 60000, "bytes", 4096);
		judge_deficit("d: received and missing", d, 40000, "ios", 1);
		/* a and b asked all the time; d for an eighth of its floor, which it got. */
		gauntlet_at_most("a: demand", missing(a, "demand", "ios"), 0);
		gauntlet_at_most("b: demand", missing(b, "demand", "bytes"), 0);
		gauntlet_at_least("d: demand", missing(d, "demand", "ios"), 0.94 * 35000);
		gauntlet_at_least("d gets what it asks for", gauntlet_iops(d), 0.99 * 5000);
		/* The same floors are scaled down alike, and to no less than the weight's share. */
		gauntlet_within("a beside b", gauntlet_iops(a), gauntlet_iops(b), PERCENT);
		gauntlet_at_least("a", gauntlet_number(a, "received"),
				  gauntlet_number(a, "entitled"));
		gauntlet_at_least("total against the unlimited run",
				  gauntlet_number(weir, "total/iops") / unlimited_iops("ssd", seed),
				  0.95);
		json_decref(result);
	}
	gauntlet_verdict();
}

/* A floor for writes of a group that only reads is missing because nobody asks for it. */
static void floor_not_asked_for(void **state)
{
	struct gauntlet_text ini = {0};
	json_t *result;
	const json_t *a;

	(void)state;
	gauntlet_add(&ini, "[a]\nio.low = wiops=40000\n");
	result = gauntlet_sim("", FLOORS " --groups %s", gauntlet_file("writes.ini", &ini));
	a = gauntlet_group(gauntlet_run(result, "weir"), "a");
	gauntlet_within("demand", missing(a, "demand", "ios"), 40000, 0.02);
	gauntlet_at_most("device", missing(a, "device", "ios"), 0.01 * 40000);
	gauntlet_at_least("nobody is held back for it",
			  gauntlet_number(gauntlet_run(result, "weir"), "total/iops") /
				  unlimited_iops("ssd", 1),
			  0.95);
	json_decref(result);
	gauntlet_verdict();
}

/* ---- one pool ---- */

/* What the three without a ceiling get beside the fourth and without it. */
static void pool(void **state)
{
	static const char *const others[] = {"one", "two", "three"};
	unsigned int i, seed;
	size_t n;

	(void)state;
	for (seed = 1; seed <= 3; seed++) {
		json_t *without = gauntlet_sim(
			"",
			"examples/005-limits/pool.fio --section one --section two "
			"--section three --host pool=32 --policy %s --device ssd --seed %u",
			gauntlet_busy_policies(), seed);
		json_t *with = gauntlet_sim(
			"",
			"examples/005-limits/pool.fio --groups examples/005-limits/pool.ini "
			"--host pool=32 --policy %s --device ssd --seed %u",
			gauntlet_busy_policies(), seed);
		const char *name;

		for (i = 0; (name = gauntlet_busy_policy(i)); i++) {
			const json_t *before = gauntlet_run(without, name),
				     *after = gauntlet_run(with, name);
			/* Some wait for a group, too: 8 ms for each of ten requests a second. */
			bool waits = weir_tunable_find(weir_policy_at(i), "group_idle") >= 0;
			double least = waits ? 0.84 : 0.97;

			gauntlet_at_least("three groups beside the slow one",
					  (gauntlet_number(after, "total/iops") - 10) /
						  gauntlet_number(before, "total/iops"),
					  least);
			for (n = 0; n < 3; n++)
				gauntlet_at_least(
					others[n],
					gauntlet_iops(gauntlet_group(after, others[n])) /
						gauntlet_iops(gauntlet_group(before, others[n])),
					least);
			gauntlet_within("slow", gauntlet_iops(gauntlet_group(after, "slow")), 10,
					0.1);
		}
		json_decref(without);
		json_decref(with);
	}
	gauntlet_verdict();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree),
		cmocka_unit_test(every_policy),
		cmocka_unit_test(loose_limit),
		cmocka_unit_test(floors_that_fit),
		cmocka_unit_test(floors_that_do_not_fit),
		cmocka_unit_test(floor_not_asked_for),
		cmocka_unit_test(pool),
	};

	return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
