// SPDX-License-Identifier: GPL-2.0-only
/*
 * core/wait.c: every backlogged nanosecond belongs to one of seven causes. Scripted scenes in which
 * each cause is worth an exact time, with a policy that stalls as it is told.
 */
#include "tests/stall_policy.h"

static struct util_host host;

/* ---- fixture ---- */

static int setup(void **state)
{
	util_host_init(&host);
	util_host_start(&host, &stall_policy, NULL);
	stall_obey(WEIR_STALL_NONE, NULL);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	stall_obey(WEIR_STALL_NONE, NULL);
	util_host_stop(*state);
	return 0;
}

static uint32_t insert(struct util_host *h, struct weir_group *g)
{
	return util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8);
}

static struct weir_group *limited(struct util_host *h, struct weir_group *parent, uint64_t iops)
{
	struct weir_group_attr attr;
	struct weir_group *g;

	weir_group_attr_init(&attr);
	attr.max.iops[WEIR_READ] = iops;
	g = weir_group_create(h->w, parent, &attr, h->now, NULL);
	assert_non_null(g);
	return g;
}

/* All seven, in the order of the enum. */
static void expect_waits_at(struct util_host *h, struct weir_group *g,
			    const uint64_t want[WEIR_NR_WAITS], int line)
{
	struct weir_group_stats s;
	uint64_t sum_ns = 0;
	unsigned int i;

	weir_group_read_stats(g, h->now, &s);
	for (i = 0; i < WEIR_NR_WAITS; i++) {
		if (s.wait_ns[i] != want[i])
			fail_msg("line %d: group %u, %s: %llu ns, expected %llu", line, g->id,
				 weir_wait_cause_name((enum weir_wait_cause)i),
				 (unsigned long long)s.wait_ns[i], (unsigned long long)want[i]);
		sum_ns += want[i];
	}
	assert_int_equal(s.backlogged_ns, sum_ns);
}

/* ceiling, latency, floor, idle, device, share, host */
#define expect_waits(h, g, ...) \
	expect_waits_at(h, g, (const uint64_t[WEIR_NR_WAITS]){__VA_ARGS__}, __LINE__)

static void set_depth(struct util_host *h, uint32_t depth)
{
	h->cfg.device_depth = depth;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
}

/* ---- one cause each ---- */

static void host_had_not_asked(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g = util_group(h, root, 100);
	uint32_t a = insert(h, g), b;

	h->now += 700;
	expect_waits(h, g, 0, 0, 0, 0, 0, 0, 700); /* while it lasts */
	util_expect(h, a);
	h->now += 1000; /* nothing waits */
	b = insert(h, g);
	h->now += 30;
	expect_waits(h, g, 0, 0, 0, 0, 0, 0, 730);
	expect_waits(h, root, 0, 0, 0, 0, 0, 0, 730);
	assert_int_equal(weir_remove(h->w, &h->rq[b], h->now), 0);
	h->now += 50;
	expect_waits(h, g, 0, 0, 0, 0, 0, 0, 730);
}

static void own_ceiling(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g = limited(h, root, 10);
	uint64_t start = h->now;

	util_expect(h, insert(h, g));
	h->now = start + 1000;
	insert(h, g);
	h->now = start + 50000000;
	util_expect(h, UTIL_NONE);
	insert(h, root); /* the root is no longer held as a whole */
	h->now = start + 60000000;
	util_expect(h, 2);
	h->now = start + 100000000;
	util_expect(h, 1);
	expect_waits(h, g, 99999000, 0, 0, 0, 0, 0, 0);
	expect_waits(h, root, 49999000 + 40000000, 0, 0, 0, 0, 0, 10000000);
}

static void ancestors_ceiling(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *p = limited(h, root, 10);
	struct weir_group *a = util_group(h, p, 100), *b = util_group(h, p, 100);
	uint64_t start = h->now;

	util_expect(h, insert(h, a));
	insert(h, a);
	insert(h, b);
	util_expect(h, UTIL_NONE);
	h->now = start + 100000000;
	util_expect(h, 1);
	util_expect(h, UTIL_NONE);
	h->now = start + 200000000;
	util_expect(h, 2);
	expect_waits(h, a, 100000000, 0, 0, 0, 0, 0, 0);
	expect_waits(h, b, 200000000, 0, 0, 0, 0, 0, 0);
	expect_waits(h, p, 200000000, 0, 0, 0, 0, 0, 0);
}

/* The ceiling lets go at 100 ms; that the host asks 30 ms later is not the ceiling's doing. */
static void late_host(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *p = limited(h, root, 10);
	struct weir_group *g = util_group(h, p, 100);
	uint64_t start = h->now;

	util_expect(h, insert(h, g));
	insert(h, g);
	util_expect(h, UTIL_NONE);
	h->now = start + 130000000;
	util_expect(h, 1);
	expect_waits(h, g, 100000000, 0, 0, 0, 0, 0, 30000000);
	expect_waits(h, p, 100000000, 0, 0, 0, 0, 0, 30000000);
	/* A ceiling that is lifted holds until then. */
	util_expect(h, UTIL_NONE);
	insert(h, g);
	insert(h, g);
	h->now = start + 140000000;
	util_expect(h, UTIL_NONE);
	h->now = start + 145000000;
	assert_int_equal(weir_group_set(p, &root->attr, h->now), 0);
	h->now = start + 146000000;
	util_expect(h, 2);
	util_expect(h, 3);
	expect_waits(h, g, 115000000, 0, 0, 0, 0, 0, 31000000);
}

/* What another cause begins while a ceiling holds is the ceiling's: the first that matches. */
static void ceiling_comes_first(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g = limited(h, root, 10);
	struct weir_group *other = util_group(h, root, 100);
	uint64_t start = h->now;

	util_expect(h, insert(h, g));
	insert(h, g);
	insert(h, other);
	stall_obey(WEIR_STALL_IDLE, NULL);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	h->now = start + 100000000;
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	h->now = start + 150000000;
	expect_waits(h, g, 100000000, 0, 0, 50000000, 0, 0, 0);
	expect_waits(h, other, 0, 0, 0, 150000000, 0, 0, 0);
}

static void latency_floor_and_idle(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w);
	struct weir_group *a = util_group(h, root, 100), *b = util_group(h, root, 100);

	insert(h, a);
	insert(h, b);
	stall_obey(WEIR_STALL_LATENCY, a); /* for all, the next included */
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	h->now += 10;
	stall_obey(WEIR_STALL_FLOOR, b); /* a waits for b's floor; b for the device */
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	h->now += 200;
	stall_obey(WEIR_STALL_IDLE, NULL);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	h->now += 3000;
	stall_obey(WEIR_STALL_DEPTH, a);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	h->now += 40000;
	stall_obey(WEIR_STALL_DEPTH, NULL); /* whose turn it would be is not known */
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	h->now += 500000;
	expect_waits(h, a, 0, 10, 200, 3000, 40000, 500000, 0);
	expect_waits(h, b, 0, 10, 0, 3000, 200, 540000, 0);
	expect_waits(h, root, 0, 10, 0, 3000, 40200, 500000, 0);
}

/* A device kept idle stays so over a completion and an insertion, until the host has asked. */
static void idle_lasts_until_asked(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w);
	uint32_t a = insert(h, root);

	assert_int_equal(util_dispatch(h), a);
	insert(h, root);
	stall_obey(WEIR_STALL_IDLE, NULL);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	h->now += 5;
	util_complete(h, a);
	h->now += 6;
	insert(h, root);
	h->now += 7;
	stall_obey(WEIR_STALL_NONE, NULL);
	util_expect(h, 1);
	h->now += 8;
	util_expect(h, 2);
	expect_waits(h, root, 0, 0, 0, 18, 0, 0, 8);
}

/* ---- device or share ---- */

/* The example of wait.h. */
static void worked_example(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = util_group(h, weir_root(h->w), 100);
	struct weir_group *b = util_group(h, weir_root(h->w), 100);
	uint32_t first;

	set_depth(h, 1);
	first = insert(h, weir_root(h->w));
	assert_int_equal(util_dispatch(h), first);
	h->now += 100;
	insert(h, a);
	insert(h, b);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	h->now += 300;
	util_complete(h, first);
	assert_int_equal(util_dispatch(h), first + 1);
	expect_waits(h, a, 0, 0, 0, 0, 300, 0, 0);
	expect_waits(h, b, 0, 0, 0, 0, 0, 300, 0);
	/* Now b is next, without being asked for: a full device says so. */
	h->now += 50;
	expect_waits(h, b, 0, 0, 0, 0, 50, 300, 0);
}

/* In a tree: the whole path of the next is next, its siblings on every level are not. */
static void next_is_a_path(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *p = util_group(h, root, 100);
	struct weir_group *a = util_group(h, p, 100), *b = util_group(h, p, 100);
	struct weir_group *q = util_group(h, root, 100);
	uint32_t first = insert(h, root);

	set_depth(h, 1);
	assert_int_equal(util_dispatch(h), first);
	insert(h, a);
	insert(h, b);
	insert(h, q);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	h->now += 1000; /* a */
	assert_int_equal(weir_remove(h->w, &h->rq[first + 1], h->now), 0);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	h->now += 200; /* b: p goes on being next */
	assert_int_equal(weir_remove(h->w, &h->rq[first + 2], h->now), 0);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	h->now += 30; /* q */
	expect_waits(h, a, 0, 0, 0, 0, 1000, 0, 0);
	expect_waits(h, b, 0, 0, 0, 0, 200, 1000, 0);
	expect_waits(h, p, 0, 0, 0, 0, 1200, 0, 0);
	expect_waits(h, q, 0, 0, 0, 0, 30, 1200, 0);
	expect_waits(h, root, 0, 0, 0, 0, 1230, 0, 0);
	/* The group that is next is removed with its request in the device: nobody is next. */
	util_complete(h, first);
	assert_int_equal(util_dispatch(h), first + 3);
	assert_int_equal(weir_group_remove(q, h->now), 0);
	insert(h, a);
	h->now += 4;
	util_complete(h, first + 3);
	expect_waits(h, a, 0, 0, 0, 0, 1000, 4, 0);
}

static void reset_in_the_middle(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = util_group(h, weir_root(h->w), 100);
	struct weir_group *b = util_group(h, weir_root(h->w), 100);
	struct weir_group *c = limited(h, weir_root(h->w), 10);

	util_expect(h, insert(h, c));
	insert(h, c);
	insert(h, a);
	insert(h, b);
	stall_obey(WEIR_STALL_DEPTH, a);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	h->now += 100;
	weir_stats_reset(h->w, h->now);
	expect_waits(h, a, 0, 0, 0, 0, 0, 0, 0);
	h->now += 20;
	expect_waits(h, a, 0, 0, 0, 0, 20, 0, 0);
	expect_waits(h, b, 0, 0, 0, 0, 0, 20, 0);
	expect_waits(h, c, 20, 0, 0, 0, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(host_had_not_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(own_ceiling, setup, teardown),
		cmocka_unit_test_setup_teardown(ancestors_ceiling, setup, teardown),
		cmocka_unit_test_setup_teardown(late_host, setup, teardown),
		cmocka_unit_test_setup_teardown(ceiling_comes_first, setup, teardown),
		cmocka_unit_test_setup_teardown(latency_floor_and_idle, setup, teardown),
		cmocka_unit_test_setup_teardown(idle_lasts_until_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(worked_example, setup, teardown),
		cmocka_unit_test_setup_teardown(next_is_a_path, setup, teardown),
		cmocka_unit_test_setup_teardown(reset_in_the_middle, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
