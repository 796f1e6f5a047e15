// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thread 002: the IO controller's four workloads through the page cache, by one group and by two. By
 * V9's rule of congestion the flusher is woken an order of magnitude more seldom than by V8's, and no
 * workload loses more than 3 % against no control; but that two groups which write in sequence have a
 * seek each 40 ms, slice_async, which costs 3.02 %.
 */
#include "tests/gauntlet.h"

#define SIM                                                                         \
	"examples/002/%s.fio --device hdd --host pool=256,charge=dirtier --policy " \
	"deadline,efq:leaf=deadline:congestion=v8,efq:leaf=deadline,efq,efq:leaf=anticipatory"
#define V8 "efq:leaf=deadline:congestion=v8"
#define V9 "efq:leaf=deadline"

static const char *const loads[] = {"RW=read BS=64k", "RW=randread BS=4k", "RW=write BS=64k",
				    "RW=randwrite BS=4k"};

static double wakeups_per_1000(const json_t *run)
{
	return gauntlet_number(run, "page_cache/flusher_wakeups") * 1000 /
	       gauntlet_number(run, "total/device_ios");
}

static void one_load(const char *job, const char *load, bool writes)
{
	static const char *const labels[] = {V8, V9, "efq", "efq:leaf=anticipatory"};
	json_t *result = gauntlet_sim(load, SIM, job);
	double without = gauntlet_number(gauntlet_run(result, "deadline"), "total/bw_bytes"), v8,
	       v9;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		double rate = gauntlet_number(gauntlet_run(result, labels[i]), "total/bw_bytes");

		gauntlet_report("%s %s: %s %.0f KiB/s, %.3f of deadline", job, load, labels[i],
				rate / 1024, rate / without);
		gauntlet_at_least(labels[i], rate / without, writes ? 0.965 : 0.97);
	}
	v8 = wakeups_per_1000(gauntlet_run(result, V8));
	v9 = wakeups_per_1000(gauntlet_run(result, V9));
	gauntlet_report("%s %s: %.0f and %.0f wake-ups per 1000 completions", job, load, v8, v9);
	if (writes)
		gauntlet_at_least("wake-ups, V8 to V9", v8 / v9, 3.5);
	if (writes && load[3] == 'r')
		gauntlet_at_least("wake-ups of random writes, V8 to V9", v8 / v9, 10);
	json_decref(result);
}

static void one_group(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++)
		one_load("one-group", loads[i], i >= 2);
	gauntlet_verdict();
}

static void two_groups(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++)
		one_load("two-groups", loads[i], i >= 2);
	gauntlet_verdict();
}

/* A pool smaller than what one group may have: who frees a place isn't the next to get one. */
static void small_pool(void **state)
{
	static const char *const groups[] = {"one", "two", "three"};
	json_t *result = gauntlet_sim("", "examples/005-limits/pool.fio --groups "
					  "examples/005-limits/pool.ini --host pool=32 "
					  "--device ssd --policy efq");
	const json_t *run = gauntlet_run(result, "efq");
	double third = (gauntlet_number(run, "total/iops") - 10) / 3;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++)
		gauntlet_within(groups[i], gauntlet_iops(gauntlet_group(run, groups[i])), third,
				0.03);
	json_decref(result);
	gauntlet_verdict();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_group),
		cmocka_unit_test(two_groups),
		cmocka_unit_test(small_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
