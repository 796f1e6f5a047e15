// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thread 000: four groups with deep queues on a flash card. Under weir the card runs as fast as
 * without shares, each group gets its weight, and nobody waits much longer than on average. TPPS
 * beside it shows the rates that its author published.
 */
#include "tests/gauntlet.h"

#define CARD "pcie-flash"
#define CALM_CARD "pcie-flash:stall=0"
#define GROUPS_MAX 6

struct shares {
	unsigned int nr;
	unsigned int weight[GROUPS_MAX];
};

static const char *const names[GROUPS_MAX] = {"test1", "test2", "test3", "test4", "test5", "test6"};

static const struct shares thread = {4, {1000, 800, 600, 400}};

static const char *const cards[] = {CARD, CALM_CARD};

/* One group against its weight, and its longest wait. `run` may be a phase. */
static void judge_group(const json_t *run, const char *name, double share)
{
	double service_max_ns = gauntlet_number(gauntlet_group(run, ""), "service_ns/max");
	const json_t *g = gauntlet_group(run, name);

	gauntlet_at_least("completions of a group", gauntlet_ios(g), GAUNTLET_SHARE_MIN_IOS);
	gauntlet_within("entitled against weight", gauntlet_number(g, "entitled"), share, 0.001);
	gauntlet_within("received against entitled", gauntlet_number(g, "received"),
			gauntlet_number(g, "entitled"), 0.01);
	gauntlet_within("received against weight", gauntlet_number(g, "received"), share, 0.01);
	gauntlet_at_most("longest wait", gauntlet_number(g, "queue_wait_ns/max"),
			 1.25 * gauntlet_number(g, "queue_wait_ns/mean") + service_max_ns);
}

static void judge_shares(const json_t *weir, const struct shares *s)
{
	unsigned int i, sum = 0;

	for (i = 0; i < s->nr; i++)
		sum += s->weight[i];
	for (i = 0; i < s->nr; i++)
		judge_group(weir, names[i], (double)s->weight[i] / sum);
}

static void judge_weir(const json_t *weir, const json_t *noop, const struct shares *s)
{
	gauntlet_at_least("total against noop",
			  gauntlet_number(weir, "total/iops") / gauntlet_number(noop, "total/iops"),
			  0.99);
	judge_shares(weir, s);
}

static void judge_tpps(const json_t *tpps, const json_t *noop)
{
	double ratio = gauntlet_iops(gauntlet_group(tpps, "test1")) /
		       gauntlet_iops(gauntlet_group(tpps, "test4"));
	double total = gauntlet_number(tpps, "total/iops") / gauntlet_number(noop, "total/iops");

	gauntlet_at_least("tpps: test1/test4", ratio, 1.9);
	gauntlet_at_most("tpps: test1/test4", ratio, 2.6);
	gauntlet_at_least("tpps: total against noop", total, 0.97);
}

static void say(const char *what, const json_t *result, const char *variables)
{
	double noop = gauntlet_number(gauntlet_run(result, "noop"), "total/iops");

	gauntlet_report("%s, %s: noop %.0f IOPS, tpps %.4f of it, weir %.4f", what, variables, noop,
			gauntlet_number(gauntlet_run(result, "tpps"), "total/iops") / noop,
			gauntlet_number(gauntlet_run(result, "weir"), "total/iops") / noop);
}

static void closed_loop(const char *variables)
{
	unsigned int i, seed;

	for (i = 0; i < 2; i++) {
		for (seed = 1; seed <= 3; seed++) {
			json_t *result = gauntlet_sim(
				variables,
				"examples/000/closed-loop.fio --device %s --policy noop,tpps,weir "
				"--seed %u",
				cards[i], seed);
			json_t *noop = gauntlet_run(result, "noop");

			judge_weir(gauntlet_run(result, "weir"), noop, &thread);
			judge_tpps(gauntlet_run(result, "tpps"), noop);
			if (seed == 1)
				say(cards[i], result, variables);
			json_decref(result);
		}
	}
	gauntlet_verdict();
}

static void reads_256(void **state)
{
	(void)state;
	closed_loop("RW=randread DEPTH=256");
}

static void reads_512(void **state)
{
	(void)state;
	closed_loop("RW=randread DEPTH=512");
}

static void mixed_256(void **state)
{
	(void)state;
	closed_loop("RW=randrw DEPTH=256");
}

static void mixed_512(void **state)
{
	(void)state;
	closed_loop("RW=randrw DEPTH=512");
}

/* The same with both patterns as phases of one file: each phase must hold by itself. */
static void mysql_cluster(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		json_t *result = gauntlet_sim(
			"", "examples/mysql-cluster.fio --device %s --policy noop,tpps,weir",
			cards[i]);
		json_t *noop = gauntlet_run(result, "noop"), *weir = gauntlet_run(result, "weir"),
		       *tpps = gauntlet_run(result, "tpps"), *phase;
		size_t n;

		assert_int_equal(json_array_size(gauntlet_part(weir, "phases")), 2);
		json_array_foreach(gauntlet_part(weir, "phases"), n, phase)
		{
			const json_t *base = json_array_get(gauntlet_part(noop, "phases"), n);

			judge_weir(phase, base, &thread);
			judge_tpps(json_array_get(gauntlet_part(tpps, "phases"), n), base);
		}
		judge_weir(weir, noop, &thread);
		say(cards[i], result, "mysql-cluster");
		json_decref(result);
	}
	gauntlet_verdict();
}

/* ---- what the thread did not ask ---- */

struct variant {
	const char *option, *rw;
	unsigned int depth, ramp_s, run_s, seed;
	struct shares shares;
};

/* Ramps are so long that the slowest group's first queue is through. */
static const struct variant variants[] = {
	{"bs=4k", "randread", 64, 1, 2, 1, {2, {200, 300}}},
	{"bs=4k", "randread", 1024, 2, 2, 2, {3, {100, 100, 100}}},
	{"bs=4k", "randwrite", 128, 2, 3, 3, {4, {137, 300, 800, 5000}}},
	{"bs=8k", "randrw", 100, 2, 5, 4, {4, {50, 200, 1000, 2000}}},
	{"bs=512", "randread", 700, 3, 3, 5, {5, {137, 200, 200, 800, 10000}}},
	{"bs=16k", "randread", 128, 3, 4, 6, {4, {5, 500, 800, 800}}},
	{"bs=16k", "randwrite", 64, 1, 3, 7, {2, {100, 300}}},
	{"rwmixread=90", "randrw", 256, 3, 3, 8, {6, {50, 200, 300, 500, 800, 1000}}},
	{"rwmixread=10", "randrw", 64, 3, 5, 9, {3, {1, 100, 300}}},
	{"bsrange=4k-32k", "randread", 128, 2, 3, 10, {4, {100, 200, 500, 500}}},
	{"bsrange=4k-32k", "randrw", 128, 3, 3, 11, {3, {100, 137, 1000}}},
};

static const struct variant large_blocks[] = {
	{"bs=32k", "randread", 64, 2, 3, 12, {3, {800, 5000, 10000}}},
	{"bs=64k", "randread", 64, 2, 3, 13, {4, {1000, 800, 600, 400}}},
	{"bs=128k", "randread", 64, 2, 3, 14, {4, {1000, 800, 600, 400}}},
	{"bs=64k", "randwrite", 32, 2, 3, 15, {3, {100, 200, 300}}},
	{"bs=128k", "randrw", 32, 2, 4, 16, {2, {100, 300}}},
};

static const char *variant_file(const struct variant *v)
{
	struct gauntlet_text job = {0};
	char name[32];
	unsigned int i;

	gauntlet_add(&job,
		     "[global]\nfilename=/dev/fioa\nioengine=libaio\ndirect=1\nnorandommap\n%s\n"
		     "rw=%s\niodepth=%u\ntime_based\nramp_time=%u\nruntime=%u\n",
		     v->option, v->rw, v->depth, v->ramp_s, v->run_s);
	for (i = 0; i < v->shares.nr; i++)
		gauntlet_add(&job, "[%s]\ncgroup=%s\ncgroup_weight=%u\n", names[i], names[i],
			     v->shares.weight[i]);
	snprintf(name, sizeof(name), "variant-%u.fio", v->seed);
	return gauntlet_file(name, &job);
}

static void judge_variants(const struct variant *v, size_t nr, const char *card)
{
	for (; nr; nr--, v++) {
		json_t *result = gauntlet_sim("", "%s --device %s --policy noop,weir --seed %u",
					      variant_file(v), card, v->seed);

		judge_weir(gauntlet_run(result, "weir"), gauntlet_run(result, "noop"), &v->shares);
		json_decref(result);
	}
	gauntlet_verdict();
}

#define NR(table) (sizeof(table) / sizeof((table)[0]))

static void variants_with_stalls(void **state)
{
	(void)state;
	judge_variants(variants, NR(variants), CARD);
}

static void variants_without_stalls(void **state)
{
	(void)state;
	judge_variants(variants, NR(variants), CALM_CARD);
}

static void large_blocks_without_stalls(void **state)
{
	(void)state;
	judge_variants(large_blocks, NR(large_blocks), CALM_CARD);
}

/* Each of these needs many dies, of which one may be out of service: a little is lost there. */
static void large_blocks_with_stalls(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < NR(large_blocks); i++) {
		const struct variant *v = &large_blocks[i];
		json_t *result = gauntlet_sim("", "%s --device %s --policy noop,weir --seed %u",
					      variant_file(v), CARD, v->seed);
		const json_t *weir = gauntlet_run(result, "weir");
		double part = gauntlet_number(weir, "total/iops") /
			      gauntlet_number(gauntlet_run(result, "noop"), "total/iops");

		judge_shares(weir, &v->shares);
		gauntlet_at_least("total against noop", part, 0.98);
		gauntlet_report("%s of %s: total %.4f of noop", v->rw, v->option, part);
		json_decref(result);
	}
	gauntlet_verdict();
}

/*
 * Many large reads and writes look to the depth control as if more in flight were always better. With
 * more than one group asks for, its neighbour takes what it likes. The total is not judged: what
 * garbage collection finds to do differs by two percent from run to run.
 */
static void depth_below_demand(void **state)
{
	unsigned int i, seed;

	(void)state;
	for (i = 0; i < 2; i++) {
		for (seed = 1; seed <= 2; seed++) {
			const struct variant v = {"bs=64k", "randrw",	    64, 4, 8,
						  seed,	    {2, {10, 1000}}};
			json_t *result = gauntlet_sim("", "%s --device %s --policy weir --seed %u",
						      variant_file(&v), cards[i], seed);

			judge_shares(gauntlet_run(result, "weir"), &v.shares);
			json_decref(result);
		}
	}
	gauntlet_verdict();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_256),
		cmocka_unit_test(reads_512),
		cmocka_unit_test(mixed_256),
		cmocka_unit_test(mixed_512),
		cmocka_unit_test(mysql_cluster),
		cmocka_unit_test(variants_with_stalls),
		cmocka_unit_test(variants_without_stalls),
		cmocka_unit_test(large_blocks_with_stalls),
		cmocka_unit_test(large_blocks_without_stalls),
		cmocka_unit_test(depth_below_demand),
	};

	return cmocka_run_group_tests_name("thread 000", tests, NULL, NULL);
}
