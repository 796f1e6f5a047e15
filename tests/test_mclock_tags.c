// SPDX-License-Identifier: GPL-2.0-only
/* mclock: what single tags do. Directions, bytes, think time, bursts, batches, depth, and times. */
#include "tests/util_host.h"

#include "core/spi.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)

static struct util_host host;

static void start(void)
{
	util_host_init(&host);
	host.cfg.merge = false;
	util_host_start(&host, &weir_policy_mclock, NULL);
	util_set_tunable(&host, "unit_cost", 1);
}

static int setup(void **state)
{
	start();
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static void set_low(struct weir_group *g, enum weir_dir dir, uint64_t iops, uint64_t bps)
{
	struct weir_group_attr attr;

	weir_group_get(g, &attr);
	attr.low.iops[dir] = iops;
	attr.low.bps[dir] = bps;
	assert_int_equal(weir_group_set(g, &attr, host.now), 0);
}

static void set_max_reads(struct weir_group *g, uint64_t iops)
{
	struct weir_group_attr attr;

	weir_group_get(g, &attr);
	attr.max.iops[WEIR_READ] = iops;
	assert_int_equal(weir_group_set(g, &attr, host.now), 0);
}

static uint32_t insert_op(struct util_host *h, struct weir_group *g, enum weir_op op)
{
	return util_insert_as(h, g, NULL, op, (uint64_t)h->nr_rqs * 1000000, 8);
}

static uint32_t insert(struct util_host *h, struct weir_group *g, uint32_t nr)
{
	uint32_t first = h->nr_rqs;

	while (nr--)
		insert_op(h, g, WEIR_OP_READ);
	return first;
}

static void expect_none_until(struct util_host *h, uint64_t at_ns)
{
	struct weir_next next;

	assert_null(weir_dispatch(h->w, h->now, &next));
	assert_int_equal(next.at_ns, at_ns);
}

/* One that goes by weight leaves the floor as it was: the next is due when it would have been. */
static void weight_is_no_part_of_the_floor(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = util_group(h, weir_root(h->w), 100);
	struct weir_group *b = util_group(h, weir_root(h->w), 10000);
	uint64_t begin_ns = h->now;
	uint32_t ra, rb;

	set_low(a, WEIR_READ, 100, 0);
	ra = insert(h, a, 5);
	util_expect(h, ra);
	util_expect(h, ra + 1); /* by weight: nobody else is there */
	rb = insert(h, b, 40);
	util_expect(h, ra + 2); /* b joins at a's place, behind it */
	h->now = begin_ns + 10 * MS - 1;
	util_expect(h, rb);
	h->now++;
	util_expect(h, ra + 3); /* due, 10 ms after the first, and not 20 */
	util_expect(h, rb + 1);
	h->now = begin_ns + 20 * MS - 1;
	util_expect(h, rb + 2);
	h->now++;
	util_expect(h, ra + 4);
}

/* A floor of reads isn't stopped by the group's own writes before them. */
static void directions_are_apart(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = util_group(h, weir_root(h->w), 1);
	struct weir_group *b = util_group(h, weir_root(h->w), 10000);
	uint32_t n, wr, rd, rb;

	set_low(a, WEIR_READ, 100, 0);
	rb = insert(h, b, 20);
	wr = h->nr_rqs;
	for (n = 0; n < 5; n++)
		insert_op(h, a, WEIR_OP_WRITE);
	rd = insert(h, a, 2);
	util_expect(h, rd);
	for (n = 0; n < 5; n++)
		util_expect(h, rb + n);
	h->now += 10 * MS;
	util_expect(h, rd + 1);
	for (n = 5; n < 20; n++)
		util_expect(h, rb + n);
	/* By weight a group's requests go as they came. */
	rd = insert(h, a, 1);
	for (n = 0; n < 5; n++)
		util_expect(h, wr + n);
	util_expect(h, rd);
}

/* Of bytes: 4 KiB at 409600 B/s are 10 ms. With requests as well, whichever asks for more. */
static void floor_of_bytes(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = util_group(h, weir_root(h->w), 1);
	struct weir_group *b = util_group(h, weir_root(h->w), 10000);
	uint64_t begin_ns = h->now;
	uint32_t ra, rb;

	set_low(a, WEIR_READ, 0, 409600);
	rb = insert(h, b, 30);
	ra = insert(h, a, 4);
	util_expect(h, ra);
	util_expect(h, rb);
	h->now = begin_ns + 10 * MS - 1;
	util_expect(h, rb + 1);
	h->now++;
	util_expect(h, ra + 1);
	set_low(a, WEIR_READ, 200, 409600);
	util_expect(h, ra + 2); /* the first under a new rate is due at once */
	util_expect(h, rb + 2);
	h->now += 5 * MS - 1;
	util_expect(h, rb + 3);
	h->now++;
	util_expect(h, ra + 3);
}

/*
 * What the core lets pass early, twelve at once at 3000 a second, L holds for its time, unless
 * nothing else could go and that is allowed. Metadata is not held.
 */
static void limit_tags(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = util_group(h, weir_root(h->w), 100);
	struct weir_group_stats stats;
	uint64_t begin_ns = h->now;
	struct weir_rq *meta;
	uint32_t ra;

	set_max_reads(a, 3000);
	set_low(a, WEIR_READ, 1000, 0);
	ra = insert(h, a, 8);
	assert_int_equal(weir_nr_held(h->w), 0);
	util_expect(h, ra);
	expect_none_until(h, begin_ns + 333333);
	h->now = begin_ns + 333332;
	expect_none_until(h, begin_ns + 333333);
	h->now++;
	util_expect(h, ra + 1);
	/* What division leaves over isn't lost: 666,666.7 and 1,000,000. */
	expect_none_until(h, begin_ns + 666666);
	h->now = begin_ns + 666666;
	util_expect(h, ra + 2);
	expect_none_until(h, begin_ns + 1000000);
	weir_group_read_stats(a, h->now, &stats);
	assert_int_equal(stats.wait_ns[WEIR_WAIT_IDLE], 666666);
	util_set_tunable(h, "over_limit", 1);
	util_expect(h, ra + 3);
	util_expect(h, ra + 4);
	util_set_tunable(h, "over_limit", 0);
	expect_none_until(h, begin_ns + 1000000); /* that is R of the second that counts for it */
	weir_set_drain(h->w, true, h->now);
	util_expect(h, ra + 5);
	util_expect(h, ra + 6);
	util_expect(h, ra + 7);
	weir_set_drain(h->w, false, h->now);
	set_low(a, WEIR_READ, 0, 0);
	meta = util_bio(h, WEIR_OP_READ, 5, 8);
	meta->group = a;
	meta->flags = WEIR_RQ_META;
	weir_insert(h->w, meta, WEIR_TAIL, h->now);
	assert_ptr_equal(weir_dispatch(h->w, h->now, NULL), meta);
	weir_complete(h->w, meta, h->now);
}

/* Think time takes nothing from a floor if it is short enough. */
static void anticipation(void **state)
{
	uint32_t on;

	(void)state;
	for (on = 0; on <= 1; on++) {
		struct weir_group *a, *b;
		uint64_t begin_ns;
		uint32_t ra, rb;

		start();
		a = util_group(&host, weir_root(host.w), 1);
		b = util_group(&host, weir_root(host.w), 10000);
		util_set_tunable(&host, "anticipation_timeout", on ? 12001 : 12000);
		set_low(a, WEIR_READ, 100, 0);
		rb = insert(&host, b, 20);
		begin_ns = host.now;
		util_expect(&host, insert(&host, a, 1));
		/* 12 ms later: due since 10, or only now. So the next is due at 20, or at 22. */
		host.now = begin_ns + 12 * MS;
		ra = insert(&host, a, 1);
		util_expect(&host, ra);
		ra = insert(&host, a, 1);
		host.now = begin_ns + 20 * MS;
		util_expect(&host, on ? ra : rb);
		host.now = begin_ns + 22 * MS;
		util_expect(&host, on ? rb : ra);
		util_host_stop(&host);
	}
}

/* Who was idle begins before the others by so many of its requests. */
static void burst(void **state)
{
	uint32_t allowed;

	(void)state;
	for (allowed = 0; allowed <= 3; allowed += 3) {
		struct weir_group *a, *b;
		uint32_t ra, rb, n, run = 0;

		start();
		a = util_group(&host, weir_root(host.w), 100);
		b = util_group(&host, weir_root(host.w), 100);
		util_set_tunable(&host, "burst", allowed);
		ra = insert(&host, a, 40);
		for (n = 0; n < 10; n++)
			util_expect(&host, ra + n);
		rb = insert(&host, b, 20);
		for (;;) {
			uint32_t got = util_dispatch(&host);

			util_complete(&host, got);
			if (got != rb + run)
				break;
			run++;
		}
		assert_int_equal(run, allowed); /* then there is a tie, and a was here first */
		util_host_stop(&host);
	}
}

/* Near ones go in a row, up to `batch`; then it is the others' turn, who have more to catch up. */
static void batches(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = util_group(h, weir_root(h->w), 100);
	struct weir_group *b = util_group(h, weir_root(h->w), 100);
	uint32_t n, ra, rb;

	util_set_tunable(h, "batch", 3);
	ra = h->nr_rqs;
	for (n = 0; n < 4; n++) /* 4 MB from the end of one to the next, the last one sector more */
		util_insert_as(h, a, NULL, WEIR_OP_READ, n * 8200 + n / 3, 8);
	rb = insert(h, b, 4); /* far from one another */
	util_expect(h, ra);
	util_expect(h, ra + 1);
	util_expect(h, ra + 2);
	util_expect(h, rb);
	util_expect(h, rb + 1);
	util_expect(h, rb + 2);
	util_expect(h, ra + 3);
	util_expect(h, rb + 3);
	/* One sector too far. */
	util_insert_as(h, a, NULL, WEIR_OP_READ, 1000, 8);
	rb = insert(h, b, 1);
	util_insert_as(h, a, NULL, WEIR_OP_READ, 1008 + 8193, 8);
	util_expect(h, rb - 1);
	util_expect(h, rb);
	util_expect(h, rb + 1);
}

/* With a depth, what waits is told whose floor is next. */
static void depth(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = util_group(h, weir_root(h->w), 100);
	struct weir_group *b = util_group(h, weir_root(h->w), 100);
	struct weir_group_stats stats;
	uint32_t ra, rb;

	util_set_tunable(h, "depth", 2);
	set_low(a, WEIR_READ, 100, 0);
	ra = insert(h, a, 3);
	rb = insert(h, b, 3);
	assert_int_equal(util_dispatch(h), ra);
	assert_int_equal(util_dispatch(h), rb);
	expect_none_until(h, WEIR_NEVER);
	h->now += 10 * MS;
	weir_group_read_stats(b, h->now, &stats);
	assert_int_equal(stats.wait_ns[WEIR_WAIT_SHARE] + stats.wait_ns[WEIR_WAIT_DEVICE], 10 * MS);
	expect_none_until(h, WEIR_NEVER); /* now it is a's floor */
	h->now += 5 * MS;
	weir_group_read_stats(b, h->now, &stats);
	assert_int_equal(stats.wait_ns[WEIR_WAIT_FLOOR], 5 * MS);
	util_complete(h, ra);
	assert_int_equal(util_dispatch(h), ra + 1);
	util_complete(h, rb);
	util_complete(h, ra + 1);
}

static void express_is_free(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = util_group(h, weir_root(h->w), 100);
	struct weir_group *b = util_group(h, weir_root(h->w), 100);
	uint32_t ra, rb, flush;
	struct weir_rq *head;

	ra = insert(h, a, 3);
	rb = insert(h, b, 3);
	flush = util_insert_as(h, a, NULL, WEIR_OP_FLUSH, 0, 0);
	head = util_bio(h, WEIR_OP_READ, 5, 8);
	head->group = a;
	weir_insert(h->w, head, WEIR_HEAD, h->now);
	assert_ptr_equal(weir_dispatch(h->w, h->now, NULL), head);
	util_expect(h, flush);
	assert_int_equal(util_dispatch(h), ra);
	weir_requeue(h->w, &h->rq[ra], WEIR_REQUEUE_INSERT, h->now);
	assert_int_equal(util_dispatch(h), ra);
	util_expect(h, rb);
	util_expect(h, ra + 1);
	util_expect(h, rb + 1);
	weir_complete(h->w, head, h->now);
	util_complete(h, ra);
}

/* The first of a queue leaves: the next one takes its place, and its own arrival counts. */
static void removal(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = util_group(h, weir_root(h->w), 1);
	struct weir_group *b = util_group(h, weir_root(h->w), 10000);
	uint64_t begin_ns = h->now;
	uint32_t ra, rb;

	set_low(a, WEIR_READ, 100, 0);
	rb = insert(h, b, 10);
	ra = insert(h, a, 3);
	util_expect(h, ra);
	assert_int_equal(weir_remove(h->w, &h->rq[ra + 1], h->now), 0);
	util_expect(h, rb);
	h->now = begin_ns + 10 * MS;
	util_expect(h, ra + 2);
	util_expect(h, rb + 1);
}

/* A merge makes the first larger: its tags are those of the whole. */
static void merging(void **state)
{
	struct util_host *h = &host;
	struct weir_group *a, *b;
	struct weir_rq *bio, *into;
	uint64_t begin_ns;
	uint32_t ra, rb;

	(void)state;
	util_host_init(h);
	util_host_start(h, &weir_policy_mclock, NULL);
	begin_ns = h->now;
	a = util_group(h, weir_root(h->w), 1);
	b = util_group(h, weir_root(h->w), 10000);
	set_low(a, WEIR_READ, 0, 409600);
	rb = insert(h, b, 10);
	util_expect(h, insert(h, a, 1));
	ra = util_insert_as(h, a, NULL, WEIR_OP_READ, 64, 8);
	bio = util_bio(h, WEIR_OP_READ, 72, 8);
	bio->group = a;
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_BACK);
	weir_merge_bio(h->w, into, bio, WEIR_MERGE_BACK, h->now);
	h->now = begin_ns + 10 * MS;
	util_expect(h, rb);
	h->now = begin_ns + 20 * MS;
	util_expect(h, ra);
	util_host_stop(h);
}

/* A floor above other groups isn't theirs, and that is said. */
static void inner_floor_is_noted(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = util_group(h, weir_root(h->w), 100), *b;

	set_low(a, WEIR_READ, 100, 0);
	assert_int_equal(h->nr_notes, 0);
	b = util_group(h, a, 100);
	assert_int_equal(h->nr_notes, 1);
	assert_non_null(strstr(h->last_note, "own requests"));
	set_low(b, WEIR_READ, 100, 0);
	assert_int_equal(h->nr_notes, 1);
	set_low(a, WEIR_READ, 200, 0);
	assert_int_equal(h->nr_notes, 2);
}

/* Who has a floor of half the device may have half of the places, whatever its weight. */
static void floor_has_its_part_of_the_pool(void **state)
{
	struct util_host *h = &host;
	struct weir_group *a, *b;

	(void)state;
	util_host_init(h);
	h->cfg.pool = 128;
	util_host_start(h, &weir_policy_mclock, NULL);
	a = util_group(h, weir_root(h->w), 1);
	b = util_group(h, weir_root(h->w), 10000);
	insert(h, a, 1);
	insert(h, b, 1);
	assert_int_equal(weir_admit_limit(a, WEIR_READ), 2);
	set_low(a, WEIR_READ, 50000, 0); /* of 100,000 */
	assert_int_equal(weir_admit_limit(a, WEIR_READ), 64);
	set_low(a, WEIR_READ, 50000, 750000000); /* of 10^9 */
	assert_int_equal(weir_admit_limit(a, WEIR_READ), 96);
	set_low(a, WEIR_WRITE, 50000, 0);
	assert_int_equal(weir_admit_limit(a, WEIR_READ), 128);
	util_host_stop(h);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(weight_is_no_part_of_the_floor),
		TEST(directions_are_apart),
		TEST(floor_of_bytes),
		TEST(limit_tags),
		cmocka_unit_test(anticipation),
		cmocka_unit_test(burst),
		TEST(batches),
		TEST(depth),
		TEST(express_is_free),
		TEST(removal),
		cmocka_unit_test(merging),
		TEST(inner_floor_is_noted),
		cmocka_unit_test(floor_has_its_part_of_the_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
