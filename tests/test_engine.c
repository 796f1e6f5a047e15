// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine: order of events by hand, and a long random run beside the slowest right queue, an
 * unsorted array that is searched for its smallest entry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/fixed.h"
#include "lab/engine.h"
#include "lab/rng.h"

struct note { /* an event that says when it ran */
	struct lab_event ev;
	char name;
};

static char ran[64];
static uint64_t ran_at[64];
static struct lab_engine *engine;

static void note_fn(struct lab_event *ev, uint64_t now)
{
	size_t n = strlen(ran);

	assert_true(now == lab_now(engine));
	assert_false(lab_event_pending(ev));
	ran[n] = ((struct note *)(void *)ev)->name;
	ran_at[n] = now;
}

static void note_init(struct note *n, char name)
{
	n->name = name;
	lab_event_init(&n->ev, note_fn);
}

static int setup(void **state)
{
	(void)state;
	engine = lab_engine_new();
	memset(ran, 0, sizeof(ran));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	lab_engine_free(engine);
	return 0;
}

static void test_order_of_time_then_of_scheduling(void **state)
{
	struct note n[5];
	int i;

	(void)state;
	for (i = 0; i < 5; i++)
		note_init(&n[i], (char)('a' + i));
	lab_event_at(engine, &n[0].ev, 20);
	lab_event_at(engine, &n[1].ev, 10);
	lab_event_at(engine, &n[2].ev, 20);
	lab_event_at(engine, &n[3].ev, 5);
	lab_event_at(engine, &n[4].ev, 20);
	lab_engine_run(engine, LAB_NEVER);
	assert_string_equal(ran, "dbace");
	assert_int_equal(ran_at[0], 5);
	assert_int_equal(ran_at[4], 20);
	assert_int_equal(lab_now(engine), 20);
}

static void test_moving_counts_as_scheduling_anew(void **state)
{
	struct note a, b, c;

	(void)state;
	note_init(&a, 'a');
	note_init(&b, 'b');
	note_init(&c, 'c');
	lab_event_at(engine, &a.ev, 10);
	lab_event_at(engine, &b.ev, 10);
	lab_event_at(engine, &c.ev, 30);
	lab_event_at(engine, &a.ev, 10); /* behind b now */
	lab_event_at(engine, &c.ev, 5);	 /* to the front */
	lab_engine_run(engine, LAB_NEVER);
	assert_string_equal(ran, "cba");
}

static void test_cancel(void **state)
{
	struct note a, b;

	(void)state;
	note_init(&a, 'a');
	note_init(&b, 'b');
	lab_event_cancel(engine, &a.ev); /* not scheduled: nothing */
	lab_event_at(engine, &a.ev, 10);
	lab_event_at(engine, &b.ev, 11);
	assert_true(lab_event_pending(&a.ev));
	lab_event_cancel(engine, &a.ev);
	assert_false(lab_event_pending(&a.ev));
	lab_event_at(engine, &b.ev, LAB_NEVER); /* never: the same as cancelled */
	assert_false(lab_event_pending(&b.ev));
	lab_engine_run(engine, LAB_NEVER);
	assert_string_equal(ran, "");
	lab_event_at(engine, &a.ev, 12); /* and may come back */
	lab_engine_run(engine, LAB_NEVER);
	assert_string_equal(ran, "a");
}

static struct note other, third;

static void cancel_other_fn(struct lab_event *ev, uint64_t now)
{
	note_fn(ev, now);
	lab_event_cancel(engine, &other.ev);
	lab_event_at(engine, &third.ev, 0); /* the past is now */
}

static void test_cancel_and_schedule_from_an_event(void **state)
{
	struct note a, d;

	(void)state;
	note_init(&a, 'a');
	a.ev.fn = cancel_other_fn;
	note_init(&other, 'b');
	note_init(&third, 'c');
	note_init(&d, 'd');
	lab_event_at(engine, &a.ev, 10);
	lab_event_at(engine, &other.ev, 10);
	lab_event_at(engine, &d.ev, 10);
	lab_engine_run(engine, LAB_NEVER);
	assert_string_equal(ran, "adc");
	assert_int_equal(ran_at[2], 10);
}

static void stop_fn(struct lab_event *ev, uint64_t now)
{
	note_fn(ev, now);
	lab_engine_stop(engine);
}

static void test_until_and_stop(void **state)
{
	struct note a, b, c;

	(void)state;
	note_init(&a, 'a');
	note_init(&b, 'b');
	b.ev.fn = stop_fn;
	note_init(&c, 'c');
	lab_event_at(engine, &a.ev, 10);
	lab_event_at(engine, &b.ev, 20);
	lab_event_at(engine, &c.ev, 20);
	lab_engine_run(engine, 9);
	assert_string_equal(ran, "");
	assert_int_equal(lab_now(engine), 9);
	lab_engine_run(engine, 10); /* until is included */
	assert_string_equal(ran, "a");
	lab_engine_run(engine, 100);
	assert_string_equal(ran, "ab");
	assert_int_equal(lab_now(engine), 20);
	lab_engine_run(engine, 100);
	assert_string_equal(ran, "abc");
	assert_int_equal(lab_now(engine), 100);
}

/* ---- beside a model ---- */

#define EVENTS 300

struct actor {
	struct lab_event ev;
	uint64_t model_at, model_seq; /* model_at LAB_NEVER: not scheduled */
};

static struct actor actor[EVENTS];
static struct lab_rng rng;
static uint64_t model_next_seq, runs;

static struct actor *model_first(void)
{
	struct actor *first = NULL;
	int i;

	for (i = 0; i < EVENTS; i++) {
		struct actor *a = &actor[i];

		if (a->model_at == LAB_NEVER)
			continue;
		if (!first || a->model_at < first->model_at ||
		    (a->model_at == first->model_at && a->model_seq < first->model_seq))
			first = a;
	}
	return first;
}

static void schedule(struct actor *a, uint64_t at)
{
	lab_event_at(engine, &a->ev, at);
	a->model_at = at < lab_now(engine) ? lab_now(engine) : at;
	a->model_seq = model_next_seq++;
}

static void random_steps(void)
{
	uint64_t steps = lab_rng_below(&rng, 4);

	while (steps--) {
		struct actor *a = &actor[lab_rng_below(&rng, EVENTS)];

		/* Few different times, so that there are ties; some lie in the past. */
		if (lab_rng_below(&rng, 4)) {
			schedule(a, lab_now(engine) + lab_rng_below(&rng, 40) - 3);
		} else {
			lab_event_cancel(engine, &a->ev);
			a->model_at = LAB_NEVER;
		}
		assert_true(lab_event_pending(&a->ev) == (a->model_at != LAB_NEVER));
	}
}

static void actor_fn(struct lab_event *ev, uint64_t now)
{
	struct actor *a = (struct actor *)(void *)ev;

	assert_ptr_equal(a, model_first());
	assert_int_equal(now, a->model_at);
	a->model_at = LAB_NEVER;
	if (++runs < 200000)
		random_steps();
}

static void test_random_run_agrees_with_the_model(void **state)
{
	int i;

	(void)state;
	lab_rng_seed(&rng, 1, 0);
	for (i = 0; i < EVENTS; i++) {
		lab_event_init(&actor[i].ev, actor_fn);
		schedule(&actor[i], lab_rng_below(&rng, 100));
	}
	while (runs < 200000) {
		lab_engine_run(engine, LAB_NEVER);
		schedule(&actor[0], lab_now(engine) + 1);
	}
	lab_engine_run(engine, LAB_NEVER);
	assert_null(model_first());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order_of_time_then_of_scheduling, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_moving_counts_as_scheduling_anew, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_cancel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cancel_and_schedule_from_an_event, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_until_and_stop, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random_run_agrees_with_the_model, setup,
						teardown),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
