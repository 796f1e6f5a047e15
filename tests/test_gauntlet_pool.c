// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel's elevator is measured with, in the lab: a device with 16 equal places of about 2 ms
 * behind a pool of 32 requests that all share, and behind one of 1024. Weights, waits, and a group
 * that asks for a block at a time.
 */
#include "tests/gauntlet.h"

struct device {
	const char *name;
	unsigned int places, latency_us;
};

static const struct device devices[] = {
	{"null:latency_us=1988:depth=16", 16, 1988},
	{"null:latency_us=700:depth=8", 8, 700},
	{"null:latency_us=5000:depth=32", 32, 5000},
};

#define NR_DEVICES (sizeof(devices) / sizeof(devices[0]))

static double total(const json_t *run)
{
	return gauntlet_number(run, "total/iops");
}

static const char *weights_file(void)
{
	static const unsigned int weights[] = {1000, 800, 600, 400};
	struct gauntlet_text job = {0};
	unsigned int i;

	gauntlet_add(&job,
		     "[global]\nfilename=/dev/sdb\nioengine=libaio\ndirect=1\nbs=4k\n"
		     "rw=${RW}\nnorandommap\niodepth=128\ntime_based\nramp_time=1\nruntime=6\n");
	for (i = 0; i < 4; i++)
		gauntlet_add(&job, "[g%u]\ncgroup=g%u\ncgroup_weight=%u\n", i, i, weights[i]);
	return gauntlet_file("weights.fio", &job);
}

static void judge_waits(const json_t *weir)
{
	char path[] = "g0";
	unsigned int i;

	for (i = 0; i < 4; i++) {
		const json_t *g;

		path[1] = (char)('0' + i);
		g = gauntlet_group(weir, path);
		gauntlet_at_most("longest wait", gauntlet_number(g, "queue_wait_ns/max"),
				 1.5 * gauntlet_number(g, "queue_wait_ns/mean") +
					 gauntlet_number(g, "service_ns/max"));
		gauntlet_within("share", gauntlet_number(g, "received"), (1000.0 - 200 * i) / 2800,
				0.01);
	}
}

static void weights_and_waits(void **state)
{
	static const char *const rw[] = {"RW=randread", "RW=randrw"};
	static const unsigned int pools[] = {32, 1024};
	unsigned int d, r, p;

	(void)state;
	for (d = 0; d < 2; d++)
		for (r = 0; r < 2; r++)
			for (p = 0; p < 2; p++) {
				json_t *result = gauntlet_sim(
					rw[r], "%s --device %s --host pool=%u --policy noop,weir",
					weights_file(), devices[d].name, pools[p]);
				const json_t *noop = gauntlet_run(result, "noop"),
					     *weir = gauntlet_run(result, "weir");

				judge_waits(weir);
				gauntlet_at_least("total against noop", total(weir) / total(noop),
						  0.99);
				json_decref(result);
			}
	gauntlet_verdict();
}

static const char *thinker_file(unsigned int think_us)
{
	struct gauntlet_text job = {0};
	unsigned int i;

	gauntlet_add(&job,
		     "[global]\nfilename=/dev/sdb\ndirect=1\nbs=4k\nrw=randread\nnorandommap\n"
		     "time_based\nramp_time=1\nruntime=8\n"
		     "[thinker]\nioengine=psync\ncgroup=thinker\nthinktime=%u\n",
		     think_us);
	for (i = 0; i < 3; i++)
		gauntlet_add(&job, "[d%u]\nioengine=libaio\niodepth=128\ncgroup=d%u\n", i, i);
	return gauntlet_file("thinker.fio", &job);
}

/*
 * The device's places end in step unless somebody brings them apart, and the thinker then waits for the
 * end of a round each time. Of the rate that it has alone it must keep the part that is asked of the
 * elevator on the first device; on the others as much as places leave that are evenly apart.
 */
static void thinks(unsigned int think_us, const struct device *d, double kept_least)
{
	const char *job = thinker_file(think_us);
	json_t *alone = gauntlet_sim("", "%s --device %s --policy noop --section thinker", job,
				     d->name);
	json_t *beside = gauntlet_sim("", "%s --device %s --host pool=32 --policy noop,weir", job,
				      d->name);
	const json_t *weir = gauntlet_run(beside, "weir");
	double kept = gauntlet_iops(gauntlet_group(weir, "thinker")) /
		      gauntlet_iops(gauntlet_group(gauntlet_run(alone, "noop"), "thinker"));

	gauntlet_report("%s, thinking %u us: %.3f of its rate alone", d->name, think_us, kept);
	gauntlet_at_least("of its rate alone", kept, kept_least);
	gauntlet_at_least("total against noop", total(weir) / total(gauntlet_run(beside, "noop")),
			  0.99);
	json_decref(alone);
	json_decref(beside);
}

static void one_block_at_a_time(void **state)
{
	unsigned int d;

	(void)state;
	for (d = 0; d < NR_DEVICES; d++) {
		thinks(200, &devices[d], 0.9);
		thinks(5000, &devices[d], 0.95);
	}
	gauntlet_verdict();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_and_waits),
		cmocka_unit_test(one_block_at_a_time),
	};

	return cmocka_run_group_tests_name("a pool that all share", tests, NULL, NULL);
}
