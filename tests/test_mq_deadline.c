// SPDX-License-Identifier: GPL-2.0-only
/* mq-deadline: batches, levels by I/O priority, and aging. */
#include "tests/toy_device.h"

#include "core/spi.h"

static struct util_host host;

#define MS UINT64_C(1000000)
#define AGING (10000 * MS)

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

static uint32_t insert_class(struct util_host *h, enum weir_ioprio_class class, enum weir_op op,
			     uint64_t sector)
{
	struct weir_rq *rq = util_bio(h, op, sector, op == WEIR_OP_FLUSH ? 0 : 8);

	rq->ioprio_class = (uint8_t) class;
	weir_insert(h->w, rq, WEIR_TAIL, h->now);
	return h->nr_rqs - 1;
}

static uint32_t read_class(struct util_host *h, enum weir_ioprio_class class, uint64_t sector)
{
	return insert_class(h, class, WEIR_OP_READ, sector);
}

/* Nothing goes, and that is when to ask again. */
static void expect_none_until(struct util_host *h, uint64_t at_ns)
{
	struct weir_next next;

	assert_null(weir_dispatch(h->w, h->now, &next));
	assert_int_equal(next.at_ns, at_ns);
}

/* Dispatches, without completing. */
static void expect_start(struct util_host *h, uint32_t index)
{
	assert_int_equal(util_dispatch(h), index);
}

/* ---- batches, as deadline's ---- */

static void expect_batch(struct util_host *h, enum weir_op op, uint32_t n)
{
	while (n--) {
		uint32_t got = util_dispatch(h);

		assert_int_not_equal(got, UTIL_NONE);
		assert_int_equal(h->rq[got].op, op);
		util_complete(h, got);
	}
}

/* The direction of the batch that has just begun. */
static void begin_with_a_read(struct util_host *h)
{
	util_set_tunable(h, "writes_starved", 2);
	util_expect(h, util_insert(h, WEIR_OP_READ, 0, 8));
}

/* 32 reads for every 16 writes. At the very beginning it is as if writes had just had their turn. */
static void batches_rrw(void **state)
{
	struct util_host *h = *state;
	uint32_t n, round;

	for (n = 0; n < 200; n++) {
		util_insert(h, WEIR_OP_READ, n * 100, 8);
		util_insert(h, WEIR_OP_WRITE, n * 100, 8);
	}
	expect_batch(h, WEIR_OP_WRITE, 16);
	for (round = 0; round < 5; round++) {
		expect_batch(h, WEIR_OP_READ, 32);
		expect_batch(h, WEIR_OP_WRITE, 16);
	}
	util_set_tunable(h, "writes_starved", 1);
	util_set_tunable(h, "fifo_batch", 4);
	expect_batch(h, WEIR_OP_READ, 4);
	expect_batch(h, WEIR_OP_WRITE, 4);
	expect_batch(h, WEIR_OP_READ, 4);
}

/* Each direction goes on where it was, whatever the other did in between. */
static void directions_remember_their_place(void **state)
{
	struct util_host *h = *state;
	uint32_t r[4], wr[2];

	begin_with_a_read(h);
	util_set_tunable(h, "fifo_batch", 2);
	util_set_tunable(h, "writes_starved", 1);
	r[0] = util_insert(h, WEIR_OP_READ, 300, 8);
	r[1] = util_insert(h, WEIR_OP_READ, 200, 8);
	r[2] = util_insert(h, WEIR_OP_READ, 400, 8);
	r[3] = util_insert(h, WEIR_OP_READ, 500, 8);
	wr[0] = util_insert(h, WEIR_OP_WRITE, 1000, 8);
	wr[1] = util_insert(h, WEIR_OP_WRITE, 900, 8);
	/* Second of the batch; then a new one, further up. */
	util_expect(h, r[1]);
	util_expect(h, r[0]);
	util_expect(h, r[2]);
	/* No write was dispatched yet: from sector 0 upwards, not the oldest. */
	util_expect(h, wr[1]);
	util_expect(h, wr[0]);
	util_expect(h, r[3]);
}

/* At the top, or when the oldest has expired: the oldest. Looked at between batches only. */
static void expiry_between_batches(void **state)
{
	struct util_host *h = *state;
	uint32_t low, n, up;

	util_set_tunable(h, "fifo_batch", 2);
	util_expect(h, util_insert(h, WEIR_OP_READ, 100000, 8));
	low = util_insert(h, WEIR_OP_READ, 8, 8);
	up = low + 1;
	for (n = 0; n < 6; n++)
		util_insert(h, WEIR_OP_READ, 200000 + n * 100, 8);
	util_expect(h, up); /* second of the batch */
	h->now += 500 * MS - 1;
	util_expect(h, up + 1); /* a new one, not expired */
	h->now += 1;
	util_expect(h, up + 2);
	util_expect(h, low); /* between batches: expired */
	/* So are all others; they are in order. */
	util_expect(h, up + 3);
	util_expect(h, up + 4);
	util_expect(h, up + 5);
	util_expect(h, UTIL_NONE);
}

/* The successor may begin where the last one did. */
static void same_sector_again(void **state)
{
	struct util_host *h = *state;
	uint32_t a, b, c;

	a = util_insert(h, WEIR_OP_READ, 1000, 8);
	util_expect(h, a);
	c = util_insert(h, WEIR_OP_READ, 2000, 8);
	b = util_insert(h, WEIR_OP_READ, 1000, 8);
	util_expect(h, b);
	util_expect(h, c);
}

/* ---- levels ---- */

static void levels_in_order(void **state)
{
	struct util_host *h = *state;
	uint32_t idle, none, be, rt, rt_write;

	begin_with_a_read(h);
	idle = read_class(h, WEIR_IOPRIO_IDLE, 100);
	none = read_class(h, WEIR_IOPRIO_NONE, 200);
	be = read_class(h, WEIR_IOPRIO_BE, 300);
	rt_write = insert_class(h, WEIR_IOPRIO_RT, WEIR_OP_WRITE, 400);
	rt = read_class(h, WEIR_IOPRIO_RT, 500);
	util_expect(h, rt);
	util_expect(h, rt_write); /* even a write of a higher level goes before reads of a lower */
	util_expect(h, none);	  /* no class is best effort */
	util_expect(h, be);
	util_expect(h, idle);
}

/* In the device counts as well: the device has room, and still nothing goes. */
static void lower_levels_wait_for_completion(void **state)
{
	struct util_host *h = *state;
	uint64_t inserted_ns = h->now;
	uint32_t idle, be, rt;

	idle = read_class(h, WEIR_IOPRIO_IDLE, 100);
	be = read_class(h, WEIR_IOPRIO_BE, 300);
	rt = read_class(h, WEIR_IOPRIO_RT, 300);
	expect_start(h, rt);
	h->now += MS;
	expect_none_until(h, inserted_ns + AGING);
	util_complete(h, rt);
	expect_start(h, be);
	expect_none_until(h, inserted_ns + AGING);
	util_complete(h, be);
	util_expect(h, idle);
}

/* A stream of best effort and one idle request: after 10 s, not before. */
static void aging(void **state)
{
	struct util_host *h = *state;
	uint64_t begin_ns = h->now;
	uint32_t idle, be, n;

	idle = read_class(h, WEIR_IOPRIO_IDLE, 100);
	be = read_class(h, WEIR_IOPRIO_BE, 0);
	for (n = 1; h->now + 10 * MS < begin_ns + AGING; n++) {
		expect_start(h, be);
		h->now += 10 * MS;
		util_complete(h, be);
		be = read_class(h, WEIR_IOPRIO_BE, n * 8);
	}
	expect_start(h, be);
	h->now = begin_ns + AGING - 1;
	expect_none_until(h, begin_ns + AGING);
	read_class(h, WEIR_IOPRIO_BE, n * 8);
	h->now++;
	expect_start(h, idle);
	/* The next one waits as long, from its own insertion. */
	idle = read_class(h, WEIR_IOPRIO_IDLE, 100);
	expect_start(h, h->nr_rqs - 2);
	expect_none_until(h, begin_ns + 2 * AGING);
	h->now = begin_ns + 2 * AGING;
	expect_start(h, idle);
}

/* Best effort ages before idle does. */
static void aging_in_order(void **state)
{
	struct util_host *h = *state;
	uint32_t idle, be, rt;

	util_set_tunable(h, "prio_aging_expire", 50);
	rt = read_class(h, WEIR_IOPRIO_RT, 0);
	expect_start(h, rt);
	idle = read_class(h, WEIR_IOPRIO_IDLE, 100);
	h->now += 30 * MS;
	be = read_class(h, WEIR_IOPRIO_BE, 100);
	expect_none_until(h, h->now + 20 * MS);
	h->now += 50 * MS;
	expect_start(h, be);
	expect_start(h, idle);
}

/* What a level would give is looked at; an older one behind it may have to wait. */
static void aging_looks_at_the_choice(void **state)
{
	struct util_host *h = *state;
	uint64_t begin_ns = h->now;
	uint32_t rt, a, old, young;

	util_set_tunable(h, "prio_aging_expire", 100);
	a = read_class(h, WEIR_IOPRIO_IDLE, 1000);
	util_expect(h, a);
	rt = read_class(h, WEIR_IOPRIO_RT, 0);
	expect_start(h, rt);
	old = read_class(h, WEIR_IOPRIO_IDLE, 8);
	h->now += 60 * MS;
	young = read_class(h, WEIR_IOPRIO_IDLE, 2000);
	/* The batch goes on upwards. */
	expect_none_until(h, begin_ns + 160 * MS);
	h->now = begin_ns + 100 * MS;
	expect_none_until(h, begin_ns + 160 * MS);
	/* Between batches it would be the oldest, but only once that has expired. */
	util_set_tunable(h, "fifo_batch", 1);
	expect_none_until(h, begin_ns + 160 * MS);
	util_set_tunable(h, "read_expire", 500);
	util_set_tunable(h, "prio_aging_expire", 450);
	expect_none_until(h, begin_ns + 500 * MS);
	h->now = begin_ns + 500 * MS;
	expect_start(h, old);
	util_set_tunable(h, "prio_aging_expire", 100);
	expect_start(h, young);
}

/* Asking while nothing may go leaves no trace: writes have stood back as often as before. */
static void refused_tries_leave_no_trace(void **state)
{
	struct util_host *h = *state;
	uint32_t n, rt;

	util_set_tunable(h, "fifo_batch", 1);
	rt = read_class(h, WEIR_IOPRIO_RT, 0);
	expect_start(h, rt);
	for (n = 0; n < 4; n++) {
		util_insert(h, WEIR_OP_READ, n * 100, 8);
		util_insert(h, WEIR_OP_WRITE, n * 100, 8);
	}
	for (n = 0; n < 10; n++)
		expect_none_until(h, h->now + AGING);
	util_complete(h, rt);
	expect_batch(h, WEIR_OP_READ, 2);
	expect_batch(h, WEIR_OP_WRITE, 1);
	expect_batch(h, WEIR_OP_READ, 2);
	expect_batch(h, WEIR_OP_WRITE, 1);
}

static void removal_frees_the_lower_level(void **state)
{
	struct util_host *h = *state;
	uint32_t idle, a, b;

	idle = read_class(h, WEIR_IOPRIO_IDLE, 0);
	a = read_class(h, WEIR_IOPRIO_BE, 100);
	b = read_class(h, WEIR_IOPRIO_BE, 200);
	expect_start(h, a);
	assert_int_equal(weir_remove(h->w, &h->rq[b], h->now), 0);
	expect_none_until(h, h->now + AGING);
	/* Back in the queue, counted once. */
	weir_requeue(h->w, &h->rq[a], WEIR_REQUEUE_INSERT, h->now);
	expect_start(h, a);
	expect_none_until(h, h->now + AGING);
	util_complete(h, a);
	util_expect(h, idle);
}

/* Flushes go past the levels and hold none of them back; what is put at the head holds its own. */
static void flush_and_head(void **state)
{
	struct util_host *h = *state;
	struct weir_rq *head;
	uint32_t idle, flush;
	enum weir_merge kind;

	idle = read_class(h, WEIR_IOPRIO_IDLE, 1000);
	flush = insert_class(h, WEIR_IOPRIO_BE, WEIR_OP_FLUSH, 0);
	expect_start(h, flush);
	util_expect(h, idle);
	idle = read_class(h, WEIR_IOPRIO_IDLE, 1000);
	head = util_bio(h, WEIR_OP_READ, 5000, 8);
	weir_insert(h->w, head, WEIR_HEAD, h->now);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 5008, 8, &kind), UTIL_NONE);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 4992, 8, &kind), UTIL_NONE);
	assert_ptr_equal(weir_dispatch(h->w, h->now, NULL), head);
	expect_none_until(h, h->now + AGING);
	weir_complete(h->w, head, h->now);
	util_expect(h, idle);
	util_complete(h, flush);
	/* Best effort goes on where the head was. */
	read_class(h, WEIR_IOPRIO_BE, 100);
	util_expect(h, read_class(h, WEIR_IOPRIO_BE, 6000));
}

/* A drain goes through all levels at once. */
static void drain(void **state)
{
	struct util_host *h = *state;

	util_set_tunable(h, "async_depth", 1);
	expect_start(h, read_class(h, WEIR_IOPRIO_RT, 0));
	read_class(h, WEIR_IOPRIO_BE, 100);
	insert_class(h, WEIR_IOPRIO_IDLE, WEIR_OP_WRITE, 100);
	insert_class(h, WEIR_IOPRIO_RT, WEIR_OP_WRITE, 200);
	expect_none_until(h, h->now + AGING);
	weir_set_drain(h->w, true, h->now);
	expect_start(h, 1);
	expect_start(h, 2);
	expect_start(h, 3);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
}

/* Waiting for a higher level is the others' turn. */
static void the_wait_is_others_turn(void **state)
{
	struct util_host *h = *state;
	struct weir_group *low = util_group(h, weir_root(h->w), 100);
	struct weir_group_stats stats;
	uint32_t be = read_class(h, WEIR_IOPRIO_BE, 0);
	struct weir_rq *rq;

	expect_start(h, be);
	rq = util_bio(h, WEIR_OP_READ, 100, 8);
	rq->group = low;
	rq->ioprio_class = WEIR_IOPRIO_IDLE;
	weir_insert(h->w, rq, WEIR_TAIL, h->now);
	assert_null(weir_dispatch(h->w, h->now, NULL));
	h->now += 7 * MS;
	util_complete(h, be);
	assert_ptr_equal(weir_dispatch(h->w, h->now, NULL), rq);
	weir_group_read_stats(low, h->now, &stats);
	assert_int_equal(stats.backlogged_ns, 7 * MS);
	assert_int_equal(stats.wait_ns[WEIR_WAIT_SHARE], 7 * MS);
	weir_complete(h->w, rq, h->now);
}

/* ---- a closed loop ---- */

/* Two readers of best effort leave an idle one nothing; with one, it gets in between. */
static void idle_starves_beside_two(void **state)
{
	struct toy_stream *idle, *be;
	struct toy t;
	uint32_t n;

	(void)state;
	for (n = 1; n <= 2; n++) {
		toy_init(&t);
		toy_start(&t, &weir_policy_mq_deadline, NULL);
		idle = toy_stream(&t, weir_root(t.w), 8);
		idle->ioprio_class = WEIR_IOPRIO_IDLE;
		toy_start_stream(&t, idle);
		toy_run(&t, 100 * TOY_MS);
		be = toy_stream(&t, weir_root(t.w), n);
		be->think_ns = n == 1 ? 100 * TOY_US : 0;
		toy_start_stream(&t, be);
		toy_run(&t, 100 * TOY_MS);
		toy_clear(&t);
		toy_run(&t, 5 * TOY_S);
		if (n == 1)
			assert_true(idle->done > 1000);
		else
			assert_int_equal(idle->done, 0);
		toy_run(&t, 6 * TOY_S);
		/* All eight have aged by then, and none a second time. */
		if (n == 2)
			assert_int_equal(idle->done, 8);
		toy_stop(&t);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(batches_rrw),
		TEST(directions_remember_their_place),
		TEST(expiry_between_batches),
		TEST(same_sector_again),
		TEST(levels_in_order),
		TEST(lower_levels_wait_for_completion),
		TEST(aging),
		TEST(aging_in_order),
		TEST(aging_looks_at_the_choice),
		TEST(refused_tries_leave_no_trace),
		TEST(removal_frees_the_lower_level),
		TEST(flush_and_head),
		TEST(drain),
		TEST(the_wait_is_others_turn),
		cmocka_unit_test(idle_starves_beside_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
