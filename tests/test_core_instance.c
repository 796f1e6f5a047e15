// SPDX-License-Identifier: GPL-2.0-only
/*
 * core/instance.c: what an instance does with bad settings, lack of memory, and misuse that only a
 * bug can cause.
 */
#include "tests/util_host.h"

#include "core/core.h"

static struct util_host host;

/* What only a bug can cause ends the test, unless it was expected. */
void weir_assert_fail(const char *expr, const char *file, int line)
{
	mock_assert(0, expr, file, line);
}

static int setup(void **state)
{
	util_host_init(&host);
	util_host_start(&host, &weir_policy_noop, NULL);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static struct weir *try_create(struct util_host *h, const struct weir_config *cfg,
			       const struct weir_policy *policy, const uint64_t *values, int *err)
{
	struct weir_host alone = {.alloc = util_alloc, .free = util_free, .priv = &h->memory};

	return weir_create(cfg, &alone, policy, values, 0, err);
}

static void bad_settings(void **state)
{
	struct util_host *h = *state;
	uint64_t values[WEIR_TUNABLES_MAX];
	struct weir_config cfg;
	unsigned int what;
	int err;

	for (what = 0; what < 6; what++) {
		cfg = h->cfg;
		switch (what) {
		case 0:
			cfg.profile.rbps = 0;
			break;
		case 1:
			cfg.nr_requests = 0;
			break;
		case 2:
			cfg.max_sectors = 0;
			break;
		case 3:
			cfg.max_sectors = WEIR_RQ_SECTORS_MAX + 1;
			break;
		case 4:
			cfg.pool = 1;
			break;
		case 5:
			cfg.profile.wrandiops = 0;
			break;
		}
		err = 0;
		assert_null(try_create(h, &cfg, &weir_policy_noop, NULL, &err));
		assert_int_equal(err, -WEIR_EINVAL);
		assert_int_equal(weir_reconfigure(h->w, &cfg, h->now), -WEIR_EINVAL);
	}
	weir_get_config(h->w, &cfg);
	assert_memory_equal(&cfg, &h->cfg, sizeof(cfg));
	util_defaults(&weir_policy_weir, values);
	util_tune(&weir_policy_weir, values, "adapt", 2);
	assert_null(try_create(h, &h->cfg, &weir_policy_weir, values, &err));
	assert_int_equal(err, -WEIR_ERANGE);
}

static void tunables(void **state)
{
	uint64_t values[WEIR_TUNABLES_MAX];
	struct util_host *h = *state;
	struct weir *w;
	int err, index = weir_tunable_find(&weir_policy_weir, "async_every");

	assert_int_equal(weir_tunable_set(h->w, 0, 1, h->now), -WEIR_EINVAL); /* noop has none */
	util_defaults(&weir_policy_weir, values);
	util_tune(&weir_policy_weir, values, "async_every", 5);
	w = try_create(h, &h->cfg, &weir_policy_weir, values, &err);
	assert_non_null(w);
	assert_int_equal(weir_tunable_get(w, (unsigned int)index), 5);
	assert_int_equal(weir_tunable_set(w, (unsigned int)index, 0, 0), -WEIR_ERANGE);
	assert_int_equal(weir_tunable_set(w, (unsigned int)index, 1000001, 0), -WEIR_ERANGE);
	assert_int_equal(weir_tunable_set(w, WEIR_TUNABLES_MAX, 1, 0), -WEIR_EINVAL);
	assert_int_equal(weir_tunable_get(w, (unsigned int)index), 5);
	assert_int_equal(weir_tunable_set(w, (unsigned int)index, 1, 0), 0);
	assert_int_equal(weir_tunable_get(w, (unsigned int)index), 1);
	assert_int_equal(weir_tunable_get(w, UINT32_MAX), 0);
	assert_ptr_equal(weir_current_policy(w), &weir_policy_weir);
	weir_destroy(w);
}

/* Each allocation fails once: an error, nothing leaked, and the instance goes on. */
static void lack_of_memory(void **state)
{
	const struct weir_policy *policy;
	struct util_host *h = *state;
	size_t before = h->memory.bytes;
	struct weir *w = NULL;
	unsigned int n, k;
	int err;

	for (n = 0; (policy = weir_policy_at(n)); n++) {
		for (k = 1; !w; k++) {
			h->memory.calls = 0;
			h->memory.fail_at = k;
			w = try_create(h, &h->cfg, policy, NULL, &err);
			assert_int_equal(err, w ? 0 : -WEIR_ENOMEM);
			if (!w)
				assert_int_equal(h->memory.bytes, before);
		}
		h->memory.fail_at = 0;
		assert_true(k > 5); /* the instance, the root and its heaps at least */
		weir_destroy(w);
		w = NULL;
		assert_int_equal(h->memory.bytes, before);
	}
}

static void misuse(void **state)
{
	struct util_host *h = *state;
	uint32_t a = util_insert(h, WEIR_OP_READ, 0, 8);
	struct weir_rq *rq = &h->rq[a], *huge;

	expect_assert_failure(weir_insert(h->w, rq, WEIR_TAIL, h->now));
	expect_assert_failure(weir_complete(h->w, rq, h->now));
	expect_assert_failure(weir_requeue(h->w, rq, WEIR_REQUEUE_INSERT, h->now));
	expect_assert_failure(weir_destroy(h->w));
	expect_assert_failure(weir_release(h->w, weir_root(h->w), WEIR_READ, h->now));
	huge = util_bio(h, WEIR_OP_READ, 0, WEIR_RQ_SECTORS_MAX + 1);
	expect_assert_failure(weir_insert(h->w, huge, WEIR_TAIL, h->now));
	util_expect(h, a);
	expect_assert_failure(weir_complete(h->w, rq, h->now));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bad_settings, setup, teardown),
		cmocka_unit_test_setup_teardown(tunables, setup, teardown),
		cmocka_unit_test_setup_teardown(lack_of_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(misuse, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
