// SPDX-License-Identifier: GPL-2.0-only
/* TPPS step by step: quotas, the order of a pull, weights, queues that move. */
#include "tests/util_host.h"

#include "core/spi.h"

static struct util_host host;

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
		util_tune(&weir_policy_tpps, values, tunable, 1);
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
