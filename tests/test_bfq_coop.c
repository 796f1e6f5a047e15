// SPDX-License-Identifier: GPL-2.0-only
/*
 * BFQ between queues: early queue merge and its end, stable merges, and what becomes of requests when
 * a context goes or moves.
 */
#include "tests/bfq_util.h"

static struct util_host h;
static uint64_t values[WEIR_TUNABLES_MAX];
static struct weir_ctx *a, *b;

static void start(bool rotational)
{
	util_host_init(&h);
	h.cfg.profile.rotational = rotational;
	util_defaults(&weir_policy_bfq, values);
	util_tune(&weir_policy_bfq, values, "low_latency", 0);
	util_host_start(&h, &weir_policy_bfq, values);
	a = new_ctx(&h, weir_root(h.w));
	b = new_ctx(&h, weir_root(h.w));
}

static struct bfq_queue *queue_of(const struct weir_ctx *ctx)
{
	return bfq_process(ctx)->sync;
}

/* ---- early queue merge ---- */

/* Two that take turns: with its second request a goes over to b, which has asked for what is before. */
static void two_in_turns(uint32_t *first, uint32_t *second, uint32_t *third)
{
	*first = reads(&h, a, 0, 32);
	assert_ptr_equal(queue_of(a), home_of(a));
	*second = reads(&h, b, 32, 32);
	/* Nobody looks around while only one is busy. */
	assert_ptr_equal(queue_of(b), home_of(b));
	*third = reads(&h, a, 64, 32);
	assert_ptr_equal(queue_of(a), home_of(b));
}

static void cooperators_share_a_queue(void **state)
{
	uint32_t first, second, third;

	(void)state;
	start(true);
	two_in_turns(&first, &second, &third);
	assert_true(home_of(b)->coop);
	assert_int_equal(home_of(b)->nr_sharers, 2);
	assert_int_equal(home_of(a)->nr_queued, 1);
	assert_int_equal(home_of(b)->nr_queued, 2);
	/* No wait in between. */
	util_expect(&h, first);
	util_expect(&h, second);
	util_expect(&h, third);
	util_host_stop(&h);
}

/* One sector too far; another group. */
static void strangers_do_not(void **state)
{
	struct weir_ctx *c;

	(void)state;
	start(true);
	reads(&h, a, 0, 32);
	reads(&h, b, 40000, 32);
	reads(&h, a, 40000 - 8193, 32);
	assert_ptr_not_equal(queue_of(b), queue_of(a));
	util_host_stop(&h);

	start(true);
	reads(&h, a, 0, 32);
	reads(&h, b, 40000, 32);
	reads(&h, a, 40000 - 8192, 32);
	assert_ptr_equal(queue_of(b), queue_of(a));
	c = new_ctx(&h, util_group(&h, weir_root(h.w), 100));
	reads(&h, c, 32, 32);
	assert_ptr_equal(queue_of(c), home_of(c));
	util_host_stop(&h);
}

static void seeky_ones_are_not_joined(void **state)
{
	(void)state;
	start(true);
	reads(&h, a, 0, 32);
	reads(&h, b, 32, 32);
	home_of(b)->seek_history = UINT32_MAX;
	reads(&h, a, 64, 32);
	assert_ptr_equal(queue_of(a), home_of(a));
	util_host_stop(&h);
}

static void not_on_flash_that_queues(void **state)
{
	(void)state;
	start(false);
	h.now += SEC;
	reads(&h, a, 0, 32);
	h.now += 200 * MS; /* nor made by one parent in one go */
	reads(&h, b, 32, 32);
	reads(&h, a, 64, 32);
	assert_ptr_not_equal(queue_of(b), queue_of(a));
	util_host_stop(&h);
}

/* 100 ms after it began to be served in this backlog. */
static void too_late_to_merge(void **state)
{
	uint32_t first;

	uint64_t after_ms;

	(void)state;
	for (after_ms = 99; after_ms <= 101; after_ms++) {
		start(true);
		first = reads(&h, a, 0, 32);
		reads(&h, a, 32, 32);
		assert_int_equal(util_dispatch(&h), first);
		reads(&h, b, UINT64_C(1) << 30, 32);
		h.now += after_ms * MS;
		reads(&h, b, 64, 32);
		if (after_ms > 100)
			assert_ptr_equal(queue_of(b), home_of(b));
		else
			assert_ptr_equal(queue_of(b), home_of(a));
		util_complete(&h, first);
		util_host_stop(&h);
	}
}

static void seeky_queues_part(void **state)
{
	uint32_t first, second, third;

	(void)state;
	start(true);
	two_in_turns(&first, &second, &third);
	home_of(b)->seek_history = UINT32_MAX;
	/* Served up to its end: then it is known. */
	util_expect(&h, first);
	util_expect(&h, second);
	util_expect(&h, third);
	h.now += 100 * MS;
	/* The owner stays, and has it for itself when the other has gone. */
	reads(&h, b, UINT64_C(1) << 30, 8);
	assert_ptr_equal(queue_of(b), home_of(b));
	assert_true(home_of(b)->coop);
	reads(&h, a, 0, 8);
	assert_ptr_equal(queue_of(a), home_of(a));
	assert_false(home_of(a)->coop);
	reads(&h, b, UINT64_C(1) << 29, 8);
	assert_false(home_of(b)->coop);
	util_host_stop(&h);
}

/* Both were interactive when they met; so they are again when they have parted. */
static void raising_survives_a_merge(void **state)
{
	uint32_t first, second, third;

	(void)state;
	start(true);
	assert_int_equal(weir_tunable_set(h.w, BFQ_LOW_LATENCY, 1, h.now), 0);
	two_in_turns(&first, &second, &third);
	assert_int_equal(home_of(a)->raise.kind, BFQ_NOT_RAISED);
	assert_int_equal(home_of(b)->raise.kind, BFQ_INTERACTIVE);
	bfq_raise_end(bfq_of(h.w), home_of(b));
	home_of(b)->split = true;
	reads(&h, a, UINT64_C(1) << 30, 8);
	assert_ptr_equal(queue_of(a), home_of(a));
	assert_int_equal(home_of(a)->raise.kind, BFQ_INTERACTIVE);
	assert_int_equal(home_of(b)->raise.kind, BFQ_NOT_RAISED);
	reads(&h, b, UINT64_C(1) << 29, 8);
	assert_int_equal(home_of(b)->raise.kind, BFQ_INTERACTIVE);
	assert_int_equal(bfq_of(h.w)->nr_busy_raised, 2);
	util_host_stop(&h);
}

/* A bio is joined to a cooperator's request, not to a stranger's. */
static void bios_merge_within_the_queue(void **state)
{
	struct weir_rq *bio, *into;
	uint32_t first;

	(void)state;
	start(true);
	first = reads(&h, a, 1000, 8);
	reads(&h, b, UINT64_C(1) << 30, 8);
	bio = util_bio(&h, WEIR_OP_READ, 1008, 8);
	bio->ctx = a;
	assert_int_equal(weir_merge_find(h.w, bio, &into, h.now), WEIR_MERGE_BACK);
	assert_ptr_equal(into, &h.rq[first]);
	/* Close to a's next: b joins a for it. */
	bio->ctx = b;
	assert_int_equal(weir_merge_find(h.w, bio, &into, h.now), WEIR_MERGE_BACK);
	assert_ptr_equal(queue_of(b), queue_of(a));
	/* Nobody knows whose this is. */
	bio->ctx = NULL;
	assert_int_equal(weir_merge_find(h.w, bio, &into, h.now), WEIR_MERGE_NONE);
	util_host_stop(&h);
}

/* On flash, processes that one parent makes at once have one queue from the beginning. */
static void stable_merge_on_flash(void **state)
{
	struct weir_ctx *c;

	(void)state;
	start(false);
	reads(&h, a, 0, 8);
	h.now += 100 * MS;
	reads(&h, b, UINT64_C(1) << 30, 8);
	assert_ptr_equal(queue_of(b), queue_of(a));
	assert_true(bfq_process(b)->stably_merged);
	h.now += 100 * MS;
	c = new_ctx(&h, weir_root(h.w));
	reads(&h, c, UINT64_C(1) << 31, 8);
	assert_ptr_equal(queue_of(c), home_of(c));
	util_host_stop(&h);
}

/* With an arm: when they are 600 ms old and idling for them doesn't pay. */
static void stable_merge_later(void **state)
{
	(void)state;
	start(true);
	reads(&h, a, 0, 8);
	reads(&h, b, UINT64_C(1) << 30, 8);
	assert_ptr_equal(queue_of(b), home_of(b));
	bfq_of(h.w)->queueing = 1;
	h.now += 601 * MS;
	home_of(b)->seek_history = UINT32_MAX;
	reads(&h, b, UINT64_C(1) << 31, 8);
	assert_ptr_equal(queue_of(b), queue_of(a));
	util_host_stop(&h);

	/* It streams: better alone. */
	start(true);
	reads(&h, a, 0, 8);
	reads(&h, b, UINT64_C(1) << 30, 8);
	bfq_of(h.w)->queueing = 1;
	h.now += 601 * MS;
	home_of(b)->seek_history = 0;
	reads(&h, b, (UINT64_C(1) << 30) + 8, 8);
	assert_ptr_equal(queue_of(b), home_of(b));
	util_host_stop(&h);
}

/* ---- contexts that go ---- */

/* a's requests are in b's queue, one of them in the device, and b goes. */
static void owner_goes(bool queued)
{
	uint32_t first, second, third, fourth = UTIL_NONE;

	start(true);
	two_in_turns(&first, &second, &third);
	util_expect(&h, first);
	util_expect(&h, second);
	assert_int_equal(util_dispatch(&h), third);
	assert_int_equal(home_of(a)->dispatched, 0);
	if (queued)
		fourth = reads(&h, a, 96, 32);
	weir_ctx_exit(b, h.now);
	assert_ptr_equal(queue_of(a), home_of(a));
	assert_int_equal(home_of(a)->nr_queued, queued);
	assert_int_equal(home_of(a)->dispatched, 1);
	assert_int_equal(bfq_of(h.w)->groups_pending, 1);
	if (!queued)
		fourth = reads(&h, a, 96, 32);
	util_complete(&h, third);
	assert_int_equal(home_of(a)->dispatched, 0);
	util_expect(&h, fourth);
	util_host_stop(&h);
}

static void the_owner_of_a_shared_queue_goes(void **state)
{
	(void)state;
	owner_goes(true);
	owner_goes(false);
}

static void requests_of_one_that_moves_stay(void **state)
{
	struct weir_group *g;
	struct bfq_queue *anonymous;
	uint32_t first, second;

	(void)state;
	start(true);
	g = util_group(&h, weir_root(h.w), 100);
	anonymous = &bfq_group(weir_root(h.w))->anonymous;
	first = reads(&h, a, 0, 32);
	second = reads(&h, a, 32, 32);
	weir_ctx_move(a, g, h.now);
	assert_int_equal(anonymous->nr_queued, 2);
	assert_null(queue_of(a));
	reads(&h, a, 64, 32);
	assert_ptr_equal(home_of(a)->group, bfq_group(g));
	assert_int_equal(home_of(a)->nr_queued, 1);
	(void)first;
	(void)second;
	util_host_stop(&h);
}

/* Nobody is waited for who has gone. */
static void no_idling_for_the_dead(void **state)
{
	uint32_t first, other;

	(void)state;
	start(true);
	first = reads(&h, a, 0, 8);
	assert_int_equal(util_dispatch(&h), first);
	other = reads(&h, b, UINT64_C(1) << 30, 8);
	weir_ctx_exit(a, h.now);
	util_complete(&h, first);
	util_expect(&h, other);
	util_host_stop(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cooperators_share_a_queue),
		cmocka_unit_test(strangers_do_not),
		cmocka_unit_test(seeky_ones_are_not_joined),
		cmocka_unit_test(not_on_flash_that_queues),
		cmocka_unit_test(too_late_to_merge),
		cmocka_unit_test(seeky_queues_part),
		cmocka_unit_test(raising_survives_a_merge),
		cmocka_unit_test(bios_merge_within_the_queue),
		cmocka_unit_test(stable_merge_on_flash),
		cmocka_unit_test(stable_merge_later),
		cmocka_unit_test(the_owner_of_a_shared_queue_goes),
		cmocka_unit_test(requests_of_one_that_moves_stay),
		cmocka_unit_test(no_idling_for_the_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
