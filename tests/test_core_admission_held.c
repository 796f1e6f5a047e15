// SPDX-License-Identifier: GPL-2.0-only
/* core/admission.c: groups that are held by a ceiling, and what becomes of their part of the pool. */
#include "tests/util_host.h"

#include "core/core.h"

#define MS UINT64_C(1000000)

static struct util_host host;
static uint32_t woken;

static void wake(void *priv, struct weir_group *g, enum weir_dir dir)
{
	(void)priv, (void)g, (void)dir;
	woken++;
}

static int setup(void **state)
{
	util_host_init(&host);
	host.cfg.pool = 128;
	woken = 0;
	util_host_start(&host, &weir_policy_noop, NULL);
	host.w->host.wake = wake;
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static bool admit(struct util_host *h, struct weir_group *g, enum weir_dir dir)
{
	return weir_admit(h->w, g, dir, 4096, h->now);
}

static void release(struct util_host *h, struct weir_group *g, enum weir_dir dir)
{
	weir_release(h->w, g, dir, h->now);
}

static struct weir_group *group(struct util_host *h, uint32_t weight, uint64_t riops)
{
	struct weir_group_attr attr;

	weir_group_attr_init(&attr);
	attr.weight = weight;
	attr.max.iops[WEIR_READ] = riops;
	return weir_group_create(h->w, weir_root(h->w), &attr, h->now, NULL);
}

/* Three reads, of which two are held; and the fourth is refused. */
static void hold(struct util_host *h, struct weir_group *g)
{
	uint32_t n;

	for (n = 0; n < 3; n++) {
		assert_true(admit(h, g, WEIR_READ));
		util_insert_as(h, g, NULL, WEIR_OP_READ, n * 100, 8);
	}
	assert_false(admit(h, g, WEIR_READ));
}

/* What cannot go need not queue: two held by a ceiling are enough, per direction. */
static void held_groups(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = group(h, WEIR_WEIGHT_DEFAULT, 10);
	uint64_t start = h->now;
	uint32_t n;

	for (n = 0; n < 3; n++) { /* one passes */
		assert_true(admit(h, g, WEIR_READ));
		util_insert_as(h, g, NULL, WEIR_OP_READ, n * 100, 8);
	}
	assert_false(admit(h, g, WEIR_READ));
	assert_true(admit(h, g, WEIR_WRITE));
	release(h, g, WEIR_WRITE);
	util_expect(h, 0);
	release(h, g, WEIR_READ);
	assert_int_equal(woken, 0); /* still two */
	h->now = start + 100 * MS;
	util_expect(h, 1);
	assert_int_equal(woken, 1);
	assert_true(admit(h, g, WEIR_READ));
	/* One that is removed makes room as well. */
	util_insert_as(h, g, NULL, WEIR_OP_READ, 300, 8);
	assert_false(admit(h, g, WEIR_READ));
	assert_int_equal(weir_remove(h->w, &h->rq[2], h->now), 0);
	release(h, g, WEIR_READ);
	assert_int_equal(woken, 2);
	h->now = start + 200 * MS;
	util_expect(h, 3);
	release(h, g, WEIR_READ);
	release(h, g, WEIR_READ);
}

/* A group that its ceiling keeps from using its part of the pool lends it, until it is woken. */
static void held_groups_lend(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = group(h, 100, WEIR_UNLIMITED), *b = group(h, 200, WEIR_UNLIMITED);
	struct weir_group *held = group(h, 500, 10);
	uint64_t start = h->now;
	uint32_t n;

	h->cfg.pool = 80;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
	for (n = 0; n < 3; n++) {
		assert_true(admit(h, held, WEIR_READ));
		util_insert_as(h, held, NULL, WEIR_OP_READ, n * 100, 8);
	}
	util_insert_as(h, a, NULL, WEIR_OP_READ, 1000, 8);
	util_insert_as(h, b, NULL, WEIR_OP_READ, 2000, 8);
	assert_int_equal(weir_admit_limit(a, WEIR_READ), 10);
	assert_int_equal(weir_admit_limit(b, WEIR_READ), 20);
	assert_false(admit(h, held, WEIR_READ));
	/* 1 : 2 of all there is; its own is as it was, if it could be used. */
	assert_int_equal(weir_admit_limit(a, WEIR_READ), 27);
	assert_int_equal(weir_admit_limit(b, WEIR_READ), 53);
	assert_int_equal(weir_admit_limit(held, WEIR_READ), 50);
	/* Of both directions once. */
	assert_true(admit(h, held, WEIR_WRITE));
	assert_int_equal(weir_admit_limit(a, WEIR_READ), 27);
	release(h, held, WEIR_WRITE);
	util_expect(h, 0);
	util_expect(h, 3);
	util_expect(h, 4);
	assert_int_equal(woken, 0);
	h->now = start + 100 * MS;
	util_expect(h, 1);
	assert_int_equal(woken, 1);
	assert_int_equal(weir_admit_limit(a, WEIR_READ), 13); /* b's claim is over */
	assert_int_equal(h->w->pool_lent, 0);
	h->now = start + 200 * MS;
	util_expect(h, 2);
	for (n = 0; n < 3; n++)
		release(h, held, WEIR_READ);
}

/* What was lent when it was alone is not what is lent when others have come. */
static void lent_is_of_now(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = group(h, 100, WEIR_UNLIMITED), *b = group(h, 200, WEIR_UNLIMITED);
	struct weir_group *held = group(h, 500, 1);

	hold(h, held);
	util_insert_as(h, a, NULL, WEIR_OP_READ, 1000, 8);
	util_insert_as(h, b, NULL, WEIR_OP_READ, 2000, 8);
	util_expect(h, 0);
	assert_int_equal(weir_admit_limit(a, WEIR_READ), 43);
	assert_int_equal(weir_admit_limit(b, WEIR_READ), 85);
	weir_set_drain(h->w, true, h->now);
	while (util_dispatch(h) != UTIL_NONE)
		;
	weir_set_drain(h->w, false, h->now);
	release(h, held, WEIR_READ);
	release(h, held, WEIR_READ);
	release(h, held, WEIR_READ);
}

/* Who is held in one direction may need its share for the other. */
static void one_direction_is_held(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = group(h, 100, WEIR_UNLIMITED), *x = group(h, 900, 1);
	uint32_t n, limit;

	util_insert_as(h, a, NULL, WEIR_OP_READ, 1000, 8);
	for (n = 0; n < 20; n++) {
		assert_true(admit(h, x, WEIR_WRITE));
		util_insert_as(h, x, NULL, WEIR_OP_WRITE, 5000 + n * 100, 8);
	}
	limit = weir_admit_limit(a, WEIR_READ);
	hold(h, x);
	assert_int_equal(weir_admit_limit(a, WEIR_READ), limit);
	weir_set_drain(h->w, true, h->now);
	while (util_dispatch(h) != UTIL_NONE)
		;
	weir_set_drain(h->w, false, h->now);
	for (n = 0; n < 20; n++)
		release(h, x, WEIR_WRITE);
	for (n = 0; n < 3; n++)
		release(h, x, WEIR_READ);
}

/* Whose place comes late, since its thread has to be woken first, is not idle meanwhile. */
static void late_threads(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = group(h, WEIR_WEIGHT_DEFAULT, 500);
	uint32_t ms, n = 0, i, passed = 0, awake_ms = 0, seen = 0;

	for (ms = 0; ms < 2000; ms++, h->now += MS) {
		if (woken != seen) {
			seen = woken;
			awake_ms = ms + 5;
		}
		while (ms >= awake_ms && admit(h, g, WEIR_READ))
			util_insert_as(h, g, NULL, WEIR_OP_READ, n++ * 100 % 1000000, 8);
		while ((i = util_dispatch(h)) != UTIL_NONE) {
			util_complete(h, i);
			release(h, g, WEIR_READ);
			passed++;
		}
	}
	assert_in_range(passed, 990, 1010);
	weir_set_drain(h->w, true, h->now);
	while (util_dispatch(h) != UTIL_NONE)
		;
	for (i = passed; i < n; i++)
		release(h, g, WEIR_READ);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(held_groups, setup, teardown),
		cmocka_unit_test_setup_teardown(held_groups_lend, setup, teardown),
		cmocka_unit_test_setup_teardown(lent_is_of_now, setup, teardown),
		cmocka_unit_test_setup_teardown(one_direction_is_held, setup, teardown),
		cmocka_unit_test_setup_teardown(late_threads, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
