// SPDX-License-Identifier: GPL-2.0-only
/*
 * core/judge.c: floors and latency targets over windows of 100 ms, what is missing split between
 * device and demand, and what a change of the attributes does to a window that is open.
 */
#include "tests/util_host.h"

#include "core/core.h"

#define MS UINT64_C(1000000)

static struct util_host host;

static int setup(void **state)
{
	util_host_init(&host);
	util_host_start(&host, &weir_policy_noop, NULL);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

struct goal {
	uint64_t rbps, wbps, riops, wiops, latency_ns;
};

static void set_goal(struct util_host *h, struct weir_group *g, struct goal goal)
{
	struct weir_group_attr attr;

	weir_group_get(g, &attr);
	attr.low = (struct weir_rates){.bps = {goal.rbps, goal.wbps},
				       .iops = {goal.riops, goal.wiops}};
	attr.latency_target_ns = goal.latency_ns;
	assert_int_equal(weir_group_set(g, &attr, h->now), 0);
}

static struct weir_group *group(struct util_host *h, struct weir_group *parent, struct goal goal)
{
	struct weir_group *g = util_group(h, parent, 100);

	set_goal(h, g, goal);
	return g;
}

/* One request that completes wait_ns after it came. */
static void serve(struct util_host *h, struct weir_group *g, enum weir_op op, uint32_t nr_sectors,
		  uint64_t wait_ns, uint64_t service_ns)
{
	uint32_t a = util_insert_as(h, g, NULL, op, 0, nr_sectors);

	h->now += wait_ns;
	assert_int_equal(util_dispatch(h), a);
	h->now += service_ns;
	util_complete(h, a);
}

static struct weir_group_stats stats(struct util_host *h, struct weir_group *g)
{
	struct weir_group_stats s;

	weir_group_read_stats(g, h->now, &s);
	return s;
}

static void floor_met(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = group(h, weir_root(h->w),
				     (struct goal){.rbps = 10000000, .riops = 100});
	struct weir_group_stats s;
	unsigned int n;

	/* 100 KiB every 10 ms: 10.24 MB/s, 100/s. Looking at it changes nothing. */
	for (n = 0; n < 100; n++) {
		serve(h, g, WEIR_OP_READ, 200, 5 * MS, 5 * MS);
		s = stats(h, g);
	}
	assert_int_equal(s.floor_deficit_device_bytes, 0);
	assert_int_equal(s.floor_deficit_device_ios, 0);
	assert_int_equal(s.floor_deficit_demand_bytes, 0);
	assert_int_equal(s.floor_deficit_demand_ios, 0);
	assert_int_equal(s.floor_backlogged_ns, 500 * MS);
}

/* Nothing at all for 300 ms, backlogged for a third of it: a third is the device's fault. */
static void deficit_is_split(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = group(h, weir_root(h->w),
				     (struct goal){.rbps = 9000000, .wiops = 90});
	struct weir_group_stats s;
	uint32_t a;

	h->now += 50 * MS;
	a = util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8);
	h->now += 100 * MS;
	assert_int_equal(util_dispatch(h), a);
	h->now += 150 * MS;
	s = stats(h, g);
	assert_int_equal(s.floor_backlogged_ns, 100 * MS);
	assert_int_equal(s.floor_deficit_device_bytes, 900000);
	assert_int_equal(s.floor_deficit_demand_bytes, 1800000);
	/* No write was asked for: all of that is demand. */
	assert_int_equal(s.floor_deficit_device_ios, 0);
	assert_int_equal(s.floor_deficit_demand_ios, 27);
	/* A completion that ends a window belongs to it. */
	h->now += 150 * MS;
	util_complete(h, a);
	s = stats(h, g);
	assert_int_equal(s.floor_deficit_demand_bytes, 1800000 + 1350000 - 4096);
}

/* Writes wait all the time, but there is a read for a third of it only: the rest is demand. */
static void deficit_by_direction(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = group(h, weir_root(h->w), (struct goal){.rbps = 9000000});
	struct weir_group_stats s;
	uint32_t a, b;

	b = util_insert_as(h, g, NULL, WEIR_OP_WRITE, 0, 8);
	h->now += 200 * MS;
	a = util_insert_as(h, g, NULL, WEIR_OP_READ, 1000, 8);
	h->now += 50 * MS;
	assert_int_equal(weir_remove(h->w, &h->rq[a], h->now), 0);
	a = util_insert_as(h, g, NULL, WEIR_OP_READ, 1000, 8);
	h->now += 50 * MS;
	s = stats(h, g);
	assert_int_equal(s.floor_backlogged_ns, 300 * MS);
	assert_int_equal(s.floor_deficit_device_bytes, 900000);
	assert_int_equal(s.floor_deficit_demand_bytes, 1800000);
	assert_int_equal(util_dispatch(h), b);
	assert_int_equal(util_dispatch(h), a);
	util_complete(h, a);
	util_complete(h, b);
}

/* With accounting off nobody counts backlogged time; what is active stands for it. */
static void deficit_without_accounting(void **state)
{
	struct util_host *h = *state;
	struct weir_group_stats s;
	struct weir_group *g;
	uint32_t a;

	util_host_stop(h);
	util_host_init(h);
	h->cfg.accounting = false;
	util_host_start(h, &weir_policy_noop, NULL);
	g = group(h, weir_root(h->w), (struct goal){.rbps = 9000000});
	h->now += 50 * MS;
	a = util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8);
	h->now += 250 * MS;
	s = stats(h, g);
	assert_int_equal(s.floor_deficit_device_bytes, 2250000);
	assert_int_equal(s.floor_deficit_demand_bytes, 450000);
	assert_int_equal(util_dispatch(h), a);
	util_complete(h, a);
}

/* A window ends with the first completion from 100 ms on; by reading, from 200 ms on. */
static void windows(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = group(h, weir_root(h->w), (struct goal){.riops = 1000});

	serve(h, g, WEIR_OP_READ, 8, 0, 100 * MS - 1);
	assert_int_equal(stats(h, g).floor_deficit_demand_ios, 0);
	serve(h, g, WEIR_OP_READ, 8, 0, 1);
	assert_int_equal(stats(h, g).floor_deficit_demand_ios, 98);
	/* Late: judged over its real length. */
	serve(h, g, WEIR_OP_READ, 8, 0, 150 * MS);
	assert_int_equal(stats(h, g).floor_deficit_demand_ios, 98 + 149);
	h->now += 200 * MS - 1;
	assert_int_equal(stats(h, g).floor_deficit_demand_ios, 98 + 149);
	h->now += 1;
	assert_int_equal(stats(h, g).floor_deficit_demand_ios, 98 + 149 + 200);
	h->now += 199 * MS;
	assert_int_equal(stats(h, g).floor_deficit_demand_ios, 98 + 149 + 200);
}

/* What was joined counts as what it was: requests, and their bytes. */
static void merged_requests_count(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = group(h, weir_root(h->w),
				     (struct goal){.riops = 100, .rbps = 1000000});
	struct weir_group_stats s;
	struct weir_rq *into, *bio;
	uint32_t a, n;

	a = util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8);
	for (n = 1; n < 6; n++) {
		bio = util_bio(h, WEIR_OP_READ, 8 * n, 8);
		bio->group = g;
		assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_BACK);
		weir_merge_bio(h->w, into, bio, WEIR_MERGE_BACK, h->now);
	}
	assert_int_equal(util_dispatch(h), a);
	h->now += 100 * MS;
	util_complete(h, a);
	s = stats(h, g);
	assert_int_equal(s.floor_deficit_demand_ios, 4);
	assert_int_equal(s.floor_deficit_demand_bytes, 100000 - 6 * 4096);
}

/* Each node is judged by its subtree, in each direction; others are not judged. */
static void tree_and_directions(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w);
	struct weir_group *p = group(h, root, (struct goal){.riops = 100, .wiops = 50});
	struct weir_group *c = group(h, p, (struct goal){.riops = 60});
	struct weir_group *other = util_group(h, root, 100);
	unsigned int n;

	for (n = 0; n < 4; n++)
		serve(h, c, WEIR_OP_READ, 8, 0, 0);
	for (n = 0; n < 3; n++)
		serve(h, p, WEIR_OP_READ, 8, 0, 0);
	for (n = 0; n < 100; n++)
		serve(h, other, WEIR_OP_READ, 8, 0, 0);
	serve(h, c, WEIR_OP_WRITE, 8, 0, 0);
	h->now += 200 * MS;
	assert_int_equal(stats(h, p).floor_deficit_demand_ios, 20 - 7 + 10 - 1);
	assert_int_equal(stats(h, c).floor_deficit_demand_ios, 12 - 4);
	assert_int_equal(stats(h, other).floor_deficit_demand_ios, 0);
	assert_int_equal(stats(h, other).floor_backlogged_ns, 0);
	assert_int_equal(stats(h, root).floor_deficit_demand_ios, 0);
}

/* More than a tenth of a window's completions took longer than the target. */
static void latency(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = group(h, weir_root(h->w), (struct goal){.latency_ns = 1 * MS});
	struct weir_group_stats s;
	unsigned int n;

	/* 18 within, to the nanosecond, two just over: exactly a tenth is not too many. */
	for (n = 0; n < 18; n++)
		serve(h, g, WEIR_OP_READ, 8, 400000, 600000);
	for (n = 0; n < 2; n++)
		serve(h, g, WEIR_OP_READ, 8, 400001, 600000);
	h->now += 200 * MS;
	s = stats(h, g);
	assert_int_equal(s.latency_periods, 1);
	assert_int_equal(s.latency_missed, 0);
	for (n = 0; n < 17; n++)
		serve(h, g, WEIR_OP_WRITE, 8, 0, 1 * MS);
	for (n = 0; n < 2; n++)
		serve(h, g, WEIR_OP_READ, 8, 1 * MS, 1);
	h->now += 200 * MS;
	s = stats(h, g);
	assert_int_equal(s.latency_periods, 2);
	assert_int_equal(s.latency_missed, 1);
	/* A period without samples is none. */
	h->now += 300 * MS;
	s = stats(h, g);
	assert_int_equal(s.latency_periods, 2);
	assert_int_equal(s.latency_blocker, -1);
	weir_judge_blocker(g, 7);
	assert_int_equal(stats(h, g).latency_blocker, 7);
}

/* Latency counts from the insertion, over a requeue, and for the whole subtree. */
static void latency_over_requeue(void **state)
{
	struct util_host *h = *state;
	struct weir_group *p = group(h, weir_root(h->w), (struct goal){.latency_ns = 1 * MS});
	struct weir_group *c = util_group(h, p, 100);
	uint32_t a = util_insert_as(h, c, NULL, WEIR_OP_READ, 0, 8);

	assert_int_equal(util_dispatch(h), a);
	h->now += 900000;
	weir_requeue(h->w, &h->rq[a], WEIR_REQUEUE_INSERT, h->now);
	assert_int_equal(util_dispatch(h), a);
	h->now += 200000;
	util_complete(h, a);
	h->now += 200 * MS;
	assert_int_equal(stats(h, p).latency_missed, 1);
	assert_int_equal(stats(h, c).latency_periods, 0);
}

/* Until the change the old floor counts, from then on the new one; neither for the other's time. */
static void changes(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = group(h, weir_root(h->w), (struct goal){.riops = 1000});

	h->now += 40 * MS;
	set_goal(h, g, (struct goal){.riops = 100});
	assert_int_equal(stats(h, g).floor_deficit_demand_ios, 40);
	h->now += 50 * MS;
	set_goal(h, g, (struct goal){.riops = 0});
	assert_int_equal(stats(h, g).floor_deficit_demand_ios, 45);
	assert_int_equal(h->w->nr_judged, 0);
	h->now += 500 * MS;
	assert_int_equal(stats(h, g).floor_deficit_demand_ios, 45);
	set_goal(h, g, (struct goal){.riops = 10});
	assert_int_equal(h->w->nr_judged, 1);
	h->now += 200 * MS;
	assert_int_equal(stats(h, g).floor_deficit_demand_ios, 47);
	/* A change of something else leaves the window alone. */
	h->now += 160 * MS;
	assert_int_equal(weir_group_set(g, &g->attr, h->now), 0);
	assert_int_equal(stats(h, g).floor_deficit_demand_ios, 47);
	h->now += 40 * MS;
	assert_int_equal(stats(h, g).floor_deficit_demand_ios, 49);
	assert_int_equal(weir_group_remove(g, h->now), 0);
	assert_int_equal(h->w->nr_judged, 0);
}

static void reset(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = group(h, weir_root(h->w),
				     (struct goal){.riops = 1000, .latency_ns = 1});
	struct weir_group_stats s;

	serve(h, g, WEIR_OP_READ, 8, 0, 100 * MS);
	s = stats(h, g);
	assert_int_equal(s.floor_deficit_demand_ios, 99);
	assert_int_equal(s.latency_missed, 1);
	h->now += 50 * MS;
	weir_stats_reset(h->w, h->now);
	s = stats(h, g);
	assert_int_equal(s.floor_deficit_demand_ios, 0);
	assert_int_equal(s.latency_periods, 0);
	assert_int_equal(s.latency_missed, 0);
	h->now += 200 * MS;
	assert_int_equal(stats(h, g).floor_deficit_demand_ios, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(floor_met, setup, teardown),
		cmocka_unit_test_setup_teardown(deficit_is_split, setup, teardown),
		cmocka_unit_test_setup_teardown(deficit_by_direction, setup, teardown),
		cmocka_unit_test_setup_teardown(deficit_without_accounting, setup, teardown),
		cmocka_unit_test_setup_teardown(windows, setup, teardown),
		cmocka_unit_test_setup_teardown(merged_requests_count, setup, teardown),
		cmocka_unit_test_setup_teardown(tree_and_directions, setup, teardown),
		cmocka_unit_test_setup_teardown(latency, setup, teardown),
		cmocka_unit_test_setup_teardown(latency_over_requeue, setup, teardown),
		cmocka_unit_test_setup_teardown(changes, setup, teardown),
		cmocka_unit_test_setup_teardown(reset, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
