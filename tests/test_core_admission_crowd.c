// SPDX-License-Identifier: GPL-2.0-only
/*
 * core/admission.c: nobody is forgotten. Tasks of many groups ask, sleep when refused, and give
 * places back at random; whoever was refused is woken, soon, and in the end nobody is asleep.
 */
#include "tests/util_host.h"

#include "core/core.h"

#define MS UINT64_C(1000000)
#define GROUPS 12

static struct util_host host;

static int setup(void **state)
{
	util_host_init(&host);
	host.cfg.pool = 128;
	util_host_start(&host, &weir_policy_noop, NULL);
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

static void set_pool(struct util_host *h, uint32_t pool)
{
	h->cfg.pool = pool;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
}

struct task {
	struct weir_group *g;
	enum weir_dir dir;
	bool asleep;
	uint32_t has, served;
	uint64_t slept_at; /* releases so far */
};

static struct {
	struct task task[GROUPS * WEIR_NR_DIRS];
	bool at_once; /* takes its place inside wake(), not some time later */
	uint64_t releases, longest;
} crowd;

static void task_ask(struct util_host *h, struct task *t)
{
	if (admit(h, t->g, t->dir)) {
		t->has++;
		t->served++;
		assert_int_equal(t->g->admission[t->dir].admitted, t->has);
		assert_true(t->has <= weir_admit_limit(t->g, t->dir));
	} else if (!t->asleep) {
		t->asleep = true;
		t->slept_at = crowd.releases;
	}
	assert_true(h->w->pool_used <= h->cfg.pool);
}

static void crowd_wake(void *priv, struct weir_group *g, enum weir_dir dir)
{
	uint32_t n;

	for (n = 0; n < GROUPS * WEIR_NR_DIRS; n++) {
		struct task *t = &crowd.task[n];

		if (t->g != g || t->dir != dir)
			continue;
		assert_true(t->asleep);
		t->asleep = false;
		if (crowd.releases - t->slept_at > crowd.longest)
			crowd.longest = crowd.releases - t->slept_at;
		if (crowd.at_once)
			task_ask(priv, t);
		return;
	}
	fail();
}

static void run_crowd(struct util_host *h, bool at_once, uint64_t seed)
{
	struct weir_group *root = weir_root(h->w);
	uint32_t n, step, have;

	memset(&crowd, 0, sizeof(crowd));
	crowd.at_once = at_once;
	h->w->host.wake = crowd_wake;
	set_pool(h, 24);
	for (n = 0; n < GROUPS * WEIR_NR_DIRS; n++) {
		crowd.task[n].g = n % 2 ? crowd.task[n - 1].g
					: util_group(h, n > 12 ? crowd.task[n - 12].g : root,
						     1 + (uint32_t)util_below(&seed, 500));
		crowd.task[n].dir = (enum weir_dir)(n % 2);
	}
	for (step = 0; step < 60000; step++) {
		struct task *t = &crowd.task[util_below(&seed, GROUPS * WEIR_NR_DIRS)];

		h->now += util_below(&seed, MS / 2);
		if (util_below(&seed, 2) && !t->asleep) {
			task_ask(h, t);
		} else if (t->has) {
			t->has--;
			crowd.releases++;
			release(h, t->g, t->dir);
		}
		/* Now and then a group has requests queued, and so is active. */
		if (step % 16 == 0)
			util_expect(h, util_insert_as(h, t->g, NULL, WEIR_OP_READ, 0, 8));
		if (h->nr_rqs == UTIL_RQS)
			h->nr_rqs = 0;
	}
	/* Everything is given back: then nobody may be asleep. */
	for (have = 1; have;) {
		have = 0;
		for (n = 0; n < GROUPS * WEIR_NR_DIRS; n++) {
			struct task *t = &crowd.task[n];

			if (!t->has)
				continue;
			t->has--;
			have += t->has + 1;
			crowd.releases++;
			release(h, t->g, t->dir);
		}
	}
	for (n = 0; n < GROUPS * WEIR_NR_DIRS; n++) {
		assert_false(crowd.task[n].asleep);
		assert_true(crowd.task[n].served > 100);
	}
	assert_int_equal(h->w->pool_used, 0);
	/* Nor was anybody asleep for long, with 24 places and 24 who want one. */
	assert_in_range(crowd.longest, 1, 400);
}

static void nobody_sleeps_forever(void **state)
{
	run_crowd(*state, false, 41);
}

static void nobody_sleeps_forever_at_once(void **state)
{
	run_crowd(*state, true, 43);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nobody_sleeps_forever, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_sleeps_forever_at_once, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
