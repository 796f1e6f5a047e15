// SPDX-License-Identifier: GPL-2.0-only
/*
 * Weights as numbers: 200:300 is 40:60 and nothing else, whatever the device, the pattern and the
 * scale, products down a tree included; and 1 beside 10000 gets its ten-thousandth, steadily.
 */
#include "tests/gauntlet.h"

struct tenant {
	const char *path;
	unsigned int weight;
	double share; /* that this weight is worth in its tree */
};

struct load {
	const char *device, *rw, *size;
	unsigned int depth, ramp_s, run_s;
};

/* Sections are numbered: paths have slashes. The groups file has what no job may say. */
static json_t *run_load(const struct load *l, const struct tenant *t, unsigned int nr,
			const char *groups)
{
	struct gauntlet_text job = {0}, ini = {0};
	unsigned int i;

	gauntlet_add(&job,
		     "[global]\nfilename=/dev/sdb\nioengine=libaio\ndirect=1\nnorandommap\nrw=%s\n"
		     "bs=%s\niodepth=%u\ntime_based\nramp_time=%u\nruntime=%u\n",
		     l->rw, l->size, l->depth, l->ramp_s, l->run_s);
	for (i = 0; i < nr; i++)
		gauntlet_add(&job, "[%u]\ncgroup=%s\ncgroup_weight=%u\n", i, t[i].path,
			     t[i].weight);
	gauntlet_add(&ini, "%s", groups);
	return gauntlet_sim("", "%s --device %s --policy noop,weir --groups %s",
			    gauntlet_file("weights.fio", &job), l->device,
			    gauntlet_file("weights.ini", &ini));
}

/* All of one size and direction: parts of the device's time are parts of the completions, too. */
static void judge(const struct load *l, const struct tenant *t, unsigned int nr, const char *groups,
		  double part)
{
	json_t *result = run_load(l, t, nr, groups);
	const json_t *noop = gauntlet_run(result, "noop"), *weir = gauntlet_run(result, "weir");
	double all = gauntlet_ios(gauntlet_group(weir, ""));
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const json_t *g = gauntlet_group(weir, t[i].path);
		double granule = 1 / gauntlet_ios(g); /* half of one more or less at each end */

		gauntlet_at_least("completions", gauntlet_ios(g), GAUNTLET_SHARE_MIN_IOS);
		gauntlet_within("entitled", gauntlet_number(g, "entitled"), t[i].share, 0.0005);
		gauntlet_within("received", gauntlet_number(g, "received"), t[i].share, part);
		gauntlet_within("part of the completions", gauntlet_ios(g) / all, t[i].share,
				part + granule);
	}
	gauntlet_at_least("total against noop",
			  gauntlet_number(weir, "total/iops") / gauntlet_number(noop, "total/iops"),
			  0.98);
	json_decref(result);
}

/* ---- 200:300 ---- */

static void two_to_three(void **state)
{
	static const struct load loads[] = {
		{"ssd", "randread", "4k", 64, 1, 2},
		{"ssd", "randwrite", "4k", 32, 1, 2},
		{"ssd", "randwrite", "64k", 32, 1, 3},
		{"pcie-flash", "randread", "4k", 256, 1, 2},
		{"pcie-flash", "randwrite", "512", 128, 1, 2},
		{"nvme", "randread", "4k", 256, 1, 1},
		{"nvme", "randwrite", "4k", 256, 1, 1},
		{"hdd", "randread", "4k", 64, 3, 120},
		{"hdd", "randwrite", "4k", 64, 3, 120},
	};
	static const unsigned int pairs[][2] = {{200, 300}, {2, 3}, {4000, 6000}};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		for (n = 0; n < sizeof(pairs) / sizeof(pairs[0]); n++) {
			const struct tenant t[] = {{"a", pairs[n][0], 0.4},
						   {"b", pairs[n][1], 0.6}};

			judge(&loads[i], t, 2, "", 0.001);
		}
	}
	gauntlet_verdict();
}

/* ---- 1 beside 10000 ---- */

/* Ten thousand seconds of the device for one: the small group goes on at its pace all the time. */
static void one_to_ten_thousand(void **state)
{
	static const struct load loads[] = {
		{"ssd", "randread", "4k", 64, 20, 30},
		{"ssd", "randwrite", "4k", 64, 20, 30},
		{"pcie-flash", "randread", "4k", 64, 30, 50},
		{"pcie-flash:stall=0", "randwrite", "4k", 256, 60, 50},
		{"nvme", "randread", "4k", 256, 8, 5},
	};
	static const struct tenant t[] = {{"small", 1, 1.0 / 10001},
					  {"large", 10000, 10000.0 / 10001}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		json_t *result = run_load(&loads[i], t, 2, "");
		const json_t *weir = gauntlet_run(result, "weir"), *job = gauntlet_job(weir, "0"),
			     *g = gauntlet_group(weir, "small");
		const char *dir = gauntlet_number(job, "read/total_ios") > 0 ? "read" : "write";
		double samples = gauntlet_number(gauntlet_part(job, dir), "iops_samples");

		gauntlet_at_least("completions", gauntlet_ios(g), GAUNTLET_SHARE_MIN_IOS);
		gauntlet_within("received", gauntlet_number(g, "received"), t[0].share, 0.01);
		gauntlet_within("part of the completions",
				gauntlet_ios(g) / gauntlet_ios(gauntlet_group(weir, "")),
				t[0].share, 0.01);
		/* Per half second. */
		gauntlet_at_least("samples", samples, 2 * loads[i].run_s - 1);
		gauntlet_at_least("slowest half second",
				  gauntlet_number(gauntlet_part(job, dir), "iops_min"), 1);
		json_decref(result);
	}
	gauntlet_verdict();
}

/* ---- trees ---- */

/* Own requests of an inner node compete as one child of weight 100, or of what the file says. */
static void three_levels(void **state)
{
	static const struct load loads[] = {
		{"ssd", "randread", "4k", 64, 1, 3},
		{"pcie-flash", "randwrite", "4k", 128, 1, 3},
	};
	static const struct tenant t[] = {
		{"a/b/c", 200, 0.6 * 0.75 * 0.4}, {"a/b/d", 300, 0.6 * 0.75 * 0.6},
		{"a/e", 1, 0.6 * 0.25},		  {"f/g/h", 1, 0.4 * 0.5},
		{"f/i", 100, 0.4 * 0.5},
	};
	static const struct tenant own[] = {
		{"a", 300, 0.75 * 0.5}, /* its own: 100 of 200 */
		{"a/b", 100, 0.75 * 0.5},
		{"c/d", 50, 0.25 * 0.25},
		{"c/e", 150, 0.25 * 0.75},
	};
	static const char groups[] = "[a]\nio.weight = 600\n[a/b]\nio.weight = 3\n[f]\n"
				     "io.weight = 400\n[f/g]\nio.weight = 100\n";
	static const char own_groups[] = "[c]\nio.weight = 100\n";
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		json_t *result;

		judge(&loads[i], t, 5, groups, 0.002);
		result = run_load(&loads[i], own, 4, own_groups);
		/* A node reports its subtree: the node's own are what is left of it. */
		gauntlet_within("node and child",
				gauntlet_number(gauntlet_group(gauntlet_run(result, "weir"), "a"),
						"received"),
				0.75, 0.002);
		gauntlet_within("child beside the node's own",
				gauntlet_number(gauntlet_group(gauntlet_run(result, "weir"), "a/b"),
						"received"),
				own[1].share, 0.002);
		gauntlet_within("other side",
				gauntlet_number(gauntlet_group(gauntlet_run(result, "weir"), "c/e"),
						"received"),
				own[3].share, 0.002);
		json_decref(result);
	}
	gauntlet_verdict();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_to_three),
		cmocka_unit_test(one_to_ten_thousand),
		cmocka_unit_test(three_levels),
	};

	return cmocka_run_group_tests_name("weights", tests, NULL, NULL);
}
