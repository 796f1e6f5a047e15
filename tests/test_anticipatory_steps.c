// SPDX-License-Identifier: GPL-2.0-only
/* Anticipatory step by step: what ends a wait, what begins one, and the order of requests. */
#include "tests/util_host.h"

#include "core/spi.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)

/* antic_expire */
enum { WAIT_NS = 6667000 };

static struct util_host host;

static int setup(void **state)
{
	util_host_init(&host);
	host.cfg.merge = true;
	util_host_start(&host, &weir_policy_anticipatory, NULL);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static struct weir_ctx *process(struct util_host *h)
{
	return weir_ctx_create(h->w, weir_root(h->w), WEIR_IOPRIO_NONE, 0, h->now);
}

static uint32_t put(struct util_host *h, struct weir_ctx *ctx, enum weir_op op, uint64_t sector)
{
	return util_insert_as(h, weir_root(h->w), ctx, op, sector, 8);
}

/* Nothing goes now; when may it? */
static uint64_t asleep_until(struct util_host *h)
{
	struct weir_next next;

	assert_null(weir_dispatch(h->w, h->now, &next));
	return next.at_ns;
}

/* So many sequential reads of ctx, each think_ns after the completion of the one before. */
static uint64_t reads(struct util_host *h, struct weir_ctx *ctx, uint64_t sector, unsigned int nr,
		      uint64_t think_ns)
{
	for (; nr; nr--, sector += 8) {
		h->now += think_ns;
		util_expect(h, put(h, ctx, WEIR_OP_READ, sector));
	}
	return sector;
}

/* WAIT_REQ, WAIT_NEXT, the end of the wait by its own process and by the clock. */
static void waits_for_the_last_reader(void **state)
{
	struct util_host *h = *state;
	struct weir_ctx *a = process(h), *b = process(h);
	uint64_t at = reads(h, a, 1000, 12, 100 * US), done_ns;
	uint32_t mine, other, again;

	mine = put(h, a, WEIR_OP_READ, at);
	assert_int_equal(util_dispatch(h), mine);
	/* While it is in the device: until its completion, whenever that is. */
	h->now += 50 * US;
	other = put(h, b, WEIR_OP_READ, 90000000);
	assert_true(asleep_until(h) == WEIR_NEVER);
	h->now += 5 * MS;
	util_complete(h, mine);
	done_ns = h->now;
	assert_true(asleep_until(h) == done_ns + WAIT_NS);
	h->now += WAIT_NS - 1;
	assert_true(asleep_until(h) == done_ns + WAIT_NS);
	/* In the last moment. */
	again = put(h, a, WEIR_OP_READ, at + 8);
	assert_int_equal(util_dispatch(h), again);
	assert_true(asleep_until(h) == WEIR_NEVER);
	util_complete(h, again);
	assert_true(asleep_until(h) == h->now + WAIT_NS);
	h->now += WAIT_NS;
	util_expect(h, other);
}

/* A read of another process that is near goes at once; what is near grows with the wait. */
static void near_read_of_another(void **state)
{
	static const struct {
		uint64_t waited_ns;
		int64_t ahead;
		bool goes;
	} try[] = {
		/* 8192 ahead and 4096 behind are close at first, and twice as much with each ms. */
		{0, 8192, true},	   {0, 8193, false},
		{0, -4096, true},	   {0, -4097, false},
		{1 * MS, 16384, true},	   {1 * MS, 16385, false},
		{1 * MS, -8192, true},	   {1 * MS, -8193, false},
		{5 * MS, 8192 << 5, true}, {5 * MS, 8193 << 5, false},
	};
	struct util_host *h = *state;
	uint64_t place = 1000000000, at;
	unsigned int i;

	for (i = 0; i < sizeof(try) / sizeof(try[0]); i++) {
		struct weir_ctx *a = process(h);
		uint32_t far, other;

		h->now += 100 * MS;
		place += 1000000000;
		at = reads(h, a, place, 30, 100 * US);
		far = put(h, NULL, WEIR_OP_READ, 2 * place);
		assert_true(asleep_until(h) == h->now + WAIT_NS);
		h->now += try[i].waited_ns;
		other = put(h, process(h), WEIR_OP_READ, (uint64_t)((int64_t)at + try[i].ahead));
		if (!try[i].goes) {
			assert_true(asleep_until(h) == h->now - try[i].waited_ns + WAIT_NS);
			h->now += WAIT_NS;
		}
		util_expect(h, other);
		h->now += WAIT_NS;
		util_expect(h, far);
	}
}

/* A write of the process itself is an fsync: no read will follow soon. */
static void own_write_ends_the_wait(void **state)
{
	struct util_host *h = *state;
	struct weir_ctx *a = process(h);
	uint64_t at = reads(h, a, 1000, 12, 100 * US);
	uint32_t other = put(h, process(h), WEIR_OP_READ, 90000000), w;

	assert_true(asleep_until(h) == h->now + WAIT_NS);
	w = put(h, a, WEIR_OP_WRITE, at);
	/* Reads have the batch still. */
	util_expect(h, other);
	h->now += WAIT_NS;
	util_expect(h, w);
}

/* Requests without a context: nobody to wait for. */
static void unknown_process(void **state)
{
	struct util_host *h = *state;
	uint32_t a, b;

	a = put(h, NULL, WEIR_OP_READ, 1000);
	b = put(h, NULL, WEIR_OP_READ, 90000000);
	util_expect(h, a);
	util_expect(h, b);
}

/*
 * Processes that exit after one read, nobody near follows: each time that the wait was in vain, the
 * two probabilities rise by an eighth of what is left, and when their product is above one half
 * nobody waits for a newcomer any more. Both are asked twice for one that has exited: when the wait
 * begins and when it ends.
 */
static void short_lives(void **state)
{
	struct util_host *h = *state;
	uint32_t exit_prob = 0, no_coop = 0;
	unsigned int n, waits = 0;

	for (n = 0; n < 40; n++) {
		struct weir_ctx *ctx = process(h);
		uint32_t one = put(h, ctx, WEIR_OP_READ, 50000000 + n % 2 * 500000000), other;
		bool expect;

		h->now += 20 * MS;
		assert_int_equal(util_dispatch(h), one);
		weir_ctx_exit(ctx, h->now);
		util_complete(h, one);
		other = put(h, NULL, WEIR_OP_READ, 300000000);
		exit_prob = (7 * exit_prob + 256) / 8;
		expect = no_coop <= 128 && exit_prob * no_coop <= 128 * 256;
		if (expect) {
			assert_true(asleep_until(h) == h->now + WAIT_NS);
			h->now += WAIT_NS;
			exit_prob = (7 * exit_prob + 256) / 8;
			no_coop = (7 * no_coop + 256) / 8;
			waits++;
		}
		util_expect(h, other);
	}
	/* 32, 60, 84, 105, 123, 139: the sixth is more than half. */
	assert_int_equal(waits, 6);
}

/* One that was gone is followed by a near read of another: exits are worth waiting for again. */
static void cooperating_after_exit(void **state)
{
	struct util_host *h = *state;
	unsigned int n;

	for (n = 0; n < 20; n++) {
		struct weir_ctx *ctx = process(h);
		uint32_t one = put(h, ctx, WEIR_OP_READ, 50000000), far, near;

		h->now += 20 * MS;
		assert_int_equal(util_dispatch(h), one);
		weir_ctx_exit(ctx, h->now);
		util_complete(h, one);
		far = put(h, NULL, WEIR_OP_READ, 900000000);
		assert_true(asleep_until(h) == h->now + WAIT_NS);
		h->now += 1 * MS;
		near = put(h, NULL, WEIR_OP_READ, 50000008);
		util_expect(h, near);
		util_expect(h, far);
	}
}

/* One-way, with short ways back that count twice; far behind comes last, lowest first. */
static void order_of_positions(void **state)
{
	struct util_host *h = *state;
	static const uint64_t sector[] = {10001000, 9999600, 10000700, 8000000, 7000000, 9999900};
	static const unsigned int order[] = {5, 1, 2, 0, 4, 3};
	uint32_t rq[6];
	unsigned int n;

	/* From 10,000,008 on: 108 behind counts 216, from 9,999,908 on 308 behind counts 616. */
	util_expect(h, put(h, NULL, WEIR_OP_READ, 10000000));
	for (n = 0; n < 6; n++)
		rq[n] = put(h, NULL, WEIR_OP_READ, sector[n]);
	for (n = 0; n < 6; n++)
		util_expect(h, rq[order[n]]);
}

/* Two for one place: the first makes room at once, and goes next, whatever else is nearer. */
static void one_place(void **state)
{
	struct util_host *h = *state;
	uint32_t a, near, b;

	a = put(h, NULL, WEIR_OP_READ, 5000);
	near = put(h, NULL, WEIR_OP_READ, 100);
	b = put(h, NULL, WEIR_OP_READ, 5000);
	util_expect(h, a);
	util_expect(h, b);
	util_expect(h, near);
}

/* The other direction's turn: all of the old one completes first, then its oldest goes. */
static void drains_between_batches(void **state)
{
	struct util_host *h = *state;
	uint32_t w[3], r, r2;
	unsigned int n;

	for (n = 0; n < 3; n++)
		w[n] = put(h, NULL, WEIR_OP_WRITE, 900000 - 1000 * n);
	r = put(h, NULL, WEIR_OP_READ, 5000);
	assert_int_equal(util_dispatch(h), r);
	/* No reads left: writes' turn, but not beside the read. */
	assert_true(asleep_until(h) == WEIR_NEVER);
	h->now += 3 * MS;
	util_complete(h, r);
	assert_int_equal(util_dispatch(h), w[0]);
	/* The nearest after the first, within the batch. */
	assert_int_equal(util_dispatch(h), w[1]);
	r = put(h, NULL, WEIR_OP_READ, 5000);
	r2 = put(h, NULL, WEIR_OP_READ, 100);
	h->now += 126 * MS;
	assert_true(asleep_until(h) == WEIR_NEVER);
	util_complete(h, w[1]);
	assert_true(asleep_until(h) == WEIR_NEVER);
	util_complete(h, w[0]);
	util_expect(h, r);
	util_expect(h, r2);
	util_expect(h, w[2]);
}

/* A queued read that has expired goes although its place is far, once per read_expire. */
static void expiry(void **state)
{
	struct util_host *h = *state;
	struct weir_ctx *a = process(h);
	uint32_t old = put(h, process(h), WEIR_OP_READ, 900000000), mine;
	uint64_t at = 1000;
	unsigned int n;

	/* a's reads are never far, and old waits for its turn. */
	util_expect(h, put(h, a, WEIR_OP_READ, at));
	for (n = 0; n < 124; n++) {
		at += 8;
		h->now += 1 * MS;
		util_expect(h, put(h, a, WEIR_OP_READ, at));
	}
	h->now += 1 * MS + 1;
	mine = put(h, a, WEIR_OP_READ, at + 8);
	util_expect(h, old);
	/* And its process is waited for as any other. */
	assert_true(asleep_until(h) == h->now + WAIT_NS);
	h->now += WAIT_NS;
	util_expect(h, mine);
}

static void survives_merging(void **state)
{
	struct util_host *h = *state;
	enum weir_merge kind;
	uint32_t a, b, w;

	w = put(h, NULL, WEIR_OP_READ, 0);
	assert_int_equal(util_dispatch(h), w);
	a = put(h, NULL, WEIR_OP_WRITE, 1000);
	b = put(h, NULL, WEIR_OP_WRITE, 1016);
	/* Before a: found by the tree. Then the gap between the two. */
	assert_int_equal(util_merge(h, WEIR_OP_WRITE, 992, 8, &kind), a);
	assert_int_equal(kind, WEIR_MERGE_FRONT);
	assert_int_equal(util_merge(h, WEIR_OP_WRITE, 1008, 8, &kind), a);
	assert_int_equal(kind, WEIR_MERGE_BACK);
	assert_int_equal(h->rq[a].sector, 992);
	assert_int_equal(h->rq[a].nr_sectors, 32);
	assert_int_equal(h->rq[b].state, WEIR_RQ_NEW);
	util_complete(h, w);
	util_expect(h, a);
	assert_int_equal(weir_nr_waiting(h->w), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(waits_for_the_last_reader, setup, teardown),
	cmocka_unit_test_setup_teardown(near_read_of_another, setup, teardown),
	cmocka_unit_test_setup_teardown(own_write_ends_the_wait, setup, teardown),
	cmocka_unit_test_setup_teardown(unknown_process, setup, teardown),
	cmocka_unit_test_setup_teardown(short_lives, setup, teardown),
	cmocka_unit_test_setup_teardown(cooperating_after_exit, setup, teardown),
	cmocka_unit_test_setup_teardown(order_of_positions, setup, teardown),
	cmocka_unit_test_setup_teardown(one_place, setup, teardown),
	cmocka_unit_test_setup_teardown(drains_between_batches, setup, teardown),
	cmocka_unit_test_setup_teardown(expiry, setup, teardown),
	cmocka_unit_test_setup_teardown(survives_merging, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
