// SPDX-License-Identifier: GPL-2.0-only
/*
 * CFQ in the workloads of the threads that are about it, on the modelled devices: what was reported
 * of it happens, and goes away with what was proposed.
 */
#include "tests/gauntlet.h"

static double total_iops(const json_t *result, const char *label)
{
	return gauntlet_number(gauntlet_run(result, label), "total/iops");
}

static double loops(const json_t *result, const char *label)
{
	return gauntlet_number(gauntlet_job(gauntlet_run(result, label), "write-fsync"),
			       "sync/total_ios");
}

/* Thread 001: 49 against 798 were reported, without barriers as it seems. */
static void fsync_in_a_group(void **state)
{
	static const char *const devices[] = {"hdd", "ssd"};
	unsigned int n;

	(void)state;
	for (n = 0; n < 2; n++) {
		json_t *result =
			gauntlet_sim("",
				     "examples/fsync-loop.fio --device %s --host barriers=0 "
				     "--policy noop,cfq,cfq:group_preempt_noidle=1",
				     devices[n]);
		double with = loops(result, "cfq:group_preempt_noidle=1");

		/* Two waits of 8 ms in each. */
		gauntlet_within("loops", loops(result, "cfq"), 10 * 1000.0 / (2 * 8), 0.02);
		gauntlet_at_least("with the change", with / loops(result, "cfq"), 8);
		gauntlet_at_least("with the change against noop", with / loops(result, "noop"),
				  0.97);
		json_decref(result);
	}
	gauntlet_verdict();
}

/* Outside of groups there is nothing to be changed. */
static void fsync_in_the_root(void **state)
{
	struct gauntlet_text job = {0};
	json_t *result;

	(void)state;
	gauntlet_add(&job, "[write-fsync]\nrw=write\nfsync=1\nsize=100m\nruntime=10s\n");
	result = gauntlet_sim("", "%s --device hdd --host barriers=0 --policy noop,cfq",
			      gauntlet_file("root.fio", &job));
	gauntlet_at_least("against noop", loops(result, "cfq") / loops(result, "noop"), 0.97);
	json_decref(result);
	gauntlet_verdict();
}

/* Thread 004: 41 % of noop's rate were reported on one machine, 56 % on another, 90 % on a third. */
static void interleaved_readers(void **state)
{
	json_t *result = gauntlet_sim(
		"", "builtin:interleave:threads=3 --device hdd --policy noop,cfq,"
		    "cfq:close_cooperator=0,cfq:close_cooperator=0:allow_cross_merge=1");
	double noop = total_iops(result, "noop"),
	       old = total_iops(result, "cfq:close_cooperator=0");

	(void)state;
	gauntlet_at_least("three threads", old / noop, 0.35);
	gauntlet_at_most("three threads", old / noop, 0.6);
	gauntlet_at_least("with cross merges",
			  total_iops(result, "cfq:close_cooperator=0:allow_cross_merge=1") / old,
			  1.2);
	gauntlet_at_least("with cooperators", total_iops(result, "cfq") / noop, 0.97);
	json_decref(result);
	result = gauntlet_sim("", "builtin:interleave:threads=1 --device hdd --policy noop,"
				  "cfq:close_cooperator=0");
	gauntlet_at_least("one thread",
			  total_iops(result, "cfq:close_cooperator=0") / total_iops(result, "noop"),
			  0.97);
	json_decref(result);
	gauntlet_verdict();
}

/* Thread 000: shares as weights, and response times of a whole round of slices. */
static void deep_loops_on_flash(void **state)
{
	static const char *const groups[] = {"test1", "test2", "test3", "test4"};
	static const char label[] = "cfq:slice_idle=0:quantum=128";
	json_t *result = gauntlet_sim("RW=randread DEPTH=256",
				      "examples/000/closed-loop.fio --device pcie-flash --policy "
				      "tpps,cfq:slice_idle=0:quantum=128");
	double worst[2] = {0, 0},
	       least = gauntlet_iops(gauntlet_group(gauntlet_run(result, label), groups[3]));
	unsigned int n;

	(void)state;
	for (n = 0; n < 4; n++) {
		const json_t *cfq = gauntlet_group(gauntlet_run(result, label), groups[n]),
			     *tpps = gauntlet_group(gauntlet_run(result, "tpps"), groups[n]);

		gauntlet_within(groups[n], gauntlet_iops(cfq) / least, 2.5 - 0.5 * n, 0.08);
		worst[0] += gauntlet_latency_ns(tpps, "99.990000");
		worst[1] += gauntlet_latency_ns(cfq, "99.990000");
	}
	gauntlet_at_least("worst response times", worst[1] / worst[0], 2);
	json_decref(result);
	gauntlet_verdict();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fsync_in_a_group),
		cmocka_unit_test(fsync_in_the_root),
		cmocka_unit_test(interleaved_readers),
		cmocka_unit_test(deep_loops_on_flash),
	};

	return cmocka_run_group_tests_name("cfq in its threads", tests, NULL, NULL);
}
