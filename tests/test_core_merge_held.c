// SPDX-License-Identifier: GPL-2.0-only
/*
 * core/merge.c with ceilings: what joins a held request is charged when that goes, what joins one
 * that has passed is charged at once, and in the end each original request once. Held requests grow
 * to no more than passes in 4 ms.
 */
#include "tests/util_host.h"

#include "core/core.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)

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

static enum weir_merge find(struct util_host *h, const struct weir_rq *bio, struct weir_rq **into)
{
	enum weir_merge kind = weir_merge_find(h->w, bio, into, h->now);

	assert_true((kind == WEIR_MERGE_NONE) == (*into == NULL));
	return kind;
}

static struct weir_dir_stats stats(struct util_host *h, struct weir_group *g, enum weir_dir dir)
{
	struct weir_group_stats s;

	weir_group_read_stats(g, h->now, &s);
	return s.dir[dir];
}

static struct weir_group *limited(struct util_host *h, uint64_t bps, uint64_t iops)
{
	struct weir_group_attr attr;
	struct weir_group *g;

	weir_group_attr_init(&attr);
	attr.max.bps[WEIR_READ] = bps;
	attr.max.iops[WEIR_READ] = iops;
	g = weir_group_create(h->w, weir_root(h->w), &attr, h->now, NULL);
	assert_non_null(g);
	return g;
}

static struct weir_rq *merge_as(struct util_host *h, struct weir_group *g, uint64_t sector)
{
	struct weir_rq *bio = util_bio(h, WEIR_OP_READ, sector, 8), *into, *then;
	enum weir_merge kind;

	bio->group = g;
	kind = find(h, bio, &into);
	if (kind == WEIR_MERGE_NONE)
		return NULL;
	then = weir_merge_bio(h->w, into, bio, kind, h->now);
	assert_null(then);
	return into;
}

/* Passes the ceiling until one is held, and returns that one. */
static uint32_t hold_one(struct util_host *h, struct weir_group *g, uint64_t sector)
{
	uint32_t n, i;

	for (n = 0;; n++) {
		i = util_insert_as(h, g, NULL, WEIR_OP_READ, sector, 8);
		if (h->rq[i].state == WEIR_RQ_HELD)
			return i;
		util_expect(h, i);
		assert_true(n < 100);
	}
}

/* Into a held request: it is charged for all when it goes, in requests and in bytes. */
static void into_held(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = limited(h, WEIR_UNLIMITED, 1250);
	uint64_t free_ns, start = h->now;
	struct weir_next next;
	uint32_t held, last, n;

	held = hold_one(h, g, 1000);
	assert_null(weir_dispatch(h->w, h->now, &next));
	free_ns = next.at_ns;
	assert_in_range(free_ns, start, start + MS);
	for (n = 0; n < 4; n++)
		assert_ptr_equal(merge_as(h, g, 1008 + 8 * n), &h->rq[held]);
	/* More than passes in 4 ms would be a burst. */
	assert_null(merge_as(h, g, 1040));
	assert_int_equal(h->rq[held].state, WEIR_RQ_HELD);
	last = util_insert_as(h, g, NULL, WEIR_OP_READ, 5000, 8);
	h->now = free_ns;
	util_expect(h, held);
	assert_null(weir_dispatch(h->w, h->now, &next));
	assert_int_equal(next.at_ns, free_ns + 4 * MS); /* 5 of them */
	h->now = next.at_ns;
	util_expect(h, last);
	assert_int_equal(stats(h, g, WEIR_READ).merged, 4);
}

/* At a low rate each request passes by itself, or it would be late by many. */
static void slow_ceilings(void **state)
{
	struct util_host *h = *state;
	struct weir_group *ios = limited(h, WEIR_UNLIMITED, 100);
	struct weir_group *bytes = limited(h, 1000000, WEIR_UNLIMITED);
	uint32_t a = hold_one(h, ios, 1000), b = hold_one(h, bytes, 2000);
	struct weir_next next;

	assert_null(merge_as(h, ios, 1008));
	assert_null(merge_as(h, bytes, 2008));
	h->now += SECOND;
	util_expect(h, a);
	util_expect(h, b);
	assert_null(weir_dispatch(h->w, h->now, &next));
}

/* Two held ones become one; the one absorbed leaves the limits stage uncharged. */
static void held_neighbours(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = limited(h, 4096000, WEIR_UNLIMITED);
	struct weir_rq *into, *then, *bio;
	struct weir_next next;
	uint32_t low, high;
	uint64_t free_ns;

	low = hold_one(h, g, 1000);
	high = util_insert_as(h, g, NULL, WEIR_OP_READ, 1016, 8);
	assert_null(weir_dispatch(h->w, h->now, &next));
	free_ns = next.at_ns;
	bio = util_bio(h, WEIR_OP_READ, 1008, 8);
	bio->group = g;
	assert_int_equal(find(h, bio, &into), WEIR_MERGE_FRONT);
	assert_ptr_equal(into, &h->rq[high]);
	then = weir_merge_bio(h->w, into, bio, WEIR_MERGE_FRONT, h->now);
	assert_ptr_equal(then, &h->rq[low]);
	weir_merge_rq(h->w, then, into, h->now);
	assert_int_equal(h->rq[high].state, WEIR_RQ_NEW);
	assert_int_equal(weir_nr_waiting(h->w), 1);
	h->now = free_ns - 1;
	util_expect(h, UTIL_NONE);
	h->now += 1;
	util_expect(h, low);
	/* 12 KiB went: 3 ms. */
	low = util_insert_as(h, g, NULL, WEIR_OP_READ, 9000, 8);
	h->now = free_ns + 3 * MS - 1;
	util_expect(h, UTIL_NONE);
	h->now += 1;
	util_expect(h, low);
}

/* Into one that has passed: charged at once, and only while the group is not held. */
static void into_passed(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = limited(h, WEIR_UNLIMITED, 100000), *slow = limited(h, 1, 10);
	uint64_t start = h->now;
	uint32_t a, n;

	a = util_insert_as(h, g, NULL, WEIR_OP_READ, 1000, 8);
	assert_int_equal(h->rq[a].state, WEIR_RQ_QUEUED);
	for (n = 0; n < 100; n++)
		assert_ptr_equal(merge_as(h, g, 1008 + 8 * n), &h->rq[a]);
	assert_int_equal(h->rq[a].nr_merged, 100);
	util_expect(h, a);
	/* 101 went at once: 1.01 ms of the rate, 4 ms of which may come early. */
	assert_int_equal(g->flow[WEIR_READ].ios.next_ns, start - 4 * MS + 1010000);
	/* Closed, though nothing is held: no more may join what has passed. */
	n = util_insert_as(h, slow, NULL, WEIR_OP_READ, 1000, 8);
	assert_int_equal(h->rq[n].state, WEIR_RQ_QUEUED);
	assert_null(merge_as(h, slow, 1008));
	util_expect(h, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(into_held, setup, teardown),
		cmocka_unit_test_setup_teardown(slow_ceilings, setup, teardown),
		cmocka_unit_test_setup_teardown(held_neighbours, setup, teardown),
		cmocka_unit_test_setup_teardown(into_passed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
