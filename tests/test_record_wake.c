// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings of a host that calls the core from within wake(): the rerun has to be woken at the
 * same places, and to do the same there.
 */
#include "tests/record_tape.h"

/* ---- a host that calls from within wake() ---- */

enum {
	NEST_GROUPS = 6,
	NEST_RQS = 64,
	NEST_STEPS = 400,
};

struct nest {
	struct weir *w;
	struct weir_host host;
	struct util_memory memory;
	uint64_t seed, now;
	struct weir_group *group[NEST_GROUPS]; /* 0: the root; NULL: none */
	uint32_t places[NEST_GROUPS][WEIR_NR_DIRS];
	struct weir_rq rq[NEST_RQS]; /* NEW ones are free */
	uint32_t calls_within;
	unsigned int depth;
};

static bool one_in(struct nest *n, uint64_t of)
{
	return !util_below(&n->seed, of);
}

static void nest_admit(struct nest *n)
{
	int g = (int)util_below(&n->seed, NEST_GROUPS);
	enum weir_dir dir = (enum weir_dir)util_below(&n->seed, 2);

	if (n->group[g] && weir_admit(n->w, n->group[g], dir, 4096, n->now))
		n->places[g][dir]++;
}

static void nest_release(struct nest *n)
{
	int g = (int)util_below(&n->seed, NEST_GROUPS);
	enum weir_dir dir = (enum weir_dir)util_below(&n->seed, 2);

	if (!n->places[g][dir])
		return;
	n->places[g][dir]--;
	weir_release(n->w, n->group[g], dir, n->now);
}

static struct weir_rq *nest_pick(struct nest *n, enum weir_rq_state state)
{
	int i = (int)util_below(&n->seed, NEST_RQS), left;

	for (left = NEST_RQS; left; left--, i = i ? i - 1 : NEST_RQS - 1)
		if (n->rq[i].state == state)
			return &n->rq[i];
	return NULL;
}

static void nest_insert(struct nest *n)
{
	int g = (int)util_below(&n->seed, NEST_GROUPS);
	struct weir_rq *rq = nest_pick(n, WEIR_RQ_NEW);

	if (!n->group[g] || !rq)
		return;
	weir_rq_init(rq, one_in(n, 2) ? WEIR_OP_READ : WEIR_OP_WRITE, util_below(&n->seed, 1 << 20),
		     8, n->group[g], NULL);
	weir_insert(n->w, rq, WEIR_TAIL, n->now);
}

static void nest_dispatch(struct nest *n)
{
	weir_dispatch(n->w, n->now, NULL);
}

static void nest_complete(struct nest *n)
{
	struct weir_rq *rq = nest_pick(n, WEIR_RQ_DISPATCHED);

	if (rq)
		weir_complete(n->w, rq, n->now);
}

/* Only groups without requests go, so that their index is free at once. */
static void nest_groups(struct nest *n)
{
	int g = 1 + (int)util_below(&n->seed, NEST_GROUPS - 1), i;
	struct weir_group_attr attr;
	struct weir_group *group = n->group[g];

	if (!group) {
		weir_group_attr_init(&attr);
		attr.weight = 1 + (uint32_t)util_below(&n->seed, 1000);
		if (one_in(n, 3))
			attr.max.iops[WEIR_READ] = 1000;
		n->group[g] = weir_group_create(n->w, n->group[0], &attr, n->now, NULL);
		assert_non_null(n->group[g]);
		return;
	}
	for (i = 0; i < NEST_RQS; i++)
		if (n->rq[i].state != WEIR_RQ_NEW && n->rq[i].group == group)
			return;
	if (n->places[g][WEIR_READ] || n->places[g][WEIR_WRITE])
		return;
	n->group[g] = NULL;
	assert_int_equal(weir_group_remove(group, n->now), 0);
}

static void nest_pool(struct nest *n)
{
	struct weir_config cfg;

	weir_get_config(n->w, &cfg);
	cfg.pool = one_in(n, 8) ? 0 : 2 + (uint32_t)util_below(&n->seed, 12);
	assert_int_equal(weir_reconfigure(n->w, &cfg, n->now), 0);
}

static void nest_step(struct nest *n)
{
	static void (*const calls[])(struct nest * n) = {
		nest_admit,    nest_admit,    nest_admit,    nest_admit,
		nest_release,  nest_release,  nest_release,  nest_insert,
		nest_insert,   nest_dispatch, nest_dispatch, nest_dispatch,
		nest_complete, nest_complete, nest_groups,   nest_pool,
	};

	n->now += util_below(&n->seed, 100) < 5 ? 3000000 : util_below(&n->seed, 3) * 20000;
	calls[util_below(&n->seed, sizeof(calls) / sizeof(calls[0]))](n);
}

static void nest_wake(void *priv, struct weir_group *g, enum weir_dir dir)
{
	struct nest *n = priv;
	uint64_t calls = util_below(&n->seed, 5);

	(void)dir;
	if (n->depth == 3 || !g)
		return;
	n->depth++;
	n->calls_within += calls;
	while (calls--)
		nest_step(n);
	n->depth--;
}

static void *nest_alloc(void *priv, size_t bytes)
{
	return util_alloc(&((struct nest *)priv)->memory, bytes);
}

static void nest_free(void *priv, void *p, size_t bytes)
{
	util_free(&((struct nest *)priv)->memory, p, bytes);
}

static void nest_end(struct nest *n)
{
	int g, i;

	n->depth = 3; /* no more calls from within */
	weir_set_drain(n->w, true, n->now);
	while (weir_dispatch(n->w, n->now, NULL))
		;
	for (i = 0; i < NEST_RQS; i++)
		if (n->rq[i].state == WEIR_RQ_DISPATCHED)
			weir_complete(n->w, &n->rq[i], n->now);
	for (g = 0; g < NEST_GROUPS; g++)
		for (i = 0; i < WEIR_NR_DIRS; i++)
			for (; n->places[g][i]; n->places[g][i]--)
				weir_release(n->w, n->group[g], (enum weir_dir)i, n->now);
	weir_destroy(n->w);
	assert_int_equal(n->memory.bytes, 0);
}

static void calls_from_within_wake(void **state)
{
	static struct nest n;
	uint64_t seed, within = 0, wakes = 0;
	struct lab_rerun_result r;
	struct weir_config cfg;
	struct tape t;
	int i;

	(void)state;
	for (seed = 1; seed <= 100; seed++) {
		memset(&n, 0, sizeof(n));
		n.seed = seed;
		n.now = 1000000000;
		n.host = (struct weir_host){
			.alloc = nest_alloc, .free = nest_free, .wake = nest_wake, .priv = &n};
		util_config(&cfg);
		cfg.pool = 6;
		cfg.device_depth = 8;
		n.w = weir_create(&cfg, &n.host, weir_policy_at(seed % 2), NULL, n.now, NULL);
		assert_non_null(n.w);
		n.group[0] = weir_root(n.w);
		assert_int_equal(tape_start(&t, n.w, WEIR_RECORD_RING_MIN, n.now), 0);
		for (i = 0; i < NEST_STEPS; i++) {
			nest_step(&n);
			tape_pull(&t, 500);
		}
		tape_stop(&t, n.now);
		within += n.calls_within;
		nest_end(&n);
		tape_expect_equal(&t);
		tape_rerun(&t, &r);
		wakes += r.calls[WEIR_REC_WAKE];
		assert_int_equal(r.calls[WEIR_REC_WAKE], r.calls[WEIR_REC_WOKEN]);
		lab_rerun_free(&r);
		tape_free(&t);
	}
	assert_true(wakes > 1000 && within > 1000);
}

/* ---- a group that is removed gives its last place back when it is woken for that ---- */

static void *plain_alloc(void *priv, size_t bytes)
{
	(void)priv;
	return calloc(1, bytes);
}

static void plain_free(void *priv, void *p, size_t bytes)
{
	(void)priv;
	(void)bytes;
	free(p);
}

struct last_place {
	struct weir *w;
	uint64_t now;
	int wakes;
};

static void give_back(void *priv, struct weir_group *g, enum weir_dir dir)
{
	struct last_place *l = priv;

	if (!l->wakes++)
		weir_release(l->w, g, dir, l->now);
}

static void last_place_on_removal(void **state)
{
	struct last_place l = {.now = 1000};
	const struct weir_host h = {
		.alloc = plain_alloc, .free = plain_free, .wake = give_back, .priv = &l};
	struct weir_group_attr attr;
	struct weir_config cfg;
	struct weir_group *g;
	struct tape t;

	(void)state;
	util_config(&cfg);
	cfg.pool = 2;
	l.w = weir_create(&cfg, &h, weir_policy_at(0), NULL, l.now, NULL);
	assert_non_null(l.w);
	weir_group_attr_init(&attr);
	g = weir_group_create(l.w, weir_root(l.w), &attr, l.now, NULL);
	assert_int_equal(tape_start(&t, l.w, WEIR_RECORD_RING_MIN, l.now), 0);
	assert_true(weir_admit(l.w, g, WEIR_READ, 4096, l.now));
	assert_true(weir_admit(l.w, weir_root(l.w), WEIR_READ, 4096, l.now));
	assert_false(weir_admit(l.w, g, WEIR_READ, 4096, l.now));
	assert_false(weir_admit(l.w, g, WEIR_WRITE, 4096, l.now));
	assert_int_equal(weir_group_remove(g, l.now), 0);
	assert_int_equal(l.wakes, 2);
	weir_release(l.w, weir_root(l.w), WEIR_READ, l.now);
	tape_stop(&t, l.now);
	weir_destroy(l.w);
	tape_expect_equal(&t);
	tape_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_from_within_wake),
		cmocka_unit_test(last_place_on_removal),
	};

	return cmocka_run_group_tests_name("record_wake", tests, NULL, NULL);
}
