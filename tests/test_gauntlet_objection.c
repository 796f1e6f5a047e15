// SPDX-License-Identifier: GPL-2.0-only
/*
 * The objection in thread 000: a group that is not always backlogged loses its share without
 * idling. Under weir a group at depth 1 is served nearly as fast as on the idle card beside three
 * deep ones, faster still with a latency target, and a bursty group gets its share of the time it
 * is on. Under TPPS the first loses what the objection says it loses.
 */
#include "tests/gauntlet.h"

#define P99 "99.000000"

static const char *const cards[] = {"pcie-flash", "pcie-flash:stall=0"};

/* ---- one block at a time ---- */

/* The 99th percentile of test1 alone on the idle card. */
static double idle_p99_ns(const char *job, const char *card, unsigned int seed)
{
	json_t *result = gauntlet_sim("", "%s --device %s --policy noop --section test1 --seed %u",
				      job, card, seed);
	double p99_ns = gauntlet_latency_ns(gauntlet_job(gauntlet_run(result, "noop"), "test1"),
					    P99);

	json_decref(result);
	assert_true(p99_ns > 0);
	return p99_ns;
}

static double job_p99_ns(const json_t *run)
{
	return gauntlet_latency_ns(gauntlet_job(run, "test1"), P99);
}

static double total(const json_t *run)
{
	return gauntlet_number(run, "total/iops");
}

static void without_target(const char *job, const char *card, unsigned int seed)
{
	double idle_ns = idle_p99_ns(job, card, seed), weir_ns, tpps_ns;
	json_t *result = gauntlet_sim("", "%s --device %s --policy noop,tpps,weir --seed %u", job,
				      card, seed);
	const json_t *noop = gauntlet_run(result, "noop"), *tpps = gauntlet_run(result, "tpps"),
		     *weir = gauntlet_run(result, "weir");

	weir_ns = job_p99_ns(weir);
	tpps_ns = job_p99_ns(tpps);
	gauntlet_at_least("completions of test1", gauntlet_ios(gauntlet_group(weir, "test1")),
			  1000);
	gauntlet_at_most("p99 against the idle card's", weir_ns / idle_ns, 2.5);
	gauntlet_at_least("total against noop", total(weir) / total(noop), 0.97);
	/* The objection holds for TPPS, or this test would show nothing. */
	gauntlet_at_least("tpps: p99 against weir's", tpps_ns / weir_ns, 2);
	gauntlet_at_most("tpps: rate of test1 against weir's",
			 gauntlet_iops(gauntlet_group(tpps, "test1")) /
				 gauntlet_iops(gauntlet_group(weir, "test1")),
			 0.6);
	if (seed == 1)
		gauntlet_report("%s: p99 %.2f x idle, tpps %.2f x; total %.4f of noop", card,
				weir_ns / idle_ns, tpps_ns / idle_ns, total(weir) / total(noop));
	json_decref(result);
}

static void objection(void **state)
{
	unsigned int i, seed;

	(void)state;
	for (i = 0; i < 2; i++)
		for (seed = 1; seed <= 3; seed++)
			without_target("examples/000/objection.fio", cards[i], seed);
	gauntlet_verdict();
}

static void with_target(const char *job, const char *ini, const char *card, unsigned int seed)
{
	double idle_ns = idle_p99_ns(job, card, seed), p99_ns;
	json_t *plain = gauntlet_sim("", "%s --device %s --policy noop,weir --seed %u", job, card,
				     seed);
	json_t *result = gauntlet_sim("", "%s --device %s --policy weir --groups %s --seed %u", job,
				      card, ini, seed);
	const json_t *noop = gauntlet_run(plain, "noop"), *without = gauntlet_run(plain, "weir"),
		     *with = gauntlet_run(result, "weir"), *g = gauntlet_group(with, "test1");

	p99_ns = job_p99_ns(with);
	gauntlet_at_most("p99 with a target against the idle card's", p99_ns / idle_ns, 2);
	gauntlet_check("target met", gauntlet_true(g, "latency_target/met"));
	gauntlet_at_least("periods judged", gauntlet_number(g, "latency_target/periods"), 30);
	gauntlet_report(
		"%s, seed %u: p99 %.2f x idle with a target of %.0f us; total %.4f of noop, "
		"%.4f of weir without it",
		card, seed, p99_ns / idle_ns, gauntlet_number(g, "latency_target/target_us"),
		total(with) / total(noop), total(with) / total(without));
	json_decref(plain);
	json_decref(result);
}

static void latency_target(void **state)
{
	unsigned int i, seed;

	(void)state;
	for (i = 0; i < 2; i++)
		for (seed = 1; seed <= 3; seed++)
			with_target("examples/000/objection.fio",
				    "examples/000/objection-target.ini", cards[i], seed);
	gauntlet_verdict();
}

/* ---- what the thread did not ask ---- */

struct tenants {
	unsigned int nr;
	unsigned int weight[6];
};

/* test1's demand stays within its weight: beyond that it waits for its turn, as it should. */
static const struct variant {
	const char *size;
	unsigned int think_us, depth, seed;
	struct tenants tenants;
} variants[] = {
	{"4k", 200, 128, 4, {2, {500, 500}}},
	{"4k", 500, 1024, 5, {4, {100, 1000, 200, 100}}},
	{"4k", 1000, 256, 6, {5, {200, 100, 100, 1000, 500}}},
	{"512", 200, 128, 7, {2, {500, 500}}},
	{"8k", 200, 512, 8, {6, {500, 500, 500, 1000, 500, 500}}},
	{"16k", 50, 256, 9, {3, {200, 200, 200}}},
	{"16k", 1000, 256, 10, {5, {100, 200, 200, 100, 200}}},
};

static const char *variant_file(const struct variant *v)
{
	struct gauntlet_text job = {0};
	char name[32], think[32];
	unsigned int i;

	gauntlet_add(&job,
		     "[global]\nfilename=/dev/fioa\nioengine=libaio\ndirect=1\nbs=%s\nrw=randread\n"
		     "time_based\nramp_time=1\nruntime=4\n",
		     v->size);
	snprintf(think, sizeof(think), "thinktime=%u\n", v->think_us);
	for (i = 0; i < v->tenants.nr; i++)
		gauntlet_add(&job, "[test%u]\ncgroup=test%u\ncgroup_weight=%u\niodepth=%u\n%s",
			     i + 1, i + 1, v->tenants.weight[i], i ? v->depth : 1, i ? "" : think);
	snprintf(name, sizeof(name), "depth-1-%u.fio", v->seed);
	return gauntlet_file(name, &job);
}

static void variants_of_it(void **state)
{
	size_t i;
	unsigned int card;

	(void)state;
	for (i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
		for (card = 0; card < 2; card++)
			without_target(variant_file(&variants[i]), cards[card], variants[i].seed);
	gauntlet_verdict();
}

/* ---- bursts ---- */

/*
 * While it is on, from its first request of a burst to the last completion, test1 is entitled to
 * its weight's part of the device; `entitled` is the integral of that, with the 2 ms of its claim
 * behind each burst, which makes it the stricter bound. The other reading, half of the time at its
 * weight, must hold as well.
 */
static void bursts(const char *job, const char *card, unsigned int seed, double share, double on)
{
	json_t *result = gauntlet_sim("", "%s --device %s --policy noop,weir --seed %u", job, card,
				      seed);
	const json_t *noop = gauntlet_run(result, "noop"), *weir = gauntlet_run(result, "weir"),
		     *g = gauntlet_group(weir, "test1");
	double received = gauntlet_number(g, "received"), entitled = gauntlet_number(g, "entitled");

	gauntlet_at_least("entitled of a bursty group", entitled, share * on);
	gauntlet_at_least("received against entitled while on", received / entitled, 0.95);
	gauntlet_at_least("received against weight x time on", received / (share * on), 0.95);
	gauntlet_at_least("total against noop", total(weir) / total(noop), 0.97);
	if (seed == 1)
		gauntlet_report("%s: bursty group %.3f of its entitlement, total %.4f of noop",
				card, received / entitled, total(weir) / total(noop));
	json_decref(result);
}

static void bursty(void **state)
{
	unsigned int i, seed;

	(void)state;
	for (i = 0; i < 2; i++)
		for (seed = 1; seed <= 3; seed++)
			bursts("examples/000/bursty.fio", cards[i], seed, 1000.0 / 2800, 0.5);
	gauntlet_verdict();
}

static const struct burst_variant {
	const char *size;
	unsigned int on_ms, off_ms, burst_depth, depth, seed;
	struct tenants tenants;
} burst_variants[] = {
	{"4k", 50, 50, 64, 128, 4, {2, {100, 100}}},
	{"4k", 200, 50, 128, 256, 5, {5, {1000, 1000, 200, 500, 100}}},
	{"512", 50, 20, 16, 256, 6, {5, {100, 100, 100, 1000, 500}}},
	{"8k", 100, 50, 16, 512, 7, {5, {100, 100, 200, 500, 200}}},
	{"16k", 100, 100, 128, 64, 8, {6, {1000, 100, 500, 1000, 200, 500}}},
	{"4k", 50, 200, 128, 128, 9, {3, {500, 500, 1000}}},
};

static void bursty_variants(void **state)
{
	size_t i;
	unsigned int n;

	(void)state;
	for (i = 0; i < sizeof(burst_variants) / sizeof(burst_variants[0]); i++) {
		const struct burst_variant *v = &burst_variants[i];
		struct gauntlet_text job = {0};
		unsigned int sum = 0;
		char name[32];

		gauntlet_add(&job,
			     "[global]\nfilename=/dev/fioa\nioengine=libaio\ndirect=1\nbs=%s\n"
			     "rw=randread\nnorandommap\ntime_based\nramp_time=1\nruntime=4\n",
			     v->size);
		for (n = 0; n < v->tenants.nr; n++) {
			sum += v->tenants.weight[n];
			gauntlet_add(
				&job, "[test%u]\ncgroup=test%u\ncgroup_weight=%u\niodepth=%u\n",
				n + 1, n + 1, v->tenants.weight[n], n ? v->depth : v->burst_depth);
			if (!n)
				gauntlet_add(&job, "thinktime=%ums\nthinktime_iotime=%ums\n",
					     v->off_ms, v->on_ms);
		}
		snprintf(name, sizeof(name), "burst-%u.fio", v->seed);
		for (n = 0; n < 2; n++)
			bursts(gauntlet_file(name, &job), cards[n], v->seed,
			       (double)v->tenants.weight[0] / sum,
			       (double)v->on_ms / (v->on_ms + v->off_ms));
	}
	gauntlet_verdict();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objection),	   cmocka_unit_test(latency_target),
		cmocka_unit_test(variants_of_it),  cmocka_unit_test(bursty),
		cmocka_unit_test(bursty_variants),
	};

	return cmocka_run_group_tests_name("thread 000, objection", tests, NULL, NULL);
}
