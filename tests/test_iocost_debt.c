// SPDX-License-Identifier: GPL-2.0-only
/* iocost: what can't wait becomes debt, is paid first, delays its tasks, and is forgiven. */
#include "tests/util_host.h"

#include "policy/iocost/internal.h"

#define MS WEIR_NS_PER_MS
#define US WEIR_NS_PER_US
#define V_OF_NS(ns) ((uint64_t)(ns) << IOCOST_VTIME_SHIFT)

static struct util_host host;

static int setup(void **state)
{
	util_host_init(&host);
	util_host_start(&host, &weir_policy_iocost, NULL);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static void pass(struct util_host *h, uint64_t ns)
{
	h->now += ns;
	weir_tick(h->w, h->now);
	iocost_catch_up(iocost_of(h->w));
}

/* Nearly 1 ms of device time: 240 pages of 4.096 us, of which one costs 10 us, as it begins. */
#define PAGE_V UINT64_C(1048575)
#define BIG_V (V_OF_NS(10 * US) + 239 * PAGE_V)
enum { BIG_SECTORS = 8 * 240 };

static uint32_t write_big(struct util_host *h, struct weir_group *g, uint16_t flags)
{
	uint32_t n = h->nr_rqs++;
	struct weir_rq *rq = &h->rq[n];

	assert_true(n < UTIL_RQS);
	weir_rq_init(rq, WEIR_OP_WRITE, 100000 * (uint64_t)(n + 1), BIG_SECTORS, g, NULL);
	rq->flags = flags;
	weir_insert(h->w, rq, WEIR_TAIL, h->now);
	return n;
}

/* Of eight equal groups; the other seven have one small request each. */
static struct weir_group *one_of_eight(struct util_host *h)
{
	struct weir_group *g = NULL;
	uint32_t n;

	for (n = 0; n < 8; n++) {
		g = util_group(h, weir_root(h->w), 100);
		util_expect(h, util_insert_as(h, g, NULL, WEIR_OP_READ, 8 * (n + 1), 8));
	}
	return g;
}

static void metadata_goes_and_its_task_pauses(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = one_of_eight(h);
	struct iocost_group *ig = iocost_group(g);
	uint64_t over, percent, wanted;
	uint32_t n, waits;

	/* 25 ms of its own time are 3 writes, less what the small one took. */
	for (n = 0; n < 250; n++) {
		util_expect(h, write_big(h, g, WEIR_RQ_META));
		assert_int_equal(ig->debt > 0, n >= 3);
	}
	assert_int_equal(ig->debt, 247 * BIG_V);
	assert_int_equal(ig->inuse, 1);
	over = V_OF_NS(80 * US) + 250 * 8 * BIG_V - V_OF_NS(25 * MS);
	percent = over / V_OF_NS(MS / 2);
	assert_int_equal(percent, 3905);
	wanted = 250 * US + (250 * MS - 250 * US) * (percent - 500) / 24500;
	assert_int_equal(weir_group_delay_ns(g, h->now), wanted);
	assert_int_equal(weir_group_delay_ns(weir_root(h->w), h->now), 0);
	/* Halves with each second, and ends below 250 us. */
	assert_int_equal(weir_group_delay_ns(g, h->now + 999 * MS), wanted);
	assert_int_equal(weir_group_delay_ns(g, h->now + 1000 * MS), wanted / 2);
	assert_int_equal(weir_group_delay_ns(g, h->now + 7000 * MS), wanted / 128);
	assert_int_equal(weir_group_delay_ns(g, h->now + 8000 * MS), 0);
	/* The group's other requests wait, for debt and own cost; more metadata does not. */
	waits = write_big(h, g, 0);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	util_expect(h, write_big(h, g, WEIR_RQ_META));
	assert_int_equal(h->rq[waits].state, WEIR_RQ_QUEUED);
}

/* The others keep the device busy, so nothing is forgiven. */
static void keep_busy(struct util_host *h, uint64_t ns)
{
	uint64_t until = h->now + ns;

	while (h->now < until) {
		iocost_of(h->w)->busy_level = 1;
		pass(h, 10 * MS);
	}
}

static void debt_is_paid_before_others_go(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = util_group(h, weir_root(h->w), 100);
	struct weir_next next;
	uint32_t n, waits;

	/* Alone: 25 of 25 ms, and 5 more as debt. */
	for (n = 0; n < 30; n++)
		util_expect(h, write_big(h, g, WEIR_RQ_META));
	assert_int_equal(iocost_group(g)->debt, 5 * BIG_V);
	waits = write_big(h, g, 0);
	assert_null(weir_dispatch(h->w, h->now, &next));
	/* It is scaled by the least part while the debt lasts: the period's end looks again. */
	assert_true(next.at_ns <= iocost_of(h->w)->period_end_ns);
	keep_busy(h, 10 * MS);
	assert_int_equal(iocost_group(g)->debt > 0, false);
	while (!weir_dispatch(h->w, h->now, &next))
		h->now = next.at_ns;
	assert_int_equal(h->rq[waits].state, WEIR_RQ_DISPATCHED);
	/* 30 writes were paid: 25 ms of them in advance. */
	assert_true(iocost_group(g)->vtime == iocost_group(g)->done_vtime + BIG_V);
	assert_int_equal(iocost_group(g)->inuse, iocost_group(g)->active_weight);
}

/* To a quarter of a nanosecond: payments are rounded. */
static void assert_debt(const struct iocost_group *ig, uint64_t wanted)
{
	assert_true(ig->debt + 64 > wanted && ig->debt < wanted + 64);
}

static void debt_is_halved_while_the_device_is_idle(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = one_of_eight(h);
	struct iocost_group *ig = iocost_group(g);
	uint64_t before, delay;
	uint32_t n;

	for (n = 0; n < 1000; n++)
		util_expect(h, write_big(h, g, WEIR_RQ_META));
	/* The debt is much more than half of the first 100 ms. */
	before = ig->debt;
	pass(h, 100 * MS);
	assert_true(ig->debt > before - V_OF_NS(100 * MS));
	/*
	 * In the next nothing is used. The others are idle by now: all of the time pays, and the
	 * 100 ms that they threw away make the clock run twice as fast.
	 */
	before = ig->debt;
	delay = ig->delay_ns;
	pass(h, 50 * MS);
	assert_debt(ig, before - V_OF_NS(100 * MS));
	pass(h, 49 * MS);
	assert_debt(ig, before - V_OF_NS(100 * MS));
	pass(h, MS);
	/* Paid, halved, and the delay with it. */
	assert_debt(ig, (before - V_OF_NS(200 * MS)) / 2);
	assert_true(ig->delay_ns <= delay / 2 + 1 || ig->delay_at_ns == h->now);
	/* In the end the group is as any other. */
	for (n = 0; n < 40; n++)
		pass(h, 50 * MS);
	assert_int_equal(ig->debt, 0);
	assert_int_equal(weir_group_delay_ns(g, h->now), 0);
	assert_false(ig->is_active);
}

static void what_merges_pays_for_its_size(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = util_group(h, weir_root(h->w), 100);
	struct iocost_group *ig = iocost_group(g);
	struct weir_rq *into, *bio;
	uint64_t vtime;
	uint32_t n = util_insert_as(h, g, NULL, WEIR_OP_READ, 1000, 8);

	vtime = ig->vtime;
	bio = util_bio(h, WEIR_OP_READ, 1008, 16);
	bio->group = g;
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_BACK);
	weir_merge_bio(h->w, into, bio, WEIR_MERGE_BACK, h->now);
	assert_int_equal(ig->vtime, vtime + 2 * PAGE_V);
	assert_int_equal(ig->cursor, 1024);
	/* Without budget the rest is debt: the request can't be held back any more. */
	ig->vtime = iocost_vnow(iocost_of(h->w)) - PAGE_V;
	bio = util_bio(h, WEIR_OP_READ, 1024, 16);
	bio->group = g;
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_BACK);
	weir_merge_bio(h->w, into, bio, WEIR_MERGE_BACK, h->now);
	assert_int_equal(ig->debt, 2 * PAGE_V);
	util_expect(h, n);
}

static void who_waits_or_differs_is_not_merged_with(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = util_group(h, weir_root(h->w), 100);
	struct weir_rq *into, *bio;
	uint32_t n, ready;

	for (n = 0; n < 25; n++)
		write_big(h, g, 0);
	ready = write_big(h, g, WEIR_RQ_META);
	n = write_big(h, g, 0);
	assert_int_equal(iocost_rq(&h->rq[n])->state, IOCOST_WAITING);
	bio = util_bio(h, WEIR_OP_WRITE, weir_rq_end(&h->rq[n]), 8);
	bio->group = g;
	h->cfg.max_sectors = 4096;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_NONE);
	bio->sector = weir_rq_end(&h->rq[ready]);
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_NONE);
	bio->flags = WEIR_RQ_META;
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_BACK);
	bio->sector = weir_rq_end(&h->rq[ready - 1]);
	bio->flags = 0;
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_BACK);
	assert_ptr_equal(into, &h->rq[ready - 1]);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(metadata_goes_and_its_task_pauses),	    T(debt_is_paid_before_others_go),
		T(debt_is_halved_while_the_device_is_idle), T(what_merges_pays_for_its_size),
		T(who_waits_or_differs_is_not_merged_with),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
