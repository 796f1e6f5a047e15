// SPDX-License-Identifier: GPL-2.0-only
/*
 * TPPS: the fixed point of its rule and of the mail's variant, in the closed loop that the figures
 * were computed with: 256 outstanding per group, a device without a limit, 0.5 .. 1.5 ms a request.
 */
#include "tests/toy_device.h"

#include "core/spi.h"

static struct util_host host;
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

/* Two equal groups; the second has issued one request and is silent. Returns the second's context.
 */
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

/* ---- single steps ---- */

static int setup(void **state)
{
	util_host_init(&host);
	*state = &host;
	return 0;
}

static void start(struct util_host *h, const char *tunable)
{
	uint64_t values[WEIR_TUNABLES_MAX];

	util_defaults(&weir_policy_tpps, values);
	if (tunable)
		tune(values, tunable, 1);
	util_host_start(h, &weir_policy_tpps, values);
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static void quota_below_eight_gives_nothing(void **state)
{
	struct util_host *h = *state;
	struct weir_next next;
	uint32_t n;

	h->cfg.nr_requests = 30;
	start(h, NULL);
	for (n = 0; n < 40; n++)
		util_insert(h, WEIR_OP_READ, n * 100, 8);
	/* One group: quota - in driver > 0 while D < 15. */
	for (n = 0; n < 15; n++)
		assert_int_equal(util_dispatch(h), n);
	assert_null(weir_dispatch(h->w, h->now, &next));
	assert_true(next.at_ns == WEIR_NEVER);
	assert_false(weir_may_dispatch(h->w, h->now));
	util_complete(h, 3);
	assert_true(weir_may_dispatch(h->w, h->now));
	assert_int_equal(util_dispatch(h), 15);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	/* With the mail's formula, D = 23 is where the quota is below 8. */
	assert_int_equal(
		weir_tunable_set(h->w,
				 (unsigned int)weir_tunable_find(&weir_policy_tpps, "mail_formula"),
				 1, h->now),
		0);
	for (n = 16; n < 24; n++)
		assert_int_equal(util_dispatch(h), n);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
}

/* A weight that leaves makes room at once, and the host is told that asking is worth while. */
static void exit_and_move_make_room(void **state)
{
	struct util_host *h = *state;
	struct weir_group *busy;
	struct weir_ctx *ctx[2];
	uint32_t n, rq;

	h->cfg.nr_requests = 30;
	start(h, NULL);
	busy = util_group(h, weir_root(h->w), 500);
	for (n = 0; n < 2; n++) {
		struct weir_group *g = util_group(h, weir_root(h->w), 500);

		ctx[n] = weir_ctx_create(h->w, g, WEIR_IOPRIO_NONE, 0, h->now);
		rq = util_insert_as(h, g, ctx[n], WEIR_OP_READ, 0, 8);
		util_expect(h, rq);
	}
	for (n = 0; n < 40; n++)
		util_insert_as(h, busy, NULL, WEIR_OP_READ, n * 100, 8);
	/* (30 - D) / 3 > D while D < 7; then (30 - D) / 2 > D while D < 10; then D < 15. */
	for (n = 0; util_dispatch(h) != UTIL_NONE; n++)
		;
	assert_int_equal(n, 7);
	assert_false(weir_may_dispatch(h->w, h->now));
	weir_ctx_exit(ctx[0], h->now);
	assert_true(weir_may_dispatch(h->w, h->now));
	for (; util_dispatch(h) != UTIL_NONE; n++)
		;
	assert_int_equal(n, 10);
	assert_false(weir_may_dispatch(h->w, h->now));
	weir_ctx_move(ctx[1], busy, h->now);
	assert_true(weir_may_dispatch(h->w, h->now));
	for (; util_dispatch(h) != UTIL_NONE; n++)
		;
	assert_int_equal(n, 15);
}

/* What the original would never start goes when nothing else is in the driver. */
static void one_always_goes(void **state)
{
	struct util_host *h = *state;
	struct weir_group *small;
	struct weir_ctx *ctx;
	uint32_t a, b, n;

	h->cfg.nr_requests = 20;
	start(h, NULL);
	small = util_group(h, weir_root(h->w), 10);
	for (n = 0; n < 3; n++) {
		struct weir_group *g = util_group(h, weir_root(h->w), 1000);

		ctx = weir_ctx_create(h->w, g, WEIR_IOPRIO_NONE, 0, h->now);
		a = util_insert_as(h, g, ctx, WEIR_OP_READ, 0, 8);
		util_expect(h, a);
	}
	a = util_insert_as(h, small, NULL, WEIR_OP_READ, 0, 8);
	b = util_insert_as(h, small, NULL, WEIR_OP_READ, 800, 8);
	assert_int_equal(util_dispatch(h), a);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	util_complete(h, a);
	util_expect(h, b);
}

static void weights_are_clamped_with_a_note(void **state)
{
	struct util_host *h = *state;
	struct weir_group_attr attr;
	struct weir_group *g;

	start(h, NULL);
	util_group(h, weir_root(h->w), 10);
	util_group(h, weir_root(h->w), 1000);
	assert_int_equal(h->nr_notes, 0);
	g = util_group(h, weir_root(h->w), 5);
	assert_int_equal(h->nr_notes, 1);
	assert_string_equal(h->last_note,
			    "tpps: weight 5 of group 3 is outside 10..1000, taken as 10");
	weir_group_get(g, &attr);
	attr.weight = 10000;
	assert_int_equal(weir_group_set(g, &attr, h->now), 0);
	assert_int_equal(h->nr_notes, 2);
	assert_string_equal(h->last_note,
			    "tpps: weight 10000 of group 3 is outside 10..1000, taken as 1000");
	/* What the operator set is kept for the next policy. */
	weir_group_get(g, &attr);
	assert_int_equal(attr.weight, 10000);
}

/* A pull takes one of each process, and the driver gets it in sector order. */
static void pull_is_one_each_and_sorted(void **state)
{
	struct util_host *h = *state;
	struct weir_ctx *ctx[3];
	uint32_t n, rq[6];

	start(h, NULL);
	for (n = 0; n < 3; n++)
		ctx[n] = weir_ctx_create(h->w, weir_root(h->w), WEIR_IOPRIO_NONE, 0, h->now);
	for (n = 0; n < 6; n++)
		rq[n] = util_insert_as(h, weir_root(h->w), ctx[n % 3], WEIR_OP_READ, (6 - n) * 1000,
				       8);
	util_expect(h, rq[2]);
	util_expect(h, rq[1]);
	util_expect(h, rq[0]);
	util_expect(h, rq[5]);
	util_expect(h, rq[4]);
	util_expect(h, rq[3]);
}

/* The sorting doesn't pass a request of another direction, nor a flush or one put at the head. */
static void sorting_stops_at_fences(void **state)
{
	struct util_host *h = *state;
	struct weir_ctx *ctx[4];
	struct weir_rq *head;
	uint32_t n, rq[4], flush;
	static const enum weir_op ops[] = {WEIR_OP_READ, WEIR_OP_READ, WEIR_OP_WRITE, WEIR_OP_READ};

	start(h, NULL);
	for (n = 0; n < 4; n++) {
		ctx[n] = weir_ctx_create(h->w, weir_root(h->w), WEIR_IOPRIO_NONE, 0, h->now);
		rq[n] = util_insert_as(h, weir_root(h->w), ctx[n], ops[n], (4 - n) * 1000, 8);
	}
	flush = util_insert(h, WEIR_OP_FLUSH, 0, 0);
	head = util_bio(h, WEIR_OP_WRITE, 90000, 8);
	weir_insert(h->w, head, WEIR_HEAD, h->now);
	assert_ptr_equal(weir_dispatch(h->w, h->now, NULL), head);
	util_expect(h, flush);
	util_expect(h, rq[1]);
	util_expect(h, rq[0]);
	util_expect(h, rq[2]);
	util_expect(h, rq[3]);
	weir_complete(h->w, head, h->now);
}

static void front_merged_goes_to_the_end(void **state)
{
	struct util_host *h = *state;
	enum weir_merge kind;
	uint32_t a, b;

	start(h, NULL);
	b = util_insert(h, WEIR_OP_READ, 5000, 8);
	a = util_insert(h, WEIR_OP_READ, 1000, 8);
	/* A back merge leaves the place, and gives the hint to b. */
	assert_int_equal(util_merge(h, WEIR_OP_READ, 5008, 8, &kind), b);
	assert_int_equal(kind, WEIR_MERGE_BACK);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 4992, 8, &kind), b);
	assert_int_equal(kind, WEIR_MERGE_FRONT);
	util_expect(h, a);
	util_expect(h, b);
}

static void one_queue_for_sync_and_async(void **state)
{
	struct util_host *h = *state;
	uint32_t a, b, c;

	start(h, NULL);
	a = util_insert(h, WEIR_OP_WRITE, 100, 8);
	b = util_insert(h, WEIR_OP_READ, 200, 8);
	c = util_insert(h, WEIR_OP_WRITE, 300, 8);
	util_expect(h, a);
	util_expect(h, b);
	util_expect(h, c);
}

static void sync_first(void **state)
{
	struct util_host *h = *state;
	uint32_t a, b, c;

	start(h, "sync_first");
	a = util_insert(h, WEIR_OP_WRITE, 100, 8);
	b = util_insert(h, WEIR_OP_WRITE, 200, 8);
	c = util_insert(h, WEIR_OP_READ, 300, 8);
	util_expect(h, c);
	util_expect(h, a);
	util_expect(h, b);
}

/* The order in which three groups with one process each are served by pull after pull. */
static void expect_orders(struct util_host *h, const uint32_t order[3][3])
{
	struct weir_group *g[3];
	uint32_t n, pull;

	for (n = 0; n < 3; n++)
		g[n] = util_group(h, weir_root(h->w), 500);
	for (n = 0; n < 9; n++)
		util_insert_as(h, g[n % 3], NULL, WEIR_OP_READ, 5000, 8);
	for (pull = 0; pull < 3; pull++)
		for (n = 0; n < 3; n++)
			util_expect(h, order[pull][n] + 3 * pull);
}

static void groups_in_order_of_appearance(void **state)
{
	static const uint32_t order[3][3] = {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}};

	start(*state, NULL);
	expect_orders(*state, order);
}

static void rotate_groups(void **state)
{
	static const uint32_t order[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};

	start(*state, "rotate_groups");
	expect_orders(*state, order);
}

/* Queued requests of a process that moves stay in their group, and each of its queues is right. */
static void moving_with_requests_queued(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a, *b;
	struct weir_ctx *ctx;
	uint32_t n, rq[6];

	start(h, NULL);
	a = util_group(h, weir_root(h->w), 500);
	b = util_group(h, weir_root(h->w), 500);
	ctx = weir_ctx_create(h->w, a, WEIR_IOPRIO_NONE, 0, h->now);
	rq[0] = util_insert_as(h, a, ctx, WEIR_OP_READ, 100, 8);
	rq[1] = util_insert_as(h, a, ctx, WEIR_OP_READ, 200, 8);
	weir_ctx_move(ctx, b, h->now);
	rq[2] = util_insert_as(h, b, ctx, WEIR_OP_READ, 300, 8);
	rq[3] = util_insert_as(h, b, ctx, WEIR_OP_READ, 400, 8);
	weir_ctx_move(ctx, a, h->now);
	rq[4] = util_insert_as(h, a, ctx, WEIR_OP_READ, 500, 8);
	rq[5] = util_insert_as(h, a, ctx, WEIR_OP_READ, 600, 8);
	weir_ctx_exit(ctx, h->now);
	assert_int_equal(weir_remove(h->w, &h->rq[rq[0]], h->now), 0);
	assert_int_equal(weir_remove(h->w, &h->rq[rq[4]], h->now), 0);
	/* One pull: of a the leftover and the context's queue, of b the leftover. */
	util_expect(h, rq[1]);
	util_expect(h, rq[2]);
	util_expect(h, rq[5]);
	util_expect(h, rq[3]);
	for (n = 0; n < 6; n++)
		assert_int_equal(h->rq[rq[n]].state, WEIR_RQ_NEW);
	assert_int_equal(weir_group_remove(a, h->now), 0);
	assert_int_equal(weir_group_remove(b, h->now), 0);
}

/* Time with the driver full is the share's, but for the group that goes next. */
static void waits_have_their_cause(void **state)
{
	struct util_host *h = *state;
	struct weir_group_stats stats;
	struct weir_group *a, *b;
	uint32_t n;

	h->cfg.nr_requests = 16;
	start(h, NULL);
	a = util_group(h, weir_root(h->w), 500);
	b = util_group(h, weir_root(h->w), 500);
	for (n = 0; n < 20; n++)
		util_insert_as(h, n % 2 ? b : a, NULL, WEIR_OP_READ, n * 100, 8);
	while (util_dispatch(h) != UTIL_NONE)
		;
	h->now += 1000;
	weir_group_read_stats(a, h->now, &stats);
	assert_int_equal(stats.backlogged_ns, 1000);
	assert_int_equal(stats.wait_ns[WEIR_WAIT_DEVICE], 1000);
	weir_group_read_stats(b, h->now, &stats);
	assert_int_equal(stats.backlogged_ns, 1000);
	assert_int_equal(stats.wait_ns[WEIR_WAIT_SHARE], 1000);
}

#define STEP(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

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
		STEP(quota_below_eight_gives_nothing),
		STEP(exit_and_move_make_room),
		STEP(one_always_goes),
		STEP(weights_are_clamped_with_a_note),
		STEP(pull_is_one_each_and_sorted),
		STEP(sorting_stops_at_fences),
		STEP(front_merged_goes_to_the_end),
		STEP(one_queue_for_sync_and_async),
		STEP(sync_first),
		STEP(groups_in_order_of_appearance),
		STEP(rotate_groups),
		STEP(moving_with_requests_queued),
		STEP(waits_have_their_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
