// SPDX-License-Identifier: GPL-2.0-only
/*
 * TPPS: the fixed point of its rule and of the mail's variant, in the closed loop that the figures
 * were computed with: 256 outstanding per group, a device without a limit, 0.5 .. 1.5 ms a request.
 */
#include "tests/toy_device.h"

#include "core/spi.h"

static struct toy toy;

static const uint32_t weights[] = {1000, 800, 600, 400};
#define NR_GROUPS 4

static void assert_near(uint64_t value, uint64_t wanted, uint64_t by)
{
	if (value + by < wanted || value > wanted + by)
		fail_msg("%llu is not within %llu of %llu", (unsigned long long)value,
			 (unsigned long long)by, (unsigned long long)wanted);
}

static void tune(uint64_t *values, const char *name, uint64_t value)
{
	util_tune(&weir_policy_tpps, values, name, value);
}

/* ---- the closed loop ---- */

/*
 * Four groups with so many processes each. Then the streams of group g are toy.stream[g *
 * processes] and following, and the first second is a ramp.
 */
static void run_groups(const uint64_t *values, uint32_t processes, uint32_t outstanding)
{
	uint32_t g, p;

	toy_init(&toy);
	toy_start(&toy, &weir_policy_tpps, values);
	for (g = 0; g < NR_GROUPS; g++) {
		struct weir_group *group = toy_group(&toy, weir_root(toy.w), weights[g]);

		for (p = 0; p < processes; p++) {
			struct toy_stream *s = toy_stream(&toy, group, outstanding / processes);

			s->ctx = weir_ctx_create(toy.w, group, WEIR_IOPRIO_NONE, 0, toy.now);
			toy_start_stream(&toy, s);
		}
	}
	toy_run(&toy, TOY_S / 5);
	toy_clear(&toy);
	toy_run(&toy, 2 * TOY_S);
}

static uint64_t group_done(uint32_t g, uint32_t processes)
{
	uint64_t done = 0;
	uint32_t p;

	for (p = 0; p < processes; p++)
		done += toy.stream[g * processes + p].done;
	return done;
}

/* Rates against the lightest group's, in hundredths. */
static void expect_ratios(uint32_t processes, const uint32_t ratio[NR_GROUPS])
{
	uint32_t g;

	for (g = 0; g < NR_GROUPS; g++)
		assert_near(group_done(g, processes) * 100 / group_done(3, processes), ratio[g], 3);
}

static void fixed_point_one_process(void **state)
{
	static const uint32_t ratio[] = {255, 199, 152, 100};
	static const uint32_t in_driver[] = {2300, 1800, 1380, 900};
	uint32_t g;

	(void)state;
	run_groups(NULL, 1, 256);
	expect_ratios(1, ratio);
	assert_near(toy_mean_in_device(&toy, NULL), 6380, 30);
	for (g = 0; g < NR_GROUPS; g++)
		assert_near(toy_mean_in_device(&toy, &toy.stream[g]), in_driver[g], 30);
	toy_stop(&toy);
}

static void fixed_point_eight_processes(void **state)
{
	static const uint32_t ratio[] = {255, 200, 153, 100};
	uint32_t p;

	(void)state;
	run_groups(NULL, 8, 256);
	expect_ratios(8, ratio);
	assert_near(toy_mean_in_device(&toy, NULL), 6380, 30);
	for (p = 1; p < 8; p++)
		assert_near(toy.stream[p].done * 1000 / toy.stream[0].done, 1000, 20);
	toy_stop(&toy);
}

static void fixed_point_large_queue(void **state)
{
	static const uint32_t in_driver[] = {18300, 14600, 11000, 7300};
	static const uint32_t ratio[] = {251, 200, 150, 100};
	uint64_t values[WEIR_TUNABLES_MAX];
	uint32_t g;

	(void)state;
	util_defaults(&weir_policy_tpps, values);
	tune(values, "nr_requests", 1024);
	run_groups(values, 1, 512);
	assert_near(toy_mean_in_device(&toy, NULL), 51200, 150);
	for (g = 0; g < NR_GROUPS; g++)
		assert_near(toy_mean_in_device(&toy, &toy.stream[g]), in_driver[g], 100);
	expect_ratios(1, ratio);
	toy_stop(&toy);
}

static void mail_formula_one_process_is_equal(void **state)
{
	static const uint32_t ratio[] = {100, 100, 100, 100};
	uint64_t values[WEIR_TUNABLES_MAX];

	(void)state;
	util_defaults(&weir_policy_tpps, values);
	tune(values, "mail_formula", 1);
	run_groups(values, 1, 256);
	expect_ratios(1, ratio);
	assert_near(toy_mean_in_device(&toy, NULL), 12250, 100);
	toy_stop(&toy);
}

static void mail_formula_eight_processes_is_2211(void **state)
{
	static const uint32_t ratio[] = {199, 199, 100, 100};
	uint64_t values[WEIR_TUNABLES_MAX];

	(void)state;
	util_defaults(&weir_policy_tpps, values);
	tune(values, "mail_formula", 1);
	run_groups(values, 8, 256);
	expect_ratios(8, ratio);
	assert_near(toy_mean_in_device(&toy, NULL), 12350, 100);
	toy_stop(&toy);
}

/* ---- whose weight counts ---- */

/* Two equal groups; the second has issued one request and is silent. Its context is returned. */
static struct weir_ctx *run_beside_silent(const uint64_t *values)
{
	struct weir_group *a, *b;
	struct toy_stream *s;
	struct weir_ctx *ctx;

	toy_init(&toy);
	toy_start(&toy, &weir_policy_tpps, values);
	a = toy_group(&toy, weir_root(toy.w), 500);
	b = toy_group(&toy, weir_root(toy.w), 500);
	ctx = weir_ctx_create(toy.w, b, WEIR_IOPRIO_NONE, 0, toy.now);
	s = toy_stream(&toy, a, 256);
	toy_start_stream(&toy, s);
	s = toy_stream(&toy, b, 1);
	s->ctx = ctx;
	toy_start_stream(&toy, s);
	toy_stop_stream(&toy, s);
	toy_run(&toy, TOY_S / 5);
	toy_clear(&toy);
	toy_run(&toy, TOY_S);
	return ctx;
}

/* A part of the device is lost to it; until the process ends. */
static void silent_group_keeps_its_part(void **state)
{
	struct weir_ctx *ctx;

	(void)state;
	ctx = run_beside_silent(NULL);
	assert_near(toy_mean_in_device(&toy, NULL), 4300, 50);
	weir_ctx_exit(ctx, toy.now);
	toy_run(&toy, TOY_S / 5);
	toy_clear(&toy);
	toy_run(&toy, TOY_S);
	assert_near(toy_mean_in_device(&toy, NULL), 6400, 50);
	toy_stop(&toy);
}

static void moving_away_takes_the_weight_along(void **state)
{
	struct weir_ctx *ctx;

	(void)state;
	ctx = run_beside_silent(NULL);
	weir_ctx_move(ctx, weir_root(toy.w), toy.now);
	toy_run(&toy, TOY_S / 5);
	toy_clear(&toy);
	toy_run(&toy, TOY_S);
	/* It has no queue in the root until it asks for something there. */
	assert_near(toy_mean_in_device(&toy, NULL), 6400, 50);
	toy_stop(&toy);
}

static void active_weights_only(void **state)
{
	uint64_t values[WEIR_TUNABLES_MAX];

	(void)state;
	util_defaults(&weir_policy_tpps, values);
	tune(values, "active_weights_only", 1);
	run_beside_silent(values);
	assert_near(toy_mean_in_device(&toy, NULL), 6400, 50);
	toy_stop(&toy);
}

/* A group below another is its equal. */
static void the_tree_is_flat(void **state)
{
	struct weir_group *parent, *child;
	struct toy_stream *s[3];
	uint32_t n;

	(void)state;
	toy_init(&toy);
	toy_start(&toy, &weir_policy_tpps, NULL);
	parent = toy_group(&toy, weir_root(toy.w), 400);
	child = toy_group(&toy, parent, 400);
	s[0] = toy_stream(&toy, parent, 200);
	s[1] = toy_stream(&toy, child, 200);
	s[2] = toy_stream(&toy, toy_group(&toy, weir_root(toy.w), 400), 200);
	for (n = 0; n < 3; n++)
		toy_start_stream(&toy, s[n]);
	toy_run(&toy, TOY_S);
	for (n = 0; n < 3; n++)
		assert_near(toy_share_permille(&toy, s[n]), 333, 10);
	toy_stop(&toy);
}

/* A new weight is in force at once. */
static void weight_changes_under_load(void **state)
{
	struct weir_group_attr attr;
	struct weir_group *g;

	(void)state;
	run_groups(NULL, 1, 256);
	g = toy.stream[3].group;
	weir_group_get(g, &attr);
	attr.weight = 1000;
	assert_int_equal(weir_group_set(g, &attr, toy.now), 0);
	toy_run(&toy, TOY_S / 5);
	toy_clear(&toy);
	toy_run(&toy, 2 * TOY_S);
	assert_near(toy.stream[3].done * 100 / toy.stream[0].done, 100, 3);
	assert_near(toy.stream[0].done * 100 / toy.stream[2].done, 168, 6);
	assert_near(toy_mean_in_device(&toy, NULL), 6400, 50);
	toy_stop(&toy);
}

/* By requests, whatever their size; by process, whatever it has outstanding. */
static void processes_of_a_group_are_equal(void **state)
{
	struct weir_group *g;
	struct toy_stream *s[2];
	uint32_t n;

	(void)state;
	toy_init(&toy);
	toy_start(&toy, &weir_policy_tpps, NULL);
	g = toy_group(&toy, weir_root(toy.w), 500);
	s[0] = toy_stream(&toy, g, 400);
	s[1] = toy_stream(&toy, g, 80);
	s[1]->nr_sectors = 256;
	for (n = 0; n < 2; n++) {
		s[n]->ctx = weir_ctx_create(toy.w, g, WEIR_IOPRIO_NONE, 0, toy.now);
		toy_start_stream(&toy, s[n]);
	}
	toy_run(&toy, TOY_S);
	assert_near(toy_share_permille(&toy, s[1]), 500, 15);
	toy_stop(&toy);
}

/* ---- rounding ---- */

static uint64_t small_group_done(const uint64_t *values)
{
	struct toy_stream *big, *small;
	uint64_t done;

	toy_init(&toy);
	toy.cfg.nr_requests = 32;
	toy_start(&toy, &weir_policy_tpps, values);
	big = toy_stream(&toy, toy_group(&toy, weir_root(toy.w), 1000), 200);
	small = toy_stream(&toy, toy_group(&toy, weir_root(toy.w), 10), 200);
	toy_start_stream(&toy, big);
	toy_start_stream(&toy, small);
	toy_run(&toy, TOY_S);
	done = small->done;
	toy_stop(&toy);
	return done;
}

/* 32 * 10 / 1010 is 0: the original's defect. Carrying the remainder mends it. */
static void small_weight_starves_unless_carried(void **state)
{
	uint64_t values[WEIR_TUNABLES_MAX];

	(void)state;
	assert_int_equal(small_group_done(NULL), 0);
	util_defaults(&weir_policy_tpps, values);
	tune(values, "carry_remainder", 1);
	assert_true(small_group_done(values) > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_point_one_process),
		cmocka_unit_test(fixed_point_eight_processes),
		cmocka_unit_test(fixed_point_large_queue),
		cmocka_unit_test(mail_formula_one_process_is_equal),
		cmocka_unit_test(mail_formula_eight_processes_is_2211),
		cmocka_unit_test(silent_group_keeps_its_part),
		cmocka_unit_test(moving_away_takes_the_weight_along),
		cmocka_unit_test(active_weights_only),
		cmocka_unit_test(the_tree_is_flat),
		cmocka_unit_test(weight_changes_under_load),
		cmocka_unit_test(processes_of_a_group_are_equal),
		cmocka_unit_test(small_weight_starves_unless_carried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
