// SPDX-License-Identifier: GPL-2.0-only
/* kyber: domains and batches, tokens, places, merging. */
#include "tests/util_host.h"

#include "core/spi.h"

static struct util_host host;

static void start(struct util_host *h)
{
	util_host_init(h);
	h->cfg.nr_requests = 1024; /* so that places don't matter */
	util_host_start(h, &weir_policy_kyber, NULL);
}

static int setup(void **state)
{
	start(&host);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

/* Sectors that nothing merges with. */
static uint32_t insert(struct util_host *h, enum weir_op op)
{
	return util_insert(h, op, (uint64_t)h->nr_rqs * 1000, op == WEIR_OP_FLUSH ? 0 : 8);
}

/* As many requests of op as it is allowed in the device; then all complete at once. */
static uint32_t depth_of(struct util_host *h, enum weir_op op, uint32_t most)
{
	uint32_t n, nr = 0, first = h->nr_rqs, got;

	for (n = 0; n < most + 1; n++)
		insert(h, op);
	while ((got = util_dispatch(h)) != UTIL_NONE)
		nr++;
	for (n = first; n < h->nr_rqs; n++)
		if (h->rq[n].state == WEIR_RQ_QUEUED)
			assert_int_equal(weir_remove(h->w, &h->rq[n], h->now), 0);
	for (n = first; n < h->nr_rqs; n++)
		if (h->rq[n].state == WEIR_RQ_DISPATCHED)
			util_complete(h, n);
	return nr;
}

/* ---- domains ---- */

static void depths_at_the_beginning(void **state)
{
	struct util_host *h = *state;

	assert_int_equal(depth_of(h, WEIR_OP_READ, 256), 256);
	assert_int_equal(depth_of(h, WEIR_OP_WRITE, 128), 128);
	assert_int_equal(depth_of(h, WEIR_OP_DISCARD, 64), 64);
	assert_int_equal(depth_of(h, WEIR_OP_WRITE_ZEROES, 16), 16);
}

static void expect_ops(struct util_host *h, enum weir_op op, uint32_t n)
{
	while (n--) {
		uint32_t got = util_dispatch(h);

		assert_int_not_equal(got, UTIL_NONE);
		assert_int_equal(h->rq[got].op, op);
		util_complete(h, got);
	}
}

static void batches_in_turn(void **state)
{
	struct util_host *h = *state;
	uint32_t n;

	for (n = 0; n < 100; n++) {
		insert(h, WEIR_OP_READ);
		insert(h, WEIR_OP_WRITE);
		insert(h, WEIR_OP_DISCARD);
		insert(h, WEIR_OP_WRITE_ZEROES);
	}
	for (n = 0; n < 3; n++) {
		expect_ops(h, WEIR_OP_READ, 16);
		expect_ops(h, WEIR_OP_WRITE, 8);
		expect_ops(h, WEIR_OP_DISCARD, 1);
		expect_ops(h, WEIR_OP_WRITE_ZEROES, 1);
	}
}

/* A domain that has nothing is passed over, and the batch begins again with the next. */
static void empty_domains_are_passed_over(void **state)
{
	struct util_host *h = *state;
	uint32_t n;

	for (n = 0; n < 5; n++)
		insert(h, WEIR_OP_READ);
	for (n = 0; n < 30; n++)
		insert(h, WEIR_OP_WRITE);
	expect_ops(h, WEIR_OP_READ, 5);
	expect_ops(h, WEIR_OP_WRITE, 7);
	insert(h, WEIR_OP_READ);
	expect_ops(h, WEIR_OP_WRITE, 1);
	expect_ops(h, WEIR_OP_READ, 1);
	/* Nobody else: one batch after another. */
	expect_ops(h, WEIR_OP_WRITE, 22);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
}

/* First in, first out, whatever the sectors; what is out of tokens lets the others pass. */
static void tokens(void **state)
{
	struct util_host *h = *state;
	uint32_t n, rd;

	for (n = 0; n < 130; n++)
		util_insert(h, WEIR_OP_WRITE, 100000 - n * 100, 8);
	for (n = 0; n < 128; n++)
		assert_int_equal(util_dispatch(h), n);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	rd = insert(h, WEIR_OP_READ);
	util_expect(h, rd);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	util_complete(h, 77);
	assert_int_equal(util_dispatch(h), 128);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	/* One that is put back goes first, and takes its token again. */
	weir_requeue(h->w, &h->rq[5], WEIR_REQUEUE_INSERT, h->now);
	assert_int_equal(util_dispatch(h), 5);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	for (n = 0; n < 129; n++)
		if (n != 77)
			util_complete(h, n);
	util_expect(h, 129);
}

/* Past full domains; a flush takes no token, what is put at the head takes one. */
static void flush_and_head(void **state)
{
	struct util_host *h = *state;
	uint32_t n, flush;
	struct weir_rq *head;

	for (n = 0; n < 129; n++)
		insert(h, WEIR_OP_WRITE);
	for (n = 0; n < 128; n++)
		assert_int_equal(util_dispatch(h), n);
	flush = insert(h, WEIR_OP_FLUSH);
	head = util_bio(h, WEIR_OP_WRITE, 5, 8);
	weir_insert(h->w, head, WEIR_HEAD, h->now);
	assert_ptr_equal(weir_dispatch(h->w, h->now, NULL), head);
	assert_int_equal(util_dispatch(h), flush);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	util_complete(h, flush);
	util_complete(h, 0);
	assert_int_equal(util_dispatch(h), UTIL_NONE); /* 128 with the one from the head */
	util_complete(h, 1);
	assert_int_equal(util_dispatch(h), 128);
	weir_complete(h->w, head, h->now);
}

static void drain(void **state)
{
	struct util_host *h = *state;
	uint32_t n;

	for (n = 0; n < 140; n++)
		insert(h, WEIR_OP_WRITE);
	for (n = 0; n < 128; n++)
		assert_int_equal(util_dispatch(h), n);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	weir_set_drain(h->w, true, h->now);
	for (; n < 140; n++)
		assert_int_equal(util_dispatch(h), n);
}

/* ---- places ---- */

/* Async requests get 75 % of nr_requests; sync ones, FUA among them, need no place. */
static void async_share(void **state)
{
	struct util_host *h = &host;
	uint32_t n, nr = 0;
	struct weir_rq *rq;

	(void)state;
	util_host_init(h);
	h->cfg.nr_requests = 64;
	util_host_start(h, &weir_policy_kyber, NULL);
	for (n = 0; n < 60; n++)
		insert(h, WEIR_OP_WRITE);
	while (util_dispatch(h) != UTIL_NONE)
		nr++;
	assert_int_equal(nr, 48);
	rq = util_bio(h, WEIR_OP_WRITE, 1, 8);
	rq->flags = WEIR_RQ_SYNC;
	weir_insert(h->w, rq, WEIR_TAIL, h->now);
	util_expect(h, 60);
	rq = util_bio(h, WEIR_OP_WRITE, 1, 8);
	rq->flags = WEIR_RQ_FUA;
	weir_insert(h->w, rq, WEIR_TAIL, h->now);
	util_expect(h, 61);
	util_expect(h, insert(h, WEIR_OP_READ));
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	/* Discards share the places. */
	insert(h, WEIR_OP_DISCARD);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	util_complete(h, 3);
	assert_int_equal(util_dispatch(h), 48);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	/* More of them. */
	h->cfg.nr_requests = 68;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
	for (n = 49; n < 52; n++)
		assert_int_equal(util_dispatch(h), n);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	util_host_stop(h);
}

/* ---- merging ---- */

static void merging(void **state)
{
	struct util_host *h = *state;
	enum weir_merge kind;
	uint32_t a, b, n;

	a = util_insert(h, WEIR_OP_READ, 1000, 8);
	b = util_insert(h, WEIR_OP_READ, 3000, 8);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 1008, 8, &kind), a);
	assert_int_equal(kind, WEIR_MERGE_BACK);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 2992, 8, &kind), b);
	assert_int_equal(kind, WEIR_MERGE_FRONT);
	/* What fills a gap grows the later one, and joins none. */
	n = util_insert(h, WEIR_OP_READ, 1024, 8);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 1016, 8, &kind), n);
	assert_int_equal(h->rq[n].nr_sectors, 16);
	assert_int_equal(h->rq[a].nr_sectors, 16);
	/* Eight later ones hide it. */
	for (n = 0; n < 5; n++)
		util_insert(h, WEIR_OP_READ, 10000 + n * 100, 8);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 992, 8, &kind), a);
	util_insert(h, WEIR_OP_READ, 20000, 8);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 984, 8, &kind), UTIL_NONE);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 3008, 8, &kind), b);
	/* What has gone over with the first that was dispatched is closed; what came later is not. */
	util_expect(h, a);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 3016, 8, &kind), UTIL_NONE);
	n = util_insert(h, WEIR_OP_READ, 4000, 8);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 3992, 8, &kind), n);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(depths_at_the_beginning),
		TEST(batches_in_turn),
		TEST(empty_domains_are_passed_over),
		TEST(tokens),
		TEST(flush_and_head),
		TEST(drain),
		cmocka_unit_test(async_share),
		TEST(merging),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
