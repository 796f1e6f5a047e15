// SPDX-License-Identifier: GPL-2.0-only
/* efq's request pools: a group's places, its congestion by V8's and V9's rule, and the flusher. */
#include "tests/util_host.h"

#include "core/spi.h"

static struct util_host host;

static void start(struct util_host *h, const char *name, uint64_t value, uint32_t pool)
{
	uint64_t values[WEIR_TUNABLES_MAX];

	util_defaults(&weir_policy_efq, values);
	if (name)
		util_tune(&weir_policy_efq, values, name, value);
	util_host_init(h);
	h->cfg.pool = pool;
	util_host_start(h, &weir_policy_efq, values);
}

static bool admit(struct util_host *h, struct weir_group *g, enum weir_dir dir)
{
	return weir_admit(h->w, g, dir, 4096, h->now);
}

static void release(struct util_host *h, struct weir_group *g, enum weir_dir dir, uint32_t nr)
{
	while (nr--)
		weir_release(h->w, g, dir, h->now);
}

/* n = 128: on at 113; V9 off at 102, V8 off at 112. A pool of the host isn't needed. */
static void marks(void **state)
{
	static const struct {
		uint64_t rule;
		uint32_t off;
	} want[] = {{0, 112}, {1, 102}};
	struct util_host *h = &host;
	unsigned int i;
	uint32_t n;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct weir_group *g;

		start(h, "congestion", want[i].rule, 0);
		g = util_group(h, weir_root(h->w), 100);
		assert_false(weir_admits_all(h->w));
		assert_int_equal(weir_admit_limit(g, WEIR_WRITE), 128);
		for (n = 1; n <= 128; n++) {
			assert_true(admit(h, g, WEIR_WRITE));
			assert_int_equal(weir_congested(g, WEIR_WRITE), n >= 113);
			assert_false(weir_congested(g, WEIR_READ));
		}
		for (n = 127; n > 90; n--) {
			release(h, g, WEIR_WRITE, 1);
			assert_int_equal(weir_congested(g, WEIR_WRITE), n > want[i].off);
		}
		release(h, g, WEIR_WRITE, n + 0);
		util_host_stop(h);
	}
}

/* A has all that it may have: B gets its own, and A's reads theirs. A freed place wakes A alone. */
static void full_group_delays_nobody(void **state)
{
	struct util_host *h = &host;
	struct weir_group *a, *b;
	uint32_t n;

	(void)state;
	start(h, NULL, 0, 512);
	a = util_group(h, weir_root(h->w), 100);
	b = util_group(h, weir_root(h->w), 1);
	for (n = 0; n < 128; n++)
		assert_true(admit(h, a, WEIR_WRITE));
	assert_false(admit(h, a, WEIR_WRITE));
	for (n = 0; n < 128; n++) {
		assert_true(admit(h, b, WEIR_WRITE));
		assert_true(admit(h, a, WEIR_READ));
	}
	release(h, b, WEIR_WRITE, 1);
	assert_int_equal(h->nr_wakes, 0);
	release(h, a, WEIR_WRITE, 1);
	assert_int_equal(h->nr_wakes, 1);
	assert_ptr_equal(h->last_woken, a);
	assert_true(admit(h, a, WEIR_WRITE));
	/* The pool's 512 are the limit of all. */
	for (n = 0; n < 129; n++)
		assert_true(admit(h, b, n ? WEIR_READ : WEIR_WRITE));
	assert_int_equal(weir_pool_used(h->w), 512);
	assert_false(admit(h, weir_root(h->w), WEIR_READ));
	release(h, b, WEIR_READ, 1);
	assert_int_equal(h->nr_wakes, 2);
	assert_ptr_equal(h->last_woken, weir_root(h->w));
	release(h, b, WEIR_READ, 127);
	release(h, b, WEIR_WRITE, 128);
	release(h, a, WEIR_WRITE, 128);
	release(h, a, WEIR_READ, 128);
	util_host_stop(h);
}

/* Set anew under load: who waits is woken, congestion is looked at again, both ways. */
static void other_limit_under_load(void **state)
{
	int index = weir_tunable_find(&weir_policy_efq, "nr_group_requests");
	struct util_host *h = &host;
	struct weir_group *g;
	uint32_t n;

	(void)state;
	start(h, "nr_group_requests", 16, 0);
	g = util_group(h, weir_root(h->w), 100);
	for (n = 0; n < 16; n++)
		assert_true(admit(h, g, WEIR_READ));
	assert_false(admit(h, g, WEIR_READ));
	assert_true(weir_congested(g, WEIR_READ));
	assert_int_equal(weir_tunable_set(h->w, (unsigned int)index, 64, h->now), 0);
	assert_int_equal(h->nr_wakes, 1);
	assert_false(weir_congested(g, WEIR_READ));
	for (; n < 40; n++)
		assert_true(admit(h, g, WEIR_READ));
	assert_false(weir_congested(g, WEIR_READ));
	assert_int_equal(weir_tunable_set(h->w, (unsigned int)index, 32, h->now), 0);
	assert_true(weir_congested(g, WEIR_READ));
	assert_false(admit(h, g, WEIR_READ));
	/* 32 - 4 - 2 - 1 */
	release(h, g, WEIR_READ, 40 - 25);
	assert_true(weir_congested(g, WEIR_READ));
	release(h, g, WEIR_READ, 1);
	assert_false(weir_congested(g, WEIR_READ));
	release(h, g, WEIR_READ, 24);
	util_host_stop(h);
}

/* From and to a policy without a rule of its own. */
static void rule_goes_with_the_policy(void **state)
{
	struct util_host *h = &host;
	struct weir_group *g;
	struct weir_switch *sw;
	uint32_t n;
	int err;

	(void)state;
	start(h, "nr_group_requests", 4, 0);
	g = util_group(h, weir_root(h->w), 100);
	for (n = 0; n < 4; n++)
		assert_true(admit(h, g, WEIR_READ));
	assert_false(admit(h, g, WEIR_READ));
	assert_true(weir_congested(g, WEIR_READ));
	sw = weir_switch_prepare(h->w, &weir_policy_noop, NULL, &err);
	assert_non_null(sw);
	weir_switch_commit(h->w, sw, h->now);
	assert_int_equal(h->nr_wakes, 1);
	assert_true(weir_admits_all(h->w));
	assert_false(weir_congested(g, WEIR_READ));
	for (; n < 120; n++)
		assert_true(admit(h, g, WEIR_READ));
	sw = weir_switch_prepare(h->w, &weir_policy_efq, NULL, &err);
	assert_non_null(sw);
	weir_switch_commit(h->w, sw, h->now);
	assert_true(weir_congested(g, WEIR_READ));
	release(h, g, WEIR_READ, 120);
	assert_false(weir_congested(g, WEIR_READ));
	util_host_stop(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks),
		cmocka_unit_test(full_group_delays_nobody),
		cmocka_unit_test(other_limit_under_load),
		cmocka_unit_test(rule_goes_with_the_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
