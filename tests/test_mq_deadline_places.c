// SPDX-License-Identifier: GPL-2.0-only
/* mq-deadline: places for what is not a read, and merging. */
#include "tests/util_host.h"

#include "core/spi.h"

static struct util_host host;

#define MS UINT64_C(1000000)

static int setup(void **state)
{
	util_host_init(&host);
	util_host_start(&host, &weir_policy_mq_deadline, NULL);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static uint32_t insert_flags(struct util_host *h, enum weir_ioprio_class class, enum weir_op op,
			     uint64_t sector, uint16_t flags)
{
	struct weir_rq *rq = util_bio(h, op, sector, op == WEIR_OP_FLUSH ? 0 : 8);

	rq->ioprio_class = (uint8_t) class;
	rq->flags = flags;
	weir_insert(h->w, rq, WEIR_TAIL, h->now);
	return h->nr_rqs - 1;
}

static uint32_t insert_class(struct util_host *h, enum weir_ioprio_class class, enum weir_op op,
			     uint64_t sector)
{
	return insert_flags(h, class, op, sector, 0);
}

static uint32_t read_class(struct util_host *h, enum weir_ioprio_class class, uint64_t sector)
{
	return insert_class(h, class, WEIR_OP_READ, sector);
}

/* Dispatches, without completing. */
static void expect_start(struct util_host *h, uint32_t index)
{
	assert_int_equal(util_dispatch(h), index);
}

/* The direction of the batch that has just begun. */
static void begin_with_a_read(struct util_host *h)
{
	util_set_tunable(h, "writes_starved", 2);
	util_expect(h, util_insert(h, WEIR_OP_READ, 0, 8));
}

/* ---- places for writes ---- */

static void writes_wait_for_a_place(void **state)
{
	struct util_host *h = *state;
	uint32_t a, b, c, fua, sync, rd, preflush;

	begin_with_a_read(h);
	util_set_tunable(h, "async_depth", 2);
	a = insert_class(h, WEIR_IOPRIO_BE, WEIR_OP_WRITE, 1000);
	b = insert_class(h, WEIR_IOPRIO_BE, WEIR_OP_WRITE, 2000);
	/* All but reads: a write is limited also when somebody waits for it. */
	sync = insert_flags(h, WEIR_IOPRIO_BE, WEIR_OP_WRITE, 10, WEIR_RQ_SYNC);
	c = insert_class(h, WEIR_IOPRIO_BE, WEIR_OP_DISCARD, 20);
	fua = insert_flags(h, WEIR_IOPRIO_BE, WEIR_OP_WRITE, 3000, WEIR_RQ_FUA);
	preflush = insert_flags(h, WEIR_IOPRIO_BE, WEIR_OP_WRITE, 4000, WEIR_RQ_PREFLUSH);
	rd = read_class(h, WEIR_IOPRIO_BE, 5000);
	expect_start(h, rd);
	expect_start(h, a);
	expect_start(h, b);
	expect_start(h, fua);
	expect_start(h, preflush);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	/* Neither of these had a place. */
	util_complete(h, fua);
	util_complete(h, preflush);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	util_complete(h, b);
	expect_start(h, sync);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	/* One put back keeps its place. */
	weir_requeue(h->w, &h->rq[a], WEIR_REQUEUE_INSERT, h->now);
	expect_start(h, a);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	util_complete(h, a);
	expect_start(h, c);
	util_complete(h, c);
	util_complete(h, sync);
	util_complete(h, rd);
}

/* A place given back by removal; all of them by a greater bound. */
static void places_come_back(void **state)
{
	struct util_host *h = *state;
	uint32_t n, first = h->nr_rqs;

	util_set_tunable(h, "async_depth", 1);
	for (n = 0; n < 6; n++)
		util_insert(h, WEIR_OP_WRITE, 1000 - n * 100, 8);
	/* Removed where they wait, and where they stand. */
	assert_int_equal(weir_remove(h->w, &h->rq[first + 1], h->now), 0);
	assert_int_equal(weir_remove(h->w, &h->rq[first], h->now), 0);
	expect_start(h, first + 2);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	util_set_tunable(h, "async_depth", 0);
	expect_start(h, first + 3);
	/* A batch from the top down: each is the oldest. */
	expect_start(h, first + 4);
	expect_start(h, first + 5);
	for (n = 2; n < 6; n++)
		util_complete(h, first + n);
}

/* Who waits outside is not seen by merging, and its expiry has not begun. */
static void outside_is_unseen(void **state)
{
	struct util_host *h = *state;
	enum weir_merge kind;
	uint32_t a, b, later;

	util_set_tunable(h, "async_depth", 1);
	a = util_insert(h, WEIR_OP_WRITE, 5000, 8);
	b = util_insert(h, WEIR_OP_WRITE, 100, 8);
	assert_int_equal(util_merge(h, WEIR_OP_WRITE, 108, 8, &kind), UTIL_NONE);
	assert_int_equal(util_merge(h, WEIR_OP_WRITE, 92, 8, &kind), UTIL_NONE);
	assert_int_equal(util_merge(h, WEIR_OP_WRITE, 5008, 8, &kind), a);
	expect_start(h, a);
	h->now += 5000 * MS;
	util_complete(h, a); /* now b enters */
	util_set_tunable(h, "async_depth", 0);
	assert_int_equal(util_merge(h, WEIR_OP_WRITE, 108, 8, &kind), b);
	later = util_insert(h, WEIR_OP_WRITE, 6000, 8);
	util_set_tunable(h, "fifo_batch", 1);
	/* b is not expired, so the batch goes on above 5000. */
	util_expect(h, later);
	util_expect(h, b);
}

/* ---- merging ---- */

static void front_merge_within_a_level(void **state)
{
	struct util_host *h = *state;
	enum weir_merge kind;
	struct weir_rq *bio, *into;
	uint32_t a;

	a = read_class(h, WEIR_IOPRIO_IDLE, 1000);
	read_class(h, WEIR_IOPRIO_IDLE, 2000); /* takes the hint */
	assert_int_equal(util_merge(h, WEIR_OP_READ, 992, 8, &kind), UTIL_NONE);
	bio = util_bio(h, WEIR_OP_READ, 992, 8);
	bio->ioprio_class = WEIR_IOPRIO_IDLE;
	util_set_tunable(h, "front_merges", 0);
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_NONE);
	util_set_tunable(h, "front_merges", 1);
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_FRONT);
	assert_ptr_equal(into, &h->rq[a]);
	assert_null(weir_merge_bio(h->w, into, bio, WEIR_MERGE_FRONT, h->now));
	assert_int_equal(h->rq[a].sector, 992);
}

/* Order and expiry after merges: as deadline's, since it is the same queue. */
static void joining_inherits_the_expiry(void **state)
{
	struct util_host *h = *state;
	struct weir_rq *bio, *into;
	uint32_t early, other, late;

	early = util_insert(h, WEIR_OP_READ, 2000, 8);
	h->now += 100 * MS;
	other = util_insert(h, WEIR_OP_READ, 50, 8);
	h->now += 100 * MS;
	late = util_insert(h, WEIR_OP_READ, 1984, 8);
	bio = util_bio(h, WEIR_OP_READ, 1992, 8);
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_BACK);
	assert_ptr_equal(weir_merge_bio(h->w, into, bio, WEIR_MERGE_BACK, h->now), &h->rq[early]);
	weir_merge_rq(h->w, into, &h->rq[early], h->now);
	h->now += 300 * MS;
	util_set_tunable(h, "fifo_batch", 0); /* every request begins a batch */
	util_expect(h, late);
	util_expect(h, other);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(writes_wait_for_a_place),	   TEST(places_come_back),
		TEST(outside_is_unseen),	   TEST(front_merge_within_a_level),
		TEST(joining_inherits_the_expiry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
