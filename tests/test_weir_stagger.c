// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy/weir/stagger.c: requests of a device with so many equal places leave their step, and stay
 * out of it; what that costs, also where there is no step, or none that can be left.
 */
#include "core/spi.h"
#include "tests/toy_device.h"

enum {
	PLACES = 16,
	ROUND_US = 2000,
	/* Four rounds to see it, one to change it, and the last of the old. */
	SEEN_ROUNDS = 6,
};

#define ROUND_NS (ROUND_US * TOY_US)

static struct toy toy;

static int setup(void **state)
{
	(void)state;
	toy_init(&toy);
	toy.depth = PLACES;
	toy.service_min_ns = toy.service_max_ns = ROUND_NS;
	/* A request costs what a place has time for, and so much is in flight as there are places. */
	toy.cfg.profile.rrandiops = toy.cfg.profile.rseqiops = PLACES * 1000000 / ROUND_US;
	toy.cfg.profile.rbps = UINT64_C(1) << 40;
	toy.cfg.profile.latency_ns = toy.cfg.profile.knee_ns = ROUND_NS;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	toy_stop(&toy);
	return 0;
}

/* Two deep groups, and one that reads a block at a time. */
static struct toy_stream *start(const struct weir_policy *policy, bool adapt, uint64_t think_us)
{
	uint64_t values[WEIR_TUNABLES_MAX];
	struct toy_stream *thin;
	int i;

	util_defaults(policy, values);
	if (policy == &weir_policy_weir)
		util_tune(policy, values, "adapt", adapt);
	toy_start(&toy, policy, values);
	for (i = 0; i < 2; i++)
		toy_start_stream(&toy,
				 toy_stream(&toy, toy_group(&toy, weir_root(toy.w), 100), 100));
	thin = toy_stream(&toy, toy_group(&toy, weir_root(toy.w), 100), 1);
	thin->think_ns = think_us * TOY_US;
	toy_start_stream(&toy, thin);
	return thin;
}

static struct toy_stream *start_and_see(bool adapt, uint64_t think_us)
{
	struct toy_stream *thin = start(&weir_policy_weir, adapt, think_us);

	toy_run(&toy, SEEN_ROUNDS * ROUND_NS);
	toy_clear(&toy);
	return thin;
}

/* By hand: alone it reads every 2.2 ms. In step it would be every 4; apart, every 2.56 at most. */
static void leaves_step(void **state)
{
	struct toy_stream *thin = start_and_see(false, 200);
	uint64_t rounds = TOY_S / ROUND_NS;

	(void)state;
	toy_run(&toy, TOY_S);
	/* 7/8 of a round are filled evenly, and the rest of it stands at the end. */
	assert_in_range(thin->wait_max_ns, 1, (ROUND_US / 8 + 110) * TOY_US);
	assert_in_range(thin->done, TOY_S / (2560 * TOY_US), TOY_S / (2200 * TOY_US));
	/* Nothing is given up for it: all places are busy, all the time. */
	assert_in_range(toy.done, rounds * PLACES - PLACES, rounds * PLACES + PLACES);
}

/* In step it would get the round that begins 6 ms after the last, and be back after 8. */
static void rare_requests_too(void **state)
{
	struct toy_stream *thin = start_and_see(false, 5000);

	(void)state;
	toy_run(&toy, 2 * TOY_S);
	assert_in_range(thin->done, 2 * TOY_S / (7360 * TOY_US), 2 * TOY_S / (7000 * TOY_US) + 1);
}

/* The same device under a policy that does not know of it: or the tests above would show nothing. */
static void noop_stays_in_step(void **state)
{
	struct toy_stream *thin = start(&weir_policy_noop, false, 200);

	(void)state;
	toy_run(&toy, 20 * ROUND_NS); /* its first request came in step */
	toy_clear(&toy);
	toy_run(&toy, TOY_S);
	assert_true(thin->done > 0);
	assert_true(thin->wait_max_ns % ROUND_NS > ROUND_NS * 8 / 10);
}

/* While the window is looked for, places are given up and taken again; it stays nearly as good. */
static void with_probing(void **state)
{
	struct toy_stream *thin = start_and_see(true, 200);

	(void)state;
	toy_run(&toy, 4 * TOY_S);
	assert_in_range(thin->done, 4 * TOY_S / (2200 * TOY_US) * 92 / 100,
			4 * TOY_S / (2200 * TOY_US));
}

/* Half a round of all places, once. */
static void costs_half_a_round(void **state)
{
	uint64_t rounds = 50;

	(void)state;
	start(&weir_policy_weir, false, 200);
	toy_run(&toy, rounds * ROUND_NS);
	assert_in_range(toy.done, rounds * PLACES - PLACES - PLACES / 2, rounds * PLACES - 4);
}

/* All that is completed up to then is told at the end of the round, as by a coalescing device. */
static void where_it_is_of_no_use(void **state)
{
	uint64_t rounds = 5000;

	(void)state;
	toy.coalesce_ns = ROUND_NS;
	start(&weir_policy_weir, false, 200);
	toy_run(&toy, rounds * ROUND_NS);
	assert_in_range(toy.done, rounds * PLACES * 985 / 1000, rounds * PLACES);
}

/* Places that end by chance are not in step: nothing is done, and nothing lost. */
static void chance_is_no_step(void **state)
{
	uint64_t with, mean_ns = ROUND_NS;

	(void)state;
	toy.service_min_ns = ROUND_NS / 2;
	toy.service_max_ns = ROUND_NS + ROUND_NS / 2;
	start(&weir_policy_weir, false, 200);
	toy_run(&toy, 4 * TOY_S);
	with = toy.done;
	assert_in_range(with, 4 * TOY_S / mean_ns * PLACES * 99 / 100,
			4 * TOY_S / mean_ns * PLACES * 101 / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(leaves_step, setup, teardown),
		cmocka_unit_test_setup_teardown(rare_requests_too, setup, teardown),
		cmocka_unit_test_setup_teardown(noop_stays_in_step, setup, teardown),
		cmocka_unit_test_setup_teardown(with_probing, setup, teardown),
		cmocka_unit_test_setup_teardown(costs_half_a_round, setup, teardown),
		cmocka_unit_test_setup_teardown(where_it_is_of_no_use, setup, teardown),
		cmocka_unit_test_setup_teardown(chance_is_no_step, setup, teardown),
	};

	return cmocka_run_group_tests_name("weir, requests in step", tests, NULL, NULL);
}
