// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flight recorder: random sequences of all calls under every policy, recorded from a fresh or a
 * used instance and run again; when it may start; what it does when its ring is full.
 *
 * WEIR_SEED is the seed (1), WEIR_SEQUENCES how many for each policy (200). A failure prints both
 * such that the same sequence comes first.
 */
#include "tests/property.h"
#include "tests/record_tape.h"

enum {
	CALLS_BEFORE = 120,
	CALLS_RECORDED = 300,
};

static struct run run;

/* ---- a host that plays random sequences ---- */

static void books_failed(void *priv, const char *what, const char *file, int line)
{
	(void)priv;
	fail_msg("%s:%d: does not hold: %s", file, line, what);
}

static void wake(void *priv, struct weir_group *g, enum weir_dir dir)
{
	struct run *r = priv;
	int n;

	for (n = 0; n < BOOKS_GROUPS; n++)
		if (r->books.group[n].used && r->books.group[n].g == g)
			r->books.group[n].refused[dir] = false;
}

static void *run_alloc(void *priv, size_t bytes)
{
	return util_alloc(&((struct run *)priv)->memory, bytes);
}

static void run_free(void *priv, void *p, size_t bytes)
{
	util_free(&((struct run *)priv)->memory, p, bytes);
}

static void start(struct run *r, const struct weir_policy *policy, uint64_t seed)
{
	uint64_t values[WEIR_TUNABLES_MAX];
	int err = 0;

	memset(r, 0, sizeof(*r));
	r->seed = seed;
	r->now = 1000000 + draw_log(&r->seed, 0, UINT64_C(1) << 56);
	r->admission = draw_one_in(&r->seed, 2);
	r->books.failed = books_failed;
	r->host = (struct weir_host){.alloc = run_alloc, .free = run_free, .wake = wake, .priv = r};
	draw_config(&r->seed, &r->cfg);
	draw_tunables(&r->seed, policy, values);
	r->w = weir_create(&r->cfg, &r->host, policy, values, r->now, &err);
	assert_non_null(r->w);
	books_init(&r->books, r->w, r->now);
}

static void one_call(struct run *r)
{
	static void (*const calls[])(struct run * r) = {
		call_insert,	   call_insert,	      call_insert,	call_insert,
		call_insert,	   call_insert,	      call_insert,	call_dispatch,
		call_dispatch,	   call_dispatch,     call_dispatch,	call_complete,
		call_complete,	   call_complete,     call_complete,	call_wait,
		call_requeue,	   call_remove,	      call_ctx_create,	call_ctx_exit,
		call_group_create, call_group_remove, call_group_set,	call_ctx_change,
		call_switch,	   call_tunable,      call_reconfigure, call_drain,
		call_reset,
	};

	r->now += draw_step_ns(&r->seed);
	calls[util_below(&r->seed, sizeof(calls) / sizeof(calls[0]))](r);
	books_check_limits(&r->books);
	/* Statistics move time, and are not recorded. */
	if (draw_one_in(&r->seed, 16))
		books_check(&r->books);
	r->call++;
}

/* Everything comes out and every place is given back. */
static void empty(struct run *r)
{
	int n;

	weir_set_drain(r->w, true, now(r));
	r->books.drain = true;
	r->asleep_until = 0;
	while (run_dispatch(r))
		;
	while ((n = pick_rq(r, BOOK_IN_FLIGHT)) != BOOKS_NONE)
		run_complete(r, n);
	if (draw_one_in(&r->seed, 4))
		return;
	weir_set_drain(r->w, false, now(r));
	r->books.drain = false;
}

static void stop(struct run *r)
{
	empty(r);
	weir_destroy(r->w);
	assert_int_equal(r->memory.bytes, 0);
}

/* Ceilings begin afresh with a recording: what is owed to them is forgotten. */
static void forget_ceilings(struct books *b)
{
	unsigned int dir;
	int n;

	for (n = 0; n < BOOKS_GROUPS; n++) {
		struct book_group *bg = &b->group[n];

		for (dir = 0; bg->used && dir < WEIR_NR_DIRS; dir++) {
			model_bucket_init(&bg->bytes[dir], b->now);
			model_bucket_init(&bg->ios[dir], b->now);
			model_bucket_set_rate(&bg->bytes[dir], bg->attr.max.bps[dir], b->now);
			model_bucket_set_rate(&bg->ios[dir], bg->attr.max.iops[dir], b->now);
		}
	}
}

/* ---- random sequences ---- */

static void record_sequence(const struct weir_policy *policy, uint64_t seed)
{
	struct run *r = &run;
	struct lab_rerun_result result;
	struct tape t;
	uint64_t n;

	start(r, policy, seed);
	for (n = util_below(&r->seed, CALLS_BEFORE); n; n--)
		one_call(r);
	empty(r);
	assert_int_equal(tape_start(&t, r->w, WEIR_RECORD_RING_MIN, now(r)), 0);
	r->asleep_until = 0;
	forget_ceilings(&r->books);
	for (n = 0; n < CALLS_RECORDED; n++) {
		one_call(r);
		tape_pull(&t, 1 + util_below(&r->seed, 100));
	}
	assert_false(weir_record_overflowed(r->w));
	tape_stop(&t, now(r));
	stop(r);
	tape_expect_equal(&t);
	tape_rerun(&t, &result);
	assert_true(result.started && !result.overflowed);
	assert_true(result.nr_calls > CALLS_RECORDED / 4);
	assert_int_equal(result.nr_bytes, t.bytes);
	lab_rerun_free(&result);
	tape_free(&t);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static uint64_t sequence_seed;

static int say_seed(void **state)
{
	(void)state;
	if (sequence_seed)
		fprintf(stderr, "at seed %llu; again: WEIR_SEED=%llu WEIR_SEQUENCES=1\n",
			(unsigned long long)sequence_seed, (unsigned long long)sequence_seed);
	sequence_seed = 0;
	return 0;
}

static void random_sequences(void **state)
{
	uint64_t first = setting("WEIR_SEED", 1), n = setting("WEIR_SEQUENCES", 200);

	for (sequence_seed = first; n; n--, sequence_seed++)
		record_sequence(*state, sequence_seed * UINT64_C(0x9e3779b97f4a7c15));
	sequence_seed = 0;
}

/* ---- when it may start ---- */

static struct util_host host;

static int host_setup(void **state)
{
	util_host_init(&host);
	util_host_start(&host, weir_policy_at(0), NULL);
	*state = &host;
	return 0;
}

static int host_teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static void busy(void **state)
{
	struct util_host *h = *state;
	struct tape t, second;
	uint32_t a = util_insert(h, WEIR_OP_READ, 0, 8);

	assert_int_equal(tape_start(&t, h->w, WEIR_RECORD_RING_MIN, h->now), -WEIR_EBUSY);
	assert_int_equal(util_dispatch(h), a);
	assert_int_equal(tape_start(&t, h->w, WEIR_RECORD_RING_MIN, h->now), -WEIR_EBUSY);
	util_complete(h, a);
	assert_true(weir_admit(h->w, weir_root(h->w), WEIR_READ, 4096, h->now));
	assert_int_equal(tape_start(&t, h->w, WEIR_RECORD_RING_MIN, h->now), -WEIR_EBUSY);
	weir_release(h->w, weir_root(h->w), WEIR_READ, h->now);
	assert_int_equal(tape_start(&t, h->w, WEIR_RECORD_RING_MIN, h->now), 0);
	assert_int_equal(tape_start(&second, h->w, WEIR_RECORD_RING_MIN, h->now), -WEIR_EBUSY);
	tape_stop(&t, h->now);
	tape_expect_equal(&t);
	/* The second one of an instance is as good as the first. */
	assert_int_equal(tape_start(&second, h->w, WEIR_RECORD_RING_MIN, h->now), 0);
	tape_stop(&second, h->now);
	tape_expect_equal(&second);
	tape_free(&second);
	tape_free(&t);
}

static void bad_rings(void **state)
{
	struct util_host *h = *state;
	uint64_t ring[WEIR_RECORD_RING_MIN / 8 + 1];
	struct tape t;
	int n;

	assert_int_equal(weir_record_start(h->w, NULL, sizeof(ring), h->now), -WEIR_EINVAL);
	assert_int_equal(weir_record_start(h->w, ring, WEIR_RECORD_RING_MIN - 1, h->now),
			 -WEIR_EINVAL);
	assert_int_equal(weir_record_start(h->w, (char *)ring + 1, WEIR_RECORD_RING_MIN, h->now),
			 -WEIR_EINVAL);
	assert_int_equal(weir_record_read(h->w, ring, sizeof(ring)), 0);
	assert_false(weir_record_overflowed(h->w));
	/* More groups than the ring has room for; a larger one has. */
	for (n = 0; n < 3000; n++)
		util_group(h, weir_root(h->w), 1 + (uint32_t)n);
	assert_int_equal(weir_record_start(h->w, ring, WEIR_RECORD_RING_MIN, h->now), -WEIR_EINVAL);
	assert_int_equal(weir_record_read(h->w, ring, sizeof(ring)), 0);
	util_expect(h, util_insert(h, WEIR_OP_READ, 0, 8));
	assert_int_equal(tape_start(&t, h->w, 8 * WEIR_RECORD_RING_MIN, h->now), 0);
	tape_stop(&t, h->now);
	tape_expect_equal(&t);
	tape_free(&t);
}

/* A group that was removed lives on in its context, and in the recording. */
static void removed_groups(void **state)
{
	struct util_host *h = *state;
	struct weir_group *up = util_group(h, weir_root(h->w), 200);
	struct weir_group *g = util_group(h, up, 300), *other = util_group(h, up, 50);
	struct weir_ctx *ctx = weir_ctx_create(h->w, g, WEIR_IOPRIO_BE, 4, h->now);
	struct tape t;

	assert_int_equal(weir_group_remove(g, h->now), 0);
	assert_int_equal(weir_group_remove(other, h->now), 0);
	assert_int_equal(weir_group_remove(up, h->now), 0);
	assert_int_equal(tape_start(&t, h->w, WEIR_RECORD_RING_MIN, h->now), 0);
	h->now += 1000;
	util_expect(h, util_insert_as(h, weir_root(h->w), ctx, WEIR_OP_READ, 8, 8));
	weir_ctx_exit(ctx, h->now);
	/* Both are gone by now: their names may not come back. */
	util_group(h, weir_root(h->w), 10);
	tape_stop(&t, h->now);
	tape_expect_equal(&t);
	tape_free(&t);
}

/* Each member of the configuration and of a group's attributes, all of them different. */
static void configuration_comes_back(void **state)
{
	const struct weir_config cfg = {
		{2001, 2002, 2003, 2004, 2005, 2006, 2007, 2008, 2009, true},
		3001,
		3002,
		3003,
		3004,
		3005,
		false,
		false};
	const struct weir_group_attr attr = {
		4001, 4002, {{5101, 5102}, {5103, 5104}}, {{5001, 5002}, {5003, 5004}}, 4003};
	struct lab_rerun_result r;
	struct util_host *h = &host;
	struct tape t;

	(void)state;
	util_host_init(h);
	h->cfg = cfg;
	util_host_start(h, weir_policy_at(0), NULL);
	assert_non_null(weir_group_create(h->w, weir_root(h->w), &attr, h->now, NULL));
	assert_int_equal(tape_start(&t, h->w, WEIR_RECORD_RING_MIN, h->now), 0);
	tape_stop(&t, h->now);
	util_host_stop(h);
	assert_int_equal(tape_rerun(&t, &r), LAB_RERUN_EQUAL);
	/* No padding within what is compared at once. */
	assert_memory_equal(&r.cfg.profile, &cfg.profile,
			    offsetof(struct weir_profile, rotational));
	assert_memory_equal(&r.cfg.nr_requests, &cfg.nr_requests,
			    offsetof(struct weir_config, merge) -
				    offsetof(struct weir_config, nr_requests));
	assert_true(r.cfg.profile.rotational && !r.cfg.merge && !r.cfg.accounting);
	assert_int_equal(r.nr_groups, 2);
	assert_memory_equal(&r.group[1].attr, &attr, sizeof(attr));
	lab_rerun_free(&r);
	tape_free(&t);
}

/*
 * Where the last request ended decides what the next one costs: with 1 ms for a random read, 10 us
 * for a sequential one and 0.5 ms in flight, whether a second one may go. That must not reach from
 * before the recording into it.
 */
static void costs_begin_afresh(void **state)
{
	const struct weir_policy *policy = weir_policy_find("weir");
	uint64_t values[WEIR_TUNABLES_MAX];
	struct util_host *h = &host;
	struct weir_ctx *ctx;
	struct tape t;
	int with_ctx;

	(void)state;
	for (with_ctx = 0; with_ctx < 2; with_ctx++) {
		util_host_init(h);
		h->cfg.profile.rrandiops = 1000;
		util_defaults(policy, values);
		util_tune(policy, values, "depth_us", 500);
		util_host_start(h, policy, values);
		ctx = with_ctx ? weir_ctx_create(h->w, weir_root(h->w), WEIR_IOPRIO_BE, 4, h->now)
			       : NULL;
		util_expect(h, util_insert_as(h, weir_root(h->w), ctx, WEIR_OP_READ, 1 << 20, 8));
		assert_int_equal(tape_start(&t, h->w, WEIR_RECORD_RING_MIN, h->now), 0);
		util_insert_as(h, weir_root(h->w), ctx, WEIR_OP_READ, (1 << 20) + 8, 8);
		util_insert_as(h, weir_root(h->w), ctx, WEIR_OP_READ, 1 << 28, 8);
		assert_int_not_equal(util_dispatch(h), UTIL_NONE);
		assert_int_equal(util_dispatch(h), UTIL_NONE);
		tape_stop(&t, h->now);
		tape_expect_equal(&t);
		tape_free(&t);
		util_host_stop(h);
	}
}

/*
 * A waits for a place; its claim of 2 ms is renewed when time passes its end, be it because
 * somebody looked at statistics. Half a millisecond later the claim would have been renewed for
 * longer, and B would have got half of the pool only.
 */
static void looking_moves_time(void **state)
{
	struct util_host *h = &host;
	struct weir_group_stats stats;
	struct weir_group *a, *b;
	struct tape t;
	int n;

	(void)state;
	util_host_init(h);
	h->cfg.pool = 8;
	util_host_start(h, weir_policy_at(0), NULL);
	a = util_group(h, weir_root(h->w), 100);
	b = util_group(h, weir_root(h->w), 100);
	assert_int_equal(tape_start(&t, h->w, WEIR_RECORD_RING_MIN, h->now), 0);
	for (n = 0; n < 8; n++)
		assert_true(weir_admit(h->w, b, WEIR_READ, 4096, h->now));
	assert_false(weir_admit(h->w, a, WEIR_READ, 4096, h->now));
	h->now += 2500000;
	weir_group_read_stats(a, h->now, &stats);
	h->now += 500000;
	weir_release(h->w, b, WEIR_READ, h->now);
	assert_int_equal(h->nr_wakes, 1);
	h->now += 1800000;
	assert_true(weir_admit(h->w, b, WEIR_READ, 4096, h->now));
	for (n = 0; n < 8; n++)
		weir_release(h->w, b, WEIR_READ, h->now);
	tape_stop(&t, h->now);
	tape_expect_equal(&t);
	tape_find(&t, WEIR_REC_TICK, 0);
	tape_free(&t);
	util_host_stop(h);
}

/* ---- a full ring ---- */

static void overflow(void **state)
{
	struct util_host *h = *state;
	struct lab_rerun_result r;
	struct tape t;
	uint32_t n, overflowed_at = 0;
	size_t used;

	assert_int_equal(weir_record_used(h->w), 0);
	assert_int_equal(tape_start(&t, h->w, WEIR_RECORD_RING_MIN, h->now), 0);
	used = weir_record_used(h->w);
	assert_true(used > 0); /* the state at the start */
	for (n = 0; n < UTIL_RQS; n++) {
		h->now += 12345;
		util_expect(h, util_insert(h, n % 3 ? WEIR_OP_READ : WEIR_OP_WRITE,
					   (n * 7919u) % 100000, 8));
		assert_true(weir_record_used(h->w) >= used);
		used = weir_record_used(h->w);
		if (!overflowed_at && weir_record_overflowed(h->w))
			overflowed_at = n;
	}
	assert_true(overflowed_at > 100);
	used = weir_record_used(h->w);
	tape_stop(&t, h->now);
	assert_int_equal(t.bytes, used); /* nothing comes after an overflow */
	assert_int_equal(weir_record_used(h->w), 0);
	assert_true(weir_record_overflowed(h->w));
	assert_true(t.bytes <= WEIR_RECORD_RING_MIN);
	assert_true(t.bytes > WEIR_RECORD_RING_MIN / 2);
	assert_int_equal(tape_rerun(&t, &r), LAB_RERUN_EQUAL);
	assert_true(r.overflowed);
	assert_in_range(r.calls[WEIR_REC_INSERT], overflowed_at, overflowed_at + 1);
	lab_rerun_free(&r);
	tape_free(&t);
	/* The next one is not concerned. */
	assert_int_equal(tape_start(&t, h->w, WEIR_RECORD_RING_MIN, h->now), 0);
	assert_false(weir_record_overflowed(h->w));
	tape_stop(&t, h->now);
	tape_expect_equal(&t);
	tape_free(&t);
}

/* Read out in time, a small ring takes any number of calls. */
static void endless(void **state)
{
	struct util_host *h = *state;
	uint64_t seed = 5;
	struct tape t;
	uint32_t n;

	assert_int_equal(tape_start(&t, h->w, WEIR_RECORD_RING_MIN, h->now), 0);
	for (n = 0; n < UTIL_RQS; n++) {
		h->now += UINT64_C(1) << n % 30;
		util_expect(h, util_insert(h, WEIR_OP_WRITE, util_random(&seed) >> 20, n % 64));
		tape_pull(&t, 1 + n % 40);
		assert_true(weir_record_used(h->w) < 4096); /* the open block */
	}
	assert_false(weir_record_overflowed(h->w));
	tape_stop(&t, h->now);
	assert_true(t.bytes > 2 * WEIR_RECORD_RING_MIN);
	tape_expect_equal(&t);
	tape_free(&t);
}

#define NR_POLICIES_MAX 16

int main(void)
{
	struct CMUnitTest tests[NR_POLICIES_MAX + 8] = {
		cmocka_unit_test_setup_teardown(busy, host_setup, host_teardown),
		cmocka_unit_test_setup_teardown(bad_rings, host_setup, host_teardown),
		cmocka_unit_test_setup_teardown(removed_groups, host_setup, host_teardown),
		cmocka_unit_test(configuration_comes_back),
		cmocka_unit_test(costs_begin_afresh),
		cmocka_unit_test(looking_moves_time),
		cmocka_unit_test_setup_teardown(overflow, host_setup, host_teardown),
		cmocka_unit_test_setup_teardown(endless, host_setup, host_teardown),
	};
	const struct weir_policy *policy;
	size_t nr = 8;
	unsigned int n;

	for (n = 0; (policy = weir_policy_at(n)); n++) {
		assert_true(n < NR_POLICIES_MAX);
		tests[nr++] = (struct CMUnitTest){
			.name = weir_policy_info(policy)->name,
			.test_func = random_sequences,
			.teardown_func = say_seed,
			.initial_state = (void *)(uintptr_t)policy,
		};
	}
	return _cmocka_run_group_tests("record", tests, nr, NULL, NULL);
}
