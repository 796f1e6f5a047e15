// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy/weir/leaf.c: the order of one group's own requests. Head insertions, sync before async,
 * and the two ways in which waiting of async requests is bounded; and how large requests may grow
 * while somebody has a floor or a target.
 */
#include "tests/util_host.h"

#include "core/core.h"
#include "core/spi.h"

#define MS UINT64_C(1000000)

static struct util_host host;

static int setup(void **state)
{
	util_host_init(&host);
	host.cfg.merge = false;
	util_host_start(&host, &weir_policy_weir, NULL);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static uint32_t insert(struct util_host *h, enum weir_op op, uint16_t flags, enum weir_where where)
{
	struct weir_rq *rq = util_bio(h, op, 1000 * h->nr_rqs, 8);

	rq->flags = flags;
	weir_insert(h->w, rq, where, h->now);
	return h->nr_rqs - 1;
}

static uint32_t sync(struct util_host *h)
{
	return insert(h, WEIR_OP_READ, 0, WEIR_TAIL);
}

static uint32_t async(struct util_host *h)
{
	return insert(h, WEIR_OP_WRITE, 0, WEIR_TAIL);
}

static void tune(struct util_host *h, const char *name, uint64_t value)
{
	int index = weir_tunable_find(&weir_policy_weir, name);

	assert_true(index >= 0);
	assert_int_equal(weir_tunable_set(h->w, (unsigned int)index, value, h->now), 0);
}

static void sync_first(void **state)
{
	struct util_host *h = *state;
	uint32_t w1 = async(h), r1 = sync(h), w2 = async(h), r2 = sync(h);
	uint32_t sw = insert(h, WEIR_OP_WRITE, WEIR_RQ_SYNC, WEIR_TAIL);
	uint32_t flush = insert(h, WEIR_OP_FLUSH, 0, WEIR_TAIL);

	util_expect(h, r1);
	util_expect(h, r2);
	util_expect(h, sw);
	util_expect(h, flush);
	util_expect(h, w1);
	util_expect(h, w2);
	util_expect(h, UTIL_NONE);
}

static void head_first(void **state)
{
	struct util_host *h = *state;
	uint32_t r = sync(h), w = async(h);
	uint32_t h1 = insert(h, WEIR_OP_WRITE, 0, WEIR_HEAD);
	uint32_t h2 = insert(h, WEIR_OP_READ, 0, WEIR_HEAD);

	util_expect(h, h2);
	util_expect(h, h1);
	assert_int_equal(util_dispatch(h), r);
	assert_int_equal(util_dispatch(h), w);
	/* Requeued ones go again, before what came meanwhile. */
	sync(h);
	weir_requeue(h->w, &h->rq[r], WEIR_REQUEUE_INSERT, h->now);
	weir_requeue(h->w, &h->rq[w], WEIR_REQUEUE_INSERT, h->now);
	util_expect(h, w);
	util_expect(h, r);
}

/* One async request after every async_every sync ones, counted only while one waits. */
static void async_by_count(void **state)
{
	struct util_host *h = *state;
	uint32_t r[24], w[3], n;

	tune(h, "async_every", 5);
	for (n = 0; n < 4; n++)
		util_expect(h, sync(h)); /* nobody was passed */
	for (n = 0; n < 3; n++)
		w[n] = async(h);
	for (n = 0; n < 24; n++)
		r[n] = sync(h);
	for (n = 0; n < 15; n++) {
		util_expect(h, r[n]);
		if (n % 5 == 4)
			util_expect(h, w[n / 5]);
	}
	/* None waits: none is counted. */
	for (; n < 22; n++)
		util_expect(h, r[n]);
	w[0] = async(h);
	util_expect(h, r[22]);
	util_expect(h, r[23]);
	util_expect(h, w[0]);
}

static void async_by_time(void **state)
{
	struct util_host *h = *state;
	uint32_t w1 = async(h), w2, r[4], n;

	tune(h, "async_wait_ms", 10);
	h->now += 2 * MS;
	w2 = async(h);
	for (n = 0; n < 4; n++)
		r[n] = sync(h);
	h->now += 8 * MS - 1;
	util_expect(h, r[0]);
	h->now += 1;
	util_expect(h, w1);
	util_expect(h, r[1]); /* the second isn't late yet */
	h->now += 2 * MS;
	util_expect(h, w2);
	util_expect(h, r[2]);
	util_expect(h, r[3]);
}

/* Any of them may vanish; what is left keeps its order and its counts. */
static void removal(void **state)
{
	struct util_host *h = *state;
	uint32_t r1 = sync(h), w1 = async(h), r2 = sync(h), w2 = async(h);
	uint32_t h1 = insert(h, WEIR_OP_READ, 0, WEIR_HEAD);
	uint32_t h2 = insert(h, WEIR_OP_READ, 0, WEIR_HEAD);

	assert_int_equal(weir_remove(h->w, &h->rq[h2], h->now), 0);
	assert_int_equal(weir_remove(h->w, &h->rq[r1], h->now), 0);
	assert_int_equal(weir_remove(h->w, &h->rq[w2], h->now), 0);
	util_expect(h, h1);
	util_expect(h, r2);
	assert_int_equal(weir_remove(h->w, &h->rq[w1], h->now), 0);
	util_expect(h, UTIL_NONE);
	/* Emptied by removal, the group is out of its parent's queue, too. */
	r1 = sync(h);
	assert_int_equal(weir_remove(h->w, &h->rq[r1], h->now), 0);
	util_expect(h, UTIL_NONE);
	util_expect(h, sync(h));
}

/* A write-back stream beside a reader that never rests: it waits, but not for ever. */
static void async_is_not_starved(void **state)
{
	struct util_host *h = *state;
	uint32_t n, reads = 0, writes = 0, got;

	for (n = 0; n < 1700; n++) {
		if (n % 2 == 0)
			async(h);
		sync(h);
		got = util_dispatch(h);
		util_complete(h, got);
		if (h->rq[got].op == WEIR_OP_READ)
			reads++;
		else
			writes++;
	}
	assert_int_equal(writes, 100); /* 1 in 17, by default */
	assert_int_equal(reads, 1600);
}

/* ---- merging ---- */

static uint32_t largest(struct util_host *h, struct weir_group *g)
{
	struct weir_rq *rq = util_bio(h, WEIR_OP_READ, 0, 8), bio, *into;
	uint32_t sectors;

	rq->group = g;
	weir_insert(h->w, rq, WEIR_TAIL, h->now);
	while (weir_rq_init(&bio, WEIR_OP_READ, weir_rq_end(rq), 8, g, NULL),
	       weir_merge_find(h->w, &bio, &into, h->now) == WEIR_MERGE_BACK)
		weir_merge_bio(h->w, into, &bio, WEIR_MERGE_BACK, h->now);
	sectors = rq->nr_sectors;
	util_expect(h, (uint32_t)(rq - h->rq));
	return sectors;
}

static void small_merges_beside_a_floor(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = util_group(h, weir_root(h->w), 100);
	struct weir_group *other = util_group(h, weir_root(h->w), 100);
	struct weir_group_attr attr;
	unsigned int what;

	h->cfg.merge = true;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
	for (what = 0; what < 2; what++) {
		assert_int_equal(largest(h, g), 1024);
		weir_group_attr_init(&attr);
		attr.low.iops[WEIR_WRITE] = what ? 0 : 10;
		attr.latency_target_ns = what ? MS : 0;
		assert_int_equal(weir_group_set(other, &attr, h->now), 0);
		assert_int_equal(largest(h, g), 256); /* 128 KiB */
		assert_int_equal(largest(h, other), 256);
		tune(h, "merge_kb", 64);
		assert_int_equal(largest(h, g), 128);
		tune(h, "merge_kb", 128);
		weir_group_attr_init(&attr);
		assert_int_equal(weir_group_set(other, &attr, h->now), 0);
	}
	/* Also when the group with the floor is removed, and when one with a target is. */
	attr.low.bps[WEIR_READ] = 1;
	attr.latency_target_ns = MS;
	assert_int_equal(weir_group_set(other, &attr, h->now), 0);
	assert_int_equal(largest(h, g), 256);
	assert_int_equal(weir_group_remove(other, h->now), 0);
	assert_int_equal(largest(h, g), 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sync_first, setup, teardown),
		cmocka_unit_test_setup_teardown(head_first, setup, teardown),
		cmocka_unit_test_setup_teardown(async_by_count, setup, teardown),
		cmocka_unit_test_setup_teardown(async_by_time, setup, teardown),
		cmocka_unit_test_setup_teardown(removal, setup, teardown),
		cmocka_unit_test_setup_teardown(async_is_not_starved, setup, teardown),
		cmocka_unit_test_setup_teardown(small_merges_beside_a_floor, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
