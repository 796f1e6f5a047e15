// SPDX-License-Identifier: GPL-2.0-only
/*
 * weir must not give up the device's speed, whatever is asked of it: from 4 KiB to 1 MiB, from one
 * group to five with unequal weights, from a few in flight to hundreds. Here are those that are
 * hard: large requests need more in flight than a profile measured with small ones says; where dies
 * stall they need far more; where reads and writes mix, what is gained hides in noise; and merging
 * leaves two requests of which one is always in the device.
 *
 * Four sequential writers of one region, or large writes on a card that collects garbage, are not
 * here: their rate goes by a few percent with what the collector finds, under any policy.
 */
#include "tests/gauntlet.h"

#define GROUPS_MAX 5
#define LEAST 0.98

static const unsigned int weights[GROUPS_MAX] = {1000, 800, 600, 400, 137};

struct cell {
	const char *device, *size, *rw;
	unsigned int nr_groups, depth; /* of each group */
	unsigned int ramp_s, run_s;
};

static const char *cell_file(const struct cell *c)
{
	struct gauntlet_text job = {0};
	unsigned int i;

	gauntlet_add(&job,
		     "[global]\nfilename=/dev/sdb\ndirect=1\nioengine=libaio\nnorandommap\n"
		     "bs=%s\nrw=%s\niodepth=%u\ntime_based\nramp_time=%u\nruntime=%u\n",
		     c->size, c->rw, c->depth, c->ramp_s, c->run_s);
	for (i = 0; i < c->nr_groups; i++)
		gauntlet_add(&job, "[g%u]\ncgroup=g%u\ncgroup_weight=%u\n", i, i, weights[i]);
	return gauntlet_file("speed.fio", &job);
}

/* Of a stream that is merged depths say nothing, so no more than the total is judged there. */
static bool shares_count(const struct cell *c)
{
	return c->nr_groups > 1 && strcmp(c->rw, "read");
}

static void judge_cell(const struct cell *c, unsigned int seed)
{
	json_t *result = gauntlet_sim("", "%s --device %s --policy noop,weir --seed %u",
				      cell_file(c), c->device, seed);
	const json_t *weir = gauntlet_run(result, "weir"), *noop = gauntlet_run(result, "noop");
	double part = gauntlet_number(weir, "total/bw_bytes") /
		      gauntlet_number(noop, "total/bw_bytes");
	unsigned int i, sum = 0;

	gauntlet_at_least("total against noop", part, LEAST);
	for (i = 0; i < c->nr_groups; i++)
		sum += weights[i];
	for (i = 0; shares_count(c) && i < c->nr_groups; i++) {
		char name[8];

		snprintf(name, sizeof(name), "g%u", i);
		gauntlet_within("received against weight",
				gauntlet_number(gauntlet_group(weir, name), "received"),
				(double)weights[i] / sum, 0.01);
	}
	if (seed == 1)
		gauntlet_report("%s, %u x %u %s of %s: %.4f of noop", c->device, c->nr_groups,
				c->depth, c->rw, c->size, part);
	json_decref(result);
}

static void judge(const struct cell *c, size_t nr)
{
	unsigned int seed;

	for (; nr; nr--, c++)
		for (seed = 1; seed <= 3; seed++)
			judge_cell(c, seed);
	gauntlet_verdict();
}

#define JUDGE(table) judge(table, sizeof(table) / sizeof((table)[0]))

/* A read of 512 KiB or more needs all dies: it takes 5 ms in flight to get over a stall. */
static void reads_over_stalls(void **state)
{
	static const struct cell cells[] = {
		{"pcie-flash", "64k", "randread", 1, 32, 2, 2},
		{"pcie-flash", "128k", "randread", 4, 64, 2, 2},
		{"pcie-flash", "128k", "read", 1, 32, 2, 2},
		{"pcie-flash", "256k", "randread", 4, 64, 3, 3},
		{"pcie-flash", "512k", "randread", 1, 256, 3, 3},
		{"pcie-flash", "512k", "read", 4, 64, 3, 3},
		{"pcie-flash", "1m", "randread", 4, 64, 3, 3},
		{"pcie-flash:stall_every_ms=300", "512k", "randread", 2, 64, 3, 3},
	};

	(void)state;
	JUDGE(cells);
}

/* Half of what the SATA link carries is writes that wait for programs. */
static void mixed(void **state)
{
	static const struct cell cells[] = {
		{"ssd", "128k", "randrw", 4, 64, 4, 3},
		{"ssd", "256k", "randrw", 1, 32, 4, 3},
		{"ssd", "512k", "randrw", 4, 64, 8, 4},
		{"ssd", "1m", "randrw", 1, 32, 8, 4},
		{"pcie-flash:aged=0", "256k", "randrw", 2, 64, 3, 3},
	};

	(void)state;
	JUDGE(cells);
}

static void sequential_reads(void **state)
{
	static const struct cell cells[] = {
		{"ssd", "4k", "read", 1, 256, 2, 2},
		{"ssd", "32k", "read", 1, 32, 2, 2},
		{"ssd", "128k", "read", 4, 64, 2, 2},
		{"ssd", "1m", "read", 1, 32, 3, 2},
		{"profile:mtfdhba256", "4k", "read", 1, 32, 2, 2},
		{"pcie-flash:stall=0", "1m", "read", 4, 64, 2, 2},
		{"nvme", "128k", "read", 5, 16, 1, 1},
	};

	(void)state;
	JUDGE(cells);
}

static void random_reads_and_writes(void **state)
{
	static const struct cell cells[] = {
		{"ssd", "512k", "randread", 5, 64, 2, 3},
		{"ssd", "16k", "randwrite", 3, 32, 2, 2},
		{"pcie-flash:stall=0", "512k", "randread", 5, 64, 2, 3},
		{"nvme", "64k", "randread", 4, 32, 1, 1},
		{"nvme", "1m", "randwrite", 2, 32, 1, 2},
		{"profile:kxg6", "256k", "randread", 4, 64, 2, 2},
	};

	(void)state;
	JUDGE(cells);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_over_stalls),
		cmocka_unit_test(mixed),
		cmocka_unit_test(sequential_reads),
		cmocka_unit_test(random_reads_and_writes),
	};

	return cmocka_run_group_tests_name("speed", tests, NULL, NULL);
}
