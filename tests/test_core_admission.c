// SPDX-License-Identifier: GPL-2.0-only
/*
 * core/admission.c: how the pool is divided, the marks of congestion, who is refused and why, and
 * in which order they are woken.
 */
#include "tests/util_host.h"

#include "core/core.h"

#define MS UINT64_C(1000000)
#define WAKES 1024

static struct util_host host;

void weir_assert_fail(const char *expr, const char *file, int line)
{
	mock_assert(0, expr, file, line);
}

/* What the host does when it is woken. */
static struct {
	struct weir_group *g[WAKES];
	enum weir_dir dir[WAKES];
	uint32_t nr;
	enum { NOTE, TAKE, TAKE_ALL, TAKE_AND_GIVE_BACK } then;
	uint32_t taken;
} woken;

static void wake(void *priv, struct weir_group *g, enum weir_dir dir)
{
	struct util_host *h = priv;

	assert_true(woken.nr < WAKES);
	woken.g[woken.nr] = g;
	woken.dir[woken.nr++] = dir;
	if (woken.then == NOTE)
		return;
	while (weir_admit(h->w, g, dir, 4096, h->now)) {
		woken.taken++;
		if (woken.then == TAKE_AND_GIVE_BACK) {
			weir_release(h->w, g, dir, h->now);
			woken.taken--;
		}
		if (woken.then != TAKE_ALL)
			break;
	}
}

static int setup(void **state)
{
	util_host_init(&host);
	host.cfg.pool = 128;
	memset(&woken, 0, sizeof(woken));
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

/* Until it is refused. */
static uint32_t take_all(struct util_host *h, struct weir_group *g, enum weir_dir dir)
{
	uint32_t n = 0;

	while (admit(h, g, dir))
		n++;
	return n;
}

static void give_back(struct util_host *h, struct weir_group *g, enum weir_dir dir, uint32_t n)
{
	while (n--)
		release(h, g, dir);
}

static uint32_t make_active(struct util_host *h, struct weir_group *g)
{
	return util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8);
}

static void set_pool(struct util_host *h, uint32_t pool)
{
	h->cfg.pool = pool;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
}

/* ---- how much ---- */

static void alone(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g = util_group(h, util_group(h, root, 7), 3);

	assert_int_equal(weir_admit_limit(g, WEIR_READ), 128);
	assert_int_equal(weir_admit_limit(g, WEIR_WRITE), 96);
	assert_int_equal(take_all(h, g, WEIR_READ), 128);
	assert_int_equal(h->w->pool_used, 128);
	give_back(h, g, WEIR_READ, 128);
	assert_int_equal(woken.nr, 1);
	assert_int_equal(take_all(h, g, WEIR_WRITE), 96);
	/* Reads are let in beside the writes, up to the limit of both. */
	assert_int_equal(take_all(h, g, WEIR_READ), 32);
	give_back(h, g, WEIR_WRITE, 96);
	give_back(h, g, WEIR_READ, 32);
}

static void by_weight(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w);
	struct weir_group *a = util_group(h, root, 200), *b = util_group(h, root, 300);
	struct weir_group *x = util_group(h, b, 10), *tiny = util_group(h, root, 1);
	uint32_t n;

	set_pool(h, 100);
	n = make_active(h, a);
	assert_int_equal(weir_admit_limit(a, WEIR_READ), 100);
	make_active(h, b);
	/* As they are active; the exact part, though a share is a binary fraction. */
	assert_int_equal(weir_admit_limit(a, WEIR_READ), 40);
	assert_int_equal(weir_admit_limit(a, WEIR_WRITE), 30);
	assert_int_equal(weir_admit_limit(b, WEIR_READ), 60);
	assert_int_equal(weir_admit_limit(b, WEIR_WRITE), 45);
	/* As if it were active: x 10 beside b's own 100. */
	assert_int_equal(weir_admit_limit(x, WEIR_READ), 5);
	/* Never less than one in the device and one behind it. */
	assert_int_equal(weir_admit_limit(tiny, WEIR_READ), 2);
	assert_int_equal(weir_admit_limit(tiny, WEIR_WRITE), 2);
	assert_int_equal(take_all(h, a, WEIR_READ), 40);
	assert_int_equal(take_all(h, b, WEIR_WRITE), 45);
	/* Its neighbour's claim is over: all of it. */
	util_expect(h, n);
	h->now += 2 * MS - 1;
	assert_int_equal(weir_admit_limit(b, WEIR_READ), 60);
	give_back(h, a, WEIR_READ, 40);
	h->now += 1 + 2 * MS; /* a was refused once, and woken since */
	release(h, b, WEIR_WRITE);
	assert_int_equal(weir_admit_limit(b, WEIR_READ), 100);
	give_back(h, b, WEIR_WRITE, 44);
}

static void no_pool(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = util_group(h, weir_root(h->w), 100);
	uint32_t n;

	set_pool(h, 0);
	assert_int_equal(weir_admit_limit(g, WEIR_WRITE), UINT32_MAX);
	for (n = 0; n < 1000; n++)
		assert_true(admit(h, g, WEIR_WRITE));
	assert_false(weir_congested(g, WEIR_WRITE));
	give_back(h, g, WEIR_WRITE, 1000);
}

/* ---- marks ---- */

static void congestion_marks(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = util_group(h, weir_root(h->w), 100);
	uint32_t n;

	for (n = 1; n <= 128; n++) {
		assert_true(admit(h, g, WEIR_READ));
		assert_int_equal(weir_congested(g, WEIR_READ), n >= 113);
	}
	for (n = 127; n + 1; n--) {
		release(h, g, WEIR_READ);
		assert_int_equal(weir_congested(g, WEIR_READ), n >= 103);
	}
	/* In between, it is what it was. */
	for (n = 1; n <= 112; n++)
		assert_true(admit(h, g, WEIR_READ));
	assert_false(weir_congested(g, WEIR_READ));
	assert_true(admit(h, g, WEIR_READ));
	assert_true(weir_congested(g, WEIR_READ));
	give_back(h, g, WEIR_READ, 10); /* 103 */
	assert_true(weir_congested(g, WEIR_READ));
	assert_true(admit(h, g, WEIR_READ));
	assert_true(weir_congested(g, WEIR_READ));
	give_back(h, g, WEIR_READ, 2); /* 102 */
	assert_false(weir_congested(g, WEIR_READ));
	give_back(h, g, WEIR_READ, 102);
	/* Writes: of 96, from 85 on, and no longer below 77. */
	for (n = 1; n <= 96; n++) {
		assert_true(admit(h, g, WEIR_WRITE));
		assert_int_equal(weir_congested(g, WEIR_WRITE), n >= 85);
	}
	for (n = 95; n + 1; n--) {
		release(h, g, WEIR_WRITE);
		assert_int_equal(weir_congested(g, WEIR_WRITE), n >= 77);
	}
}

/* Writes count against the reads' limit, so they make and end the reads' congestion. */
static void reads_congested_by_writes(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = util_group(h, weir_root(h->w), 100);
	uint32_t n;

	for (n = 0; n < 96; n++)
		assert_true(admit(h, g, WEIR_WRITE));
	for (n = 97; n <= 113; n++)
		assert_true(admit(h, g, WEIR_READ));
	assert_true(weir_congested(g, WEIR_READ));
	give_back(h, g, WEIR_WRITE, 10); /* 103 */
	assert_true(weir_congested(g, WEIR_READ));
	release(h, g, WEIR_WRITE);
	assert_false(weir_congested(g, WEIR_READ));
	give_back(h, g, WEIR_WRITE, 85);
	give_back(h, g, WEIR_READ, 17);
}

/* ---- who is woken, and when ---- */

static void at_the_own_limit(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = util_group(h, weir_root(h->w), 100);

	assert_false(weir_admit_waits(g, WEIR_WRITE));
	assert_int_equal(take_all(h, g, WEIR_WRITE), 96);
	assert_false(admit(h, g, WEIR_WRITE));
	assert_true(weir_admit_waits(g, WEIR_WRITE));
	assert_false(weir_admit_waits(g, WEIR_READ));
	give_back(h, g, WEIR_WRITE, 19); /* 77 */
	assert_int_equal(woken.nr, 0);
	/* Who waits to be woken does not get in by asking. */
	assert_false(admit(h, g, WEIR_WRITE));
	release(h, g, WEIR_WRITE);
	assert_int_equal(woken.nr, 1);
	assert_ptr_equal(woken.g[0], g);
	assert_int_equal(woken.dir[0], WEIR_WRITE);
	assert_false(weir_admit_waits(g, WEIR_WRITE));
	assert_true(admit(h, g, WEIR_WRITE));
	give_back(h, g, WEIR_WRITE, 77);
	assert_int_equal(woken.nr, 1);
}

/* A pool that one group holds: those who come are woken by its releases, in order of asking. */
static void order_of_asking(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *a = util_group(h, root, 100), *g[3];
	uint32_t n;

	woken.then = TAKE;
	assert_int_equal(take_all(h, a, WEIR_READ), 128); /* it waits as well: first */
	for (n = 0; n < 3; n++) {
		g[n] = util_group(h, root, 100 * (n + 1));
		assert_false(admit(h, g[n], n % 2 ? WEIR_WRITE : WEIR_READ));
	}
	for (n = 0; n < 3; n++) {
		assert_int_equal(woken.nr, n);
		release(h, a, WEIR_READ);
		assert_int_equal(woken.nr, n + 1);
		assert_ptr_equal(woken.g[n], g[n]);
		assert_int_equal(woken.dir[n], n % 2 ? WEIR_WRITE : WEIR_READ);
	}
	assert_int_equal(woken.taken, 3);
	/* And a itself far below its own part, now that others are active: 100 of 800, with root's.
	 */
	assert_int_equal(weir_admit_limit(a, WEIR_READ), 18);
	give_back(h, a, WEIR_READ, 125);
	assert_int_equal(woken.nr, 4);
	assert_ptr_equal(woken.g[3], a);
	release(h, a, WEIR_READ); /* taken when woken */
	release(h, g[0], WEIR_READ);
	release(h, g[1], WEIR_WRITE);
	release(h, g[2], WEIR_READ);
}

/*
 * Whoever waits counts as active until it is woken, however slow the device is: its part of the
 * pool does not go back to those who have it all.
 */
static void waiting_is_activity(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w);
	struct weir_group *a = util_group(h, root, 100), *b = util_group(h, root, 100);

	assert_int_equal(take_all(h, a, WEIR_READ), 128);
	make_active(h, a);
	assert_false(admit(h, b, WEIR_READ));
	assert_int_equal(weir_admit_limit(a, WEIR_READ), 64);
	h->now += 500 * MS;
	util_expect(h, h->nr_rqs - 1);
	make_active(h, a);
	assert_int_equal(weir_admit_limit(a, WEIR_READ), 64);
	release(h, a, WEIR_READ);
	assert_int_equal(woken.nr, 1);
	assert_ptr_equal(woken.g[0], b);
	/* Woken and gone: its claim ends as any other. */
	h->now += 5 * MS;
	util_expect(h, h->nr_rqs - 1);
	make_active(h, a);
	assert_int_equal(weir_admit_limit(a, WEIR_READ), 128);
	give_back(h, a, WEIR_READ, 127);
	util_expect(h, h->nr_rqs - 1);
}

/* ---- changes while somebody waits ---- */

static void pool_changes(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g[4];
	uint32_t n;

	for (n = 0; n < 4; n++)
		g[n] = util_group(h, root, 100);
	assert_int_equal(take_all(h, g[0], WEIR_READ), 128);
	for (n = 1; n < 4; n++)
		assert_false(admit(h, g[n], WEIR_READ));
	/* Smaller: more have to leave first. */
	set_pool(h, 100);
	give_back(h, g[0], WEIR_READ, 28);
	assert_int_equal(woken.nr, 0);
	/* Larger: there is room, for all who are below their part. */
	set_pool(h, 200);
	assert_int_equal(woken.nr, 3);
	for (n = 1; n < 4; n++)
		assert_false(admit(h, g[0], WEIR_READ));
	assert_int_equal(take_all(h, g[1], WEIR_READ), 50);
	assert_int_equal(take_all(h, g[2], WEIR_READ), 50);
	assert_int_equal(take_all(h, g[3], WEIR_READ), 0);
	/* None: everybody. */
	woken.nr = 0;
	set_pool(h, 0);
	assert_int_equal(woken.nr, 4);
	for (n = 0; n < 4; n++)
		give_back(h, g[n], WEIR_READ, g[n]->admission[WEIR_READ].admitted);
}

/* A group disappears while it waits: its waiter is told, and it goes when it has nothing left. */
static void removal(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *a = util_group(h, root, 100);
	struct weir_group *b = util_group(h, root, 100);
	uint32_t nr = h->w->nr_groups;

	assert_int_equal(take_all(h, a, WEIR_READ), 128);
	assert_false(admit(h, b, WEIR_READ));
	assert_false(admit(h, b, WEIR_WRITE));
	assert_int_equal(weir_group_remove(b, h->now), 0);
	assert_int_equal(woken.nr, 2);
	assert_int_equal(h->w->nr_groups, nr - 1);
	/* One that has places stays until they are given back, and can get no more. */
	assert_int_equal(weir_group_remove(a, h->now), 0);
	assert_int_equal(woken.nr, 3); /* its own attempt at 129 */
	expect_assert_failure(admit(h, a, WEIR_READ));
	give_back(h, a, WEIR_READ, 127);
	assert_int_equal(h->w->nr_groups, nr - 1);
	release(h, a, WEIR_READ);
	assert_int_equal(h->w->nr_groups, nr - 2);
	assert_int_equal(h->w->pool_used, 0);
}

/* The host asks, takes and gives back from within wake(), as it likes. */
static void from_within_wake(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g[5];
	uint32_t n;

	for (n = 0; n < 5; n++)
		g[n] = util_group(h, root, 100);
	assert_int_equal(take_all(h, g[0], WEIR_READ), 128);
	for (n = 1; n < 5; n++)
		assert_false(admit(h, g[n], WEIR_READ));
	woken.then = TAKE_AND_GIVE_BACK; /* releases within wake(): the next one's turn */
	release(h, g[0], WEIR_READ);
	assert_int_equal(woken.nr, 4);
	for (n = 1; n < 5; n++)
		assert_ptr_equal(woken.g[n - 1], g[n]);
	/* Takes as much as it gets, is refused again, and waits behind the others. */
	assert_int_equal(take_all(h, g[0], WEIR_READ), 0);
	for (n = 1; n < 5; n++)
		while (admit(h, g[n], WEIR_READ))
			woken.taken++;
	woken.nr = 0;
	woken.then = TAKE_ALL;
	give_back(h, g[0], WEIR_READ, 127);
	for (n = 1; n < 5; n++)
		assert_ptr_equal(woken.g[n - 1], g[n]);
	assert_int_equal(h->w->pool_used, woken.taken);
	woken.then = NOTE;
	for (n = 0; n < 5; n++)
		give_back(h, g[n], WEIR_READ, g[n]->admission[WEIR_READ].admitted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(alone, setup, teardown),
		cmocka_unit_test_setup_teardown(by_weight, setup, teardown),
		cmocka_unit_test_setup_teardown(no_pool, setup, teardown),
		cmocka_unit_test_setup_teardown(congestion_marks, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_congested_by_writes, setup, teardown),
		cmocka_unit_test_setup_teardown(at_the_own_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(order_of_asking, setup, teardown),
		cmocka_unit_test_setup_teardown(waiting_is_activity, setup, teardown),
		cmocka_unit_test_setup_teardown(pool_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(removal, setup, teardown),
		cmocka_unit_test_setup_teardown(from_within_wake, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
