// SPDX-License-Identifier: GPL-2.0-only
/* efq step by step: turns, waits, virtual time, and a change of the leaf order under load. */
#include "tests/util_host.h"

#include "core/spi.h"

#define MS UINT64_C(1000000)

static struct util_host host;
static struct weir_group *a, *b;

static void set(struct util_host *h, const char *name, uint64_t value)
{
	int index = weir_tunable_find(&weir_policy_efq, name);

	assert_true(index >= 0);
	assert_int_equal(weir_tunable_set(h->w, (unsigned int)index, value, h->now), 0);
}

/* Two groups, weights 200 and 100. */
static int setup(void **state)
{
	util_host_init(&host);
	util_host_start(&host, &weir_policy_efq, NULL);
	a = util_group(&host, weir_root(host.w), 200);
	b = util_group(&host, weir_root(host.w), 100);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static uint32_t put(struct util_host *h, struct weir_group *g, enum weir_op op, uint64_t sector)
{
	return util_insert_as(h, g, NULL, op, sector, 8);
}

static uint64_t asleep_until(struct util_host *h)
{
	struct weir_next next;

	assert_null(weir_dispatch(h->w, h->now, &next));
	return next.at_ns;
}

/* Dispatched now, and completed so much later. */
static void serve(struct util_host *h, uint32_t rq, uint64_t length_ns)
{
	assert_int_equal(util_dispatch(h), rq);
	h->now += length_ns;
	util_complete(h, rq);
}

/* 100 ms of slice from the first completion on; 250 ms of virtual time for a, 500 for b. */
static void turns_by_weight(void **state)
{
	static const char want[] = "abaabaabaaba";
	struct util_host *h = *state;
	uint32_t at_a[200], at_b[100], n, next_a = 0, next_b = 0, turn;

	for (n = 0; n < 200; n++)
		at_a[n] = put(h, a, WEIR_OP_READ, 1000 * n);
	for (n = 0; n < 100; n++)
		at_b[n] = put(h, b, WEIR_OP_READ, 1000 * n);
	/* Each turn: one that isn't counted, ten of 10 ms. The slice is over with the last of them. */
	for (turn = 0; want[turn]; turn++)
		for (n = 0; n < 11; n++)
			serve(h, want[turn] == 'a' ? at_a[next_a++] : at_b[next_b++], 10 * MS);
	weir_set_drain(h->w, true, h->now);
	while (util_dispatch(h) != UTIL_NONE)
		;
	for (n = 0; n < h->nr_rqs; n++)
		if (h->rq[n].state == WEIR_RQ_DISPATCHED)
			util_complete(h, n);
}

/* Empty: slice_idle from the completion on, group_idle at the end of the slice, then the others. */
static void waits_when_empty(void **state)
{
	struct util_host *h = *state;
	uint32_t mine = put(h, a, WEIR_OP_READ, 0), other;

	assert_int_equal(util_dispatch(h), mine);
	other = put(h, b, WEIR_OP_READ, 5000);
	/* It is in the device, and worth waiting for. */
	assert_true(asleep_until(h) == WEIR_NEVER);
	h->now += 3 * MS;
	util_complete(h, mine);
	assert_true(asleep_until(h) == h->now + 8 * MS);
	h->now += 7 * MS;
	assert_true(asleep_until(h) == h->now + 1 * MS);
	serve(h, put(h, a, WEIR_OP_READ, 8), 89 * MS);
	/* Two ms are left of the slice, and the wait isn't cut off by its end. */
	set(h, "group_idle", 20);
	set(h, "slice_idle", 0);
	serve(h, put(h, a, WEIR_OP_READ, 16), 2 * MS);
	assert_true(asleep_until(h) == h->now + 20 * MS);
	h->now += 20 * MS;
	serve(h, other, 1 * MS);
	/* Nobody waits for more writes. */
	h->now += 20 * MS;
	mine = put(h, a, WEIR_OP_WRITE, 0);
	assert_int_equal(util_dispatch(h), mine);
	other = put(h, b, WEIR_OP_READ, 5000);
	serve(h, other, 1 * MS);
	util_complete(h, mine);
}

/* A request that comes after the end of the slice finds its group in the tree, and waits its turn. */
static void a_wait_keeps_the_place(void **state)
{
	struct util_host *h = *state;
	uint32_t other, late;

	serve(h, put(h, a, WEIR_OP_READ, 0), 10 * MS);
	other = put(h, b, WEIR_OP_READ, 5000);
	serve(h, put(h, a, WEIR_OP_READ, 8), 100 * MS);
	assert_true(asleep_until(h) == h->now + 8 * MS);
	late = put(h, a, WEIR_OP_READ, 16);
	serve(h, other, 10 * MS);
	assert_true(asleep_until(h) == h->now + 8 * MS);
	h->now += 8 * MS;
	serve(h, late, 1 * MS);
}

/* A pause gives nothing: who comes back after a second has no second of credit. */
static void no_credit_for_pauses(void **state)
{
	struct util_host *h = *state;
	uint32_t at_b[32], n, back[12];

	set(h, "slice_idle", 0);
	set(h, "group_idle", 0);
	for (n = 0; n < 32; n++)
		at_b[n] = put(h, b, WEIR_OP_READ, 1000 * n);
	/* Ten in a turn, its slice full with the last of them; b is alone, and goes on. */
	for (n = 0; n < 22; n++)
		serve(h, at_b[n], 10 * MS);
	for (n = 0; n < 12; n++)
		back[n] = put(h, a, WEIR_OP_READ, 1000 * n);
	for (n = 0; n < 11; n++)
		serve(h, back[n], 10 * MS);
	/* b's last turn counts: 500 ms against a's 250. */
	serve(h, back[11], 10 * MS);
	for (n = 22; n < 32; n++)
		serve(h, at_b[n], 10 * MS);
}

/* The next turn begins when the device is empty; without fairness at once. */
static void fairness_drains(void **state)
{
	struct util_host *h = *state;
	uint32_t one, two, other;

	set(h, "slice_idle", 0);
	set(h, "group_idle", 0);
	set(h, "fairness", 1);
	one = put(h, a, WEIR_OP_READ, 0);
	two = put(h, a, WEIR_OP_READ, 8);
	other = put(h, b, WEIR_OP_READ, 5000);
	assert_int_equal(util_dispatch(h), one);
	assert_int_equal(util_dispatch(h), two);
	assert_true(asleep_until(h) == WEIR_NEVER);
	h->now += 5 * MS;
	util_complete(h, one);
	assert_true(asleep_until(h) == WEIR_NEVER);
	set(h, "fairness", 0);
	assert_int_equal(util_dispatch(h), other);
	util_complete(h, two);
	util_complete(h, other);
}

/* Queued and in flight, from order to order: nothing is lost, and each goes by its rules. */
static void leaf_changes_under_load(void **state)
{
	struct util_host *h = *state;
	static const uint64_t sector[] = {5000, 1000, 9000, 3000};
	struct weir_ctx *ctx = weir_ctx_create(h->w, a, WEIR_IOPRIO_NONE, 0, h->now);
	uint32_t rq[4], first, n;

	set(h, "slice_idle", 0);
	set(h, "group_idle", 0);
	for (n = 0; n < 4; n++)
		rq[n] = util_insert_as(h, a, ctx, WEIR_OP_READ, sector[n], 8);
	assert_int_equal(util_dispatch(h), rq[0]);
	set(h, "leaf", 1);
	/* The oldest, then upwards. */
	assert_int_equal(util_dispatch(h), rq[1]);
	assert_int_equal(util_dispatch(h), rq[3]);
	set(h, "leaf", 2);
	for (n = 0; n < 4; n++)
		if (n != 2)
			util_complete(h, rq[n]);
	serve(h, rq[2], 1 * MS);
	/* anticipatory waits for ctx, whose next read is near. */
	util_insert_as(h, a, NULL, WEIR_OP_READ, 900000000, 8);
	assert_true(asleep_until(h) == h->now + 6667000);
	set(h, "leaf", 0);
	first = util_dispatch(h);
	util_complete(h, first);
	assert_int_equal(weir_nr_waiting(h->w), 0);
	weir_ctx_exit(ctx, h->now);
}

/* A wait of the leaf ends with the turn. */
static void leaf_waits_within_its_turn(void **state)
{
	struct util_host *h = *state;
	struct weir_ctx *ctx = weir_ctx_create(h->w, a, WEIR_IOPRIO_NONE, 0, h->now);
	uint32_t other, far;

	set(h, "leaf", 2);
	set(h, "slice_sync", 4);
	set(h, "group_idle", 0);
	serve(h, util_insert_as(h, a, ctx, WEIR_OP_READ, 1000, 8), 1 * MS);
	other = put(h, b, WEIR_OP_READ, 0);
	far = put(h, a, WEIR_OP_READ, 900000000);
	assert_true(asleep_until(h) == h->now + 4 * MS);
	h->now += 4 * MS;
	serve(h, other, 1 * MS);
	/* In its next turn it is not taken up again. */
	serve(h, far, 1 * MS);
	weir_ctx_exit(ctx, h->now);
}

static void weights_are_clamped_with_a_note(void **state)
{
	struct util_host *h = *state;
	struct weir_group_attr attr;

	assert_int_equal(h->nr_notes, 0);
	util_group(h, weir_root(h->w), 1000);
	assert_int_equal(h->nr_notes, 0);
	weir_group_get(a, &attr);
	attr.weight = 1001;
	assert_int_equal(weir_group_set(a, &attr, h->now), 0);
	assert_int_equal(h->nr_notes, 1);
	assert_string_equal(h->last_note,
			    "efq: weight 1001 of group 1 is outside 1..1000, taken as 1000");
	attr.weight = 200;
	attr.own_weight = 10000;
	assert_int_equal(weir_group_set(a, &attr, h->now), 0);
	assert_string_equal(h->last_note,
			    "efq: own weight 10000 of group 1 is outside 1..1000, taken as 1000");
}

/* A group that goes while it is waited for. */
static void removed_while_waited_for(void **state)
{
	struct util_host *h = *state;
	uint32_t other;

	serve(h, put(h, a, WEIR_OP_READ, 0), 1 * MS);
	other = put(h, b, WEIR_OP_READ, 5000);
	assert_true(asleep_until(h) == h->now + 8 * MS);
	assert_int_equal(weir_group_remove(a, h->now), 0);
	util_expect(h, other);
}

/* Flushes and what is put back go past the turns. */
static void express(void **state)
{
	struct util_host *h = *state;
	uint32_t mine = put(h, a, WEIR_OP_READ, 0), flush, other;

	assert_int_equal(util_dispatch(h), mine);
	other = put(h, b, WEIR_OP_READ, 5000);
	flush = util_insert_as(h, b, NULL, WEIR_OP_FLUSH, 0, 0);
	util_expect(h, flush);
	weir_requeue(h->w, &h->rq[mine], WEIR_REQUEUE_INSERT, h->now);
	assert_int_equal(util_dispatch(h), mine);
	/* Its turn is over: nothing of it is in the device, as the queue knows. */
	util_expect(h, other);
	util_complete(h, mine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(turns_by_weight, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_when_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(a_wait_keeps_the_place, setup, teardown),
		cmocka_unit_test_setup_teardown(no_credit_for_pauses, setup, teardown),
		cmocka_unit_test_setup_teardown(fairness_drains, setup, teardown),
		cmocka_unit_test_setup_teardown(leaf_changes_under_load, setup, teardown),
		cmocka_unit_test_setup_teardown(leaf_waits_within_its_turn, setup, teardown),
		cmocka_unit_test_setup_teardown(weights_are_clamped_with_a_note, setup, teardown),
		cmocka_unit_test_setup_teardown(removed_while_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(express, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
