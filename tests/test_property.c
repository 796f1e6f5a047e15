// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random sequences of calls, for each policy, with the promises of the core checked from outside:
 * what a host may rely on whatever it does.
 *
 *   - each request leaves exactly once; statistics add up (tests/model_books.h);
 *   - no ceiling lets through more than exact arithmetic allows (tests/model_tokens.h);
 *   - may_dispatch() is false only if dispatch() gives nothing; asking before the time that it
 *     named gives nothing; with nothing in flight, something that waits has a time;
 *   - a drain gives everything; memory is asked for in set-up calls only, and all of it comes back;
 *   - whoever was refused a place is woken; a sequence played twice gives the same answers.
 *
 * The environment: WEIR_SEED is the seed of all (1), WEIR_SEQUENCES how many for each policy
 * (10000), WEIR_FIRST the number of the first (0), WEIR_POLICY only this one, WEIR_TRACE=1 prints
 * the calls. A failure prints the settings that repeat it.
 */
#include <signal.h>

#include "tests/property.h"

enum {
	CALLS = 300,
	CHECK_EVERY = 10,  /* calls between two comparisons of all statistics */
	TWICE_EVERY = 100, /* sequences of which one is played twice */
};

static struct run run;
static const char *policy_name;
static uint64_t base_seed, sequence;
static bool playing;

/* ---- failure ---- */

static void say_where(void)
{
	fprintf(stderr,
		"at call %u of a sequence; again: WEIR_POLICY=%s WEIR_SEED=%llu WEIR_FIRST=%llu "
		"WEIR_SEQUENCES=1 WEIR_TRACE=1\n",
		run.call, policy_name, (unsigned long long)base_seed, (unsigned long long)sequence);
}

static void failed(void *priv, const char *what, const char *file, int line)
{
	(void)priv;
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	say_where();
	playing = false;
	fail();
}

/* The core's assertions abort. */
static void on_abort(int number)
{
	(void)number;
	say_where();
}

/* For what cmocka catches. */
static int teardown(void **state)
{
	(void)state;
	if (playing)
		say_where();
	playing = false;
	return 0;
}

/* ---- the host ---- */

static void wake(void *priv, struct weir_group *g, enum weir_dir dir)
{
	struct run *r = priv;
	int n;

	for (n = 0; n < BOOKS_GROUPS; n++)
		if (r->books.group[n].used && r->books.group[n].g == g)
			break;
	CHECK(r, n < BOOKS_GROUPS);
	CHECK(r, r->books.group[n].refused[dir] || r->books.group[n].removed);
	r->books.group[n].refused[dir] = false;
}

static void note(void *priv, const char *text)
{
	struct run *r = priv;

	CHECK(r, text[0] && strlen(text) < 160);
}

static void *run_alloc(void *priv, size_t bytes)
{
	return util_alloc(&((struct run *)priv)->memory, bytes);
}

static void run_free(void *priv, void *p, size_t bytes)
{
	util_free(&((struct run *)priv)->memory, p, bytes);
}

/* ---- a sequence ---- */

static const struct {
	void (*call)(struct run *r);
	uint32_t weight;
	bool allocates;
} calls[] = {
	{call_insert, 40, false},     {call_dispatch, 24, false},   {call_complete, 24, false},
	{call_wait, 6, false},	      {call_requeue, 4, false},	    {call_remove, 4, false},
	{call_group_create, 3, true}, {call_group_remove, 2, true}, {call_group_set, 4, true},
	{call_ctx_create, 3, true},   {call_ctx_exit, 2, true},	    {call_ctx_change, 2, true},
	{call_switch, 2, true},	      {call_tunable, 2, true},	    {call_reconfigure, 1, true},
	{call_drain, 2, true},	      {call_reset, 1, true},
};

#define NR_CALLS (sizeof(calls) / sizeof(calls[0]))

static void one_call(struct run *r)
{
	uint32_t all = 0, n;
	uint64_t drawn, before = r->memory.calls;

	for (n = 0; n < NR_CALLS; n++)
		all += calls[n].weight;
	drawn = util_below(&r->seed, all);
	for (n = 0; drawn >= calls[n].weight; n++)
		drawn -= calls[n].weight;
	r->now += draw_step_ns(&r->seed);
	TRACE(r, "%u at %llu\n", r->call, (unsigned long long)r->now);
	calls[n].call(r);
	CHECK(r, calls[n].allocates || r->memory.calls == before);
	books_check_limits(&r->books);
	if (r->call % CHECK_EVERY == 0)
		books_check(&r->books);
}

static void start(struct run *r, const struct weir_policy *policy, uint64_t seed)
{
	uint64_t values[WEIR_TUNABLES_MAX];
	int err = 0;

	memset(r, 0, sizeof(*r));
	r->seed = seed;
	r->now = 1000000 + draw_log(&r->seed, 0, UINT64_C(1) << 56);
	r->admission = draw_one_in(&r->seed, 2);
	r->trace = getenv("WEIR_TRACE") != NULL;
	r->books.failed = failed;
	r->books.priv = r;
	r->host = (struct weir_host){
		.alloc = run_alloc,
		.free = run_free,
		.wake = wake,
		.note = note,
		.priv = r,
	};
	draw_config(&r->seed, &r->cfg);
	draw_tunables(&r->seed, policy, values);
	r->w = weir_create(&r->cfg, &r->host, policy, draw_one_in(&r->seed, 2) ? values : NULL,
			   r->now, &err);
	CHECK(r, r->w && !err);
	books_init(&r->books, r->w, r->now);
}

/* Everything comes out, everybody is woken, all memory comes back. */
static void finish(struct run *r)
{
	int n;

	weir_set_drain(r->w, true, now(r));
	r->books.drain = true;
	r->asleep_until = 0;
	while (run_dispatch(r))
		;
	CHECK(r, !books_count(&r->books, BOOK_WAITING));
	books_check(&r->books);
	while ((n = pick_rq(r, BOOK_IN_FLIGHT)) != BOOKS_NONE)
		run_complete(r, n);
	books_check(&r->books);
	for (n = 0; n < BOOKS_GROUPS; n++)
		CHECK(r, !r->books.group[n].used || (!r->books.group[n].refused[WEIR_READ] &&
						     !r->books.group[n].refused[WEIR_WRITE]));
	weir_destroy(r->w);
	CHECK(r, !r->memory.bytes);
}

static uint64_t play(const struct weir_policy *policy, uint64_t seed)
{
	struct run *r = &run;

	start(r, policy, seed);
	for (r->call = 0; r->call < CALLS; r->call++)
		one_call(r);
	finish(r);
	return r->answers;
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void sequences(void **state)
{
	const struct weir_policy *policy = *state;
	const char *only = getenv("WEIR_POLICY");
	uint64_t first = setting("WEIR_FIRST", 0);
	uint64_t last = first + setting("WEIR_SEQUENCES", 10000);

	policy_name = weir_policy_info(policy)->name;
	if (only && strcmp(only, policy_name))
		skip();
	base_seed = setting("WEIR_SEED", 1);
	playing = true;
	for (sequence = first; sequence < last; sequence++) {
		uint64_t state = base_seed * 1000003 + sequence, seed = util_random(&state);
		uint64_t answers = play(policy, seed);

		if (sequence % TWICE_EVERY == 0)
			CHECK(&run, play(policy, seed) == answers);
	}
	playing = false;
}

int main(void)
{
	struct CMUnitTest tests[16];
	size_t n;

	memset(tests, 0, sizeof(tests));
	for (n = 0; weir_policy_at((unsigned int)n); n++) {
		assert_true(n < sizeof(tests) / sizeof(tests[0]));
		tests[n].name = weir_policy_info(weir_policy_at((unsigned int)n))->name;
		tests[n].test_func = sequences;
		tests[n].teardown_func = teardown;
		tests[n].initial_state = (void *)(uintptr_t)weir_policy_at((unsigned int)n);
	}
	signal(SIGABRT, on_abort);
	return _cmocka_run_group_tests("property", tests, n, NULL, NULL);
}
