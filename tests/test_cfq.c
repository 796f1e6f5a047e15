// SPDX-License-Identifier: GPL-2.0-only
/*
 * CFQ: which request of a queue goes next, and how many may be in the driver.
 */
#include "tests/cfq_steps.h"

/* ---- the next request ---- */

/* On from the head; back if that is less than half as far; beyond back_seek_max only at last. */
static void nearest_first(void **state)
{
	uint32_t at[6];

	(void)state;
	start("back_seek_max", 100);
	util_expect(h, util_insert(h, WEIR_OP_READ, 992, 8)); /* the head is at 1000 */
	at[0] = util_insert(h, WEIR_OP_READ, 1100, 8);
	at[1] = util_insert(h, WEIR_OP_READ, 940, 8); /* counts as 120 away */
	at[2] = util_insert(h, WEIR_OP_READ, 2000, 8);
	at[3] = util_insert(h, WEIR_OP_READ, 500, 8); /* 250 KiB back from here: too far */
	at[4] = util_insert(h, WEIR_OP_READ, 400, 8);
	util_expect(h, at[0]);
	/* From 1100: 940 counts as 320, 2000 is 900 away. */
	util_expect(h, at[1]);
	util_expect(h, at[2]);
	util_expect(h, at[4]);
	util_expect(h, at[3]);
	util_host_stop(h);
}

static void metadata_first(void **state)
{
	struct weir_ctx *p;
	uint32_t near, meta;

	(void)state;
	start(NULL, 0);
	p = any_process();
	near = read_at(p, 8);
	meta = insert(p, WEIR_OP_READ, 4000, WEIR_RQ_META);
	util_expect(h, meta);
	util_expect(h, near);
	util_host_stop(h);
}

/* The oldest request goes first if it has expired, once in a slice. */
static void fifo(void **state)
{
	uint32_t old[2], near;

	(void)state;
	start(NULL, 0);
	old[0] = util_insert(h, WEIR_OP_READ, FAR, 8);
	old[1] = util_insert(h, WEIR_OP_READ, 2 * FAR, 8);
	h->now += 124 * MS;
	near = util_insert(h, WEIR_OP_READ, 0, 8);
	h->now += 1 * MS;
	util_expect(h, old[0]);
	h->now += 1 * MS;
	/* From there it is on to the other one, expired or not; the near one is behind the head. */
	util_expect(h, old[1]);
	util_expect(h, near);
	util_host_stop(h);

	start("fifo_expire_sync", 126);
	old[0] = util_insert(h, WEIR_OP_READ, FAR, 8);
	h->now += 125 * MS;
	near = util_insert(h, WEIR_OP_READ, 0, 8);
	util_expect(h, near);
	util_expect(h, old[0]);
	util_host_stop(h);
}

/* ---- how many in the driver ---- */

static void quantum(void **state)
{
	struct weir_ctx *a, *b;
	uint32_t first, n;

	(void)state;
	start(NULL, 0);
	a = any_process();
	first = read_at(a, 0);
	for (n = 1; n < 20; n++)
		read_at(a, 8 * n);
	b = any_process();
	read_at(b, FAR);
	/* Nothing has completed: half. */
	assert_int_equal(start_all(), 4);
	/* 3 x 8 ms fit into the slice that begins: all of it. */
	util_complete(h, first);
	assert_int_equal(start_all(), 5);
	/* 8 x 8 ms don't fit into what is left of it. */
	h->now += 40 * MS;
	util_complete(h, first + 1);
	assert_int_equal(start_all(), 1);
	h->now += 20 * MS;
	util_complete(h, first + 2);
	assert_int_equal(start_all(), 0);
	expect_wait(40 * MS); /* the end of the slice */
	util_host_stop(h);
}

/* A queue alone has no limit; nor has one that is the only sync one. */
static void no_limit(void **state)
{
	struct weir_ctx *a;
	uint32_t n;

	(void)state;
	start(NULL, 0);
	a = any_process();
	for (n = 0; n < 30; n++)
		read_at(a, 8 * n);
	assert_int_equal(start_all(), 30);
	write_at(a, FAR);
	for (n = 30; n < 60; n++)
		read_at(a, 8 * n);
	assert_int_equal(start_all(), 30);
	util_host_stop(h);
}

/* Sync requests wait until async ones have drained, and the other way round. */
static void drains(void **state)
{
	struct weir_ctx *a;
	uint32_t w[2], r;

	(void)state;
	start(NULL, 0);
	a = any_process();
	w[0] = write_at(a, 0);
	w[1] = write_at(a, 1000);
	expect_start(w[0]);
	r = read_at(a, FAR); /* preempts */
	expect_wait(WEIR_NEVER);
	util_complete(h, w[0]);
	expect_start(r);
	expect_wait(WEIR_NEVER);
	util_complete(h, r);
	expect_wait(8 * MS); /* the reader may have more */
	h->now += 8 * MS;
	util_expect(h, w[1]);
	util_host_stop(h);
}

/* Without waiting, it is this alone that keeps an async request from going beside a sync one. */
static void async_after_sync(void **state)
{
	struct weir_ctx *a;
	uint32_t r, w;

	(void)state;
	start("slice_idle", 0);
	a = any_process();
	r = read_at(a, 0);
	w = write_at(a, FAR);
	expect_start(r);
	expect_wait(WEIR_NEVER);
	util_complete(h, r);
	expect_start(w);
	util_host_stop(h);
}

/* After a late sync request async depth begins at one, and grows by one each slice_sync. */
static void async_ramp(void **state)
{
	struct weir_ctx *a;
	uint32_t late, first, n;
	uint64_t delayed_ns;

	(void)state;
	start(NULL, 0);
	a = any_process();
	late = read_at(a, 0);
	expect_start(late);
	h->now += 125 * MS;
	util_complete(h, late);
	delayed_ns = h->now;
	first = write_at(a, FAR);
	for (n = 1; n < 20; n++)
		write_at(a, FAR + 8 * n);
	h->now += 8 * MS; /* nobody reads on */
	assert_int_equal(start_all(), 1);
	expect_wait(delayed_ns + 200 * MS - h->now);
	util_complete(h, first);
	assert_int_equal(start_all(), 1);
	h->now = delayed_ns + 199 * MS;
	util_complete(h, first + 1);
	assert_int_equal(start_all(), 1);
	expect_wait(1 * MS);
	h->now += 1 * MS;
	assert_int_equal(start_all(), 1);
	expect_wait(100 * MS);
	h->now = delayed_ns + 350 * MS;
	util_complete(h, first + 2);
	util_complete(h, first + 3);
	assert_int_equal(start_all(), 3);
	util_host_stop(h);

	start("low_latency", 0);
	a = any_process();
	late = read_at(a, 0);
	expect_start(late);
	h->now += 125 * MS;
	util_complete(h, late);
	for (n = 0; n < 20; n++)
		write_at(a, FAR + 8 * n);
	h->now += 8 * MS;
	assert_int_equal(start_all(), 20);
	util_host_stop(h);
}

/* An async slice ends with 2 x slice_async_rq x (8 - level) requests, if others wait. */
static void async_requests(void **state)
{
	struct weir_ctx *high, *low;
	uint32_t n, first, done = 0;

	(void)state;
	start(NULL, 0);
	high = process(root, WEIR_IOPRIO_BE, 0);
	low = process(root, WEIR_IOPRIO_BE, 6);
	first = h->nr_rqs;
	for (n = 0; n < 40; n++)
		write_at(high, 8 * n);
	for (n = 0; n < 40; n++)
		write_at(low, FAR + 8 * n);
	/* 32 of the one, 8 of the other, ... */
	for (; done < 32 + 8 + 8; done++) {
		n = util_dispatch(h) - first;
		assert_true(done < 32 || done >= 40 ? n < 40 : n >= 40 && n < 80);
		util_complete(h, first + n);
	}
	util_host_stop(h);
}

/* ---- settings ---- */

static void notes(void **state)
{
	struct weir_group_attr attr;

	(void)state;
	start(NULL, 0);
	assert_int_equal(h->nr_notes, 0);
	util_group(h, root, 2000);
	assert_int_equal(h->nr_notes, 1);
	assert_string_equal(h->last_note,
			    "cfq: weight 2000 of group 1 is outside 10..1000, taken as 1000");
	weir_group_get(root, &attr);
	attr.own_weight = 5;
	assert_int_equal(weir_group_set(root, &attr, h->now), 0);
	assert_string_equal(h->last_note,
			    "cfq: own weight 5 of group 0 is outside 10..1000, taken as 10");
	util_host_stop(h);

	util_host_init(h);
	util_host_start(h, &weir_policy_cfq, NULL);
	assert_int_equal(h->nr_notes, 0);
	assert_int_equal(
		weir_tunable_set(h->w,
				 (unsigned int)weir_tunable_find(&weir_policy_cfq, "slice_idle"), 4,
				 h->now),
		0);
	assert_int_equal(h->nr_notes, 1);
	util_host_stop(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearest_first),
		cmocka_unit_test(metadata_first),
		cmocka_unit_test(fifo),
		cmocka_unit_test(quantum),
		cmocka_unit_test(no_limit),
		cmocka_unit_test(drains),
		cmocka_unit_test(async_after_sync),
		cmocka_unit_test(async_ramp),
		cmocka_unit_test(async_requests),
		cmocka_unit_test(notes),
	};

	return cmocka_run_group_tests_name("cfq", tests, NULL, NULL);
}
