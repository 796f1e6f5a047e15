// SPDX-License-Identifier: GPL-2.0-only
/*
 * Virtual time: a 4-ary heap of events.
 *
 * An entry carries its key (time, then number of the scheduling) beside the pointer to its event,
 * so that sifting reads entries only and touches an event just to tell it its new place. The queue
 * is short in every run (commands in the device, timers of the jobs), so the heap is two or three
 * levels deep and lives in the first-level cache.
 *
 * Most events schedule exactly one other from their function. Taking an event out therefore leaves
 * a hole at the root; the first event scheduled meanwhile goes there and sinks, which saves moving
 * the last entry up and back. Whoever else looks at the heap closes the hole first.
 *
 * Time after lab_engine_run(): that of the last event if lab_engine_stop() ended it or there was no
 * limit, else until_ns, also when the queue ran empty earlier.
 */
#include "lab/engine.h"

#include <stdio.h>
#include <stdlib.h>

#define UNSCHEDULED UINT32_MAX
#define FIRST_ROOM 256

struct entry {
	uint64_t at_ns, seq;
	struct lab_event *ev;
};

struct lab_engine {
	struct entry *heap;
	uint32_t nr, room;
	bool hole; /* the root is being run: heap[0] is nobody's */
	bool running, stopped;
	uint64_t now_ns, next_seq;
};

static void out_of_memory(void)
{
	fputs("weir: out of memory for events\n", stderr);
	abort();
}

static bool before(const struct entry *a, const struct entry *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->seq < b->seq;
}

static void put(struct lab_engine *e, uint32_t at, const struct entry *x)
{
	e->heap[at] = *x;
	x->ev->heap_at = at;
}

static void sift_up(struct lab_engine *e, uint32_t at, struct entry x)
{
	while (at) {
		uint32_t up = (at - 1) / 4;

		if (!before(&x, &e->heap[up]))
			break;
		put(e, at, &e->heap[up]);
		at = up;
	}
	put(e, at, &x);
}

static void sift_down(struct lab_engine *e, uint32_t at, struct entry x)
{
	const struct entry *heap = e->heap;
	uint32_t nr = e->nr;

	for (;;) {
		uint32_t child = 4 * at + 1, best = child, end;

		if (child >= nr)
			break;
		end = child + 4 < nr ? child + 4 : nr;
		while (++child < end)
			if (before(&heap[child], &heap[best]))
				best = child;
		if (!before(&heap[best], &x))
			break;
		put(e, at, &heap[best]);
		at = best;
	}
	put(e, at, &x);
}

/* x belongs somewhere around `at`, whose entry is gone. */
static void sift(struct lab_engine *e, uint32_t at, struct entry x)
{
	if (at && before(&x, &e->heap[(at - 1) / 4]))
		sift_up(e, at, x);
	else
		sift_down(e, at, x);
}

static void close_hole(struct lab_engine *e)
{
	if (!e->hole)
		return;
	e->hole = false;
	if (--e->nr)
		sift_down(e, 0, e->heap[e->nr]);
}

static void grow(struct lab_engine *e)
{
	uint32_t room = e->room ? 2 * e->room : FIRST_ROOM;
	struct entry *heap = realloc(e->heap, room * sizeof(*heap));

	if (!heap)
		out_of_memory();
	e->heap = heap;
	e->room = room;
}

struct lab_engine *lab_engine_new(void)
{
	struct lab_engine *e = calloc(1, sizeof(*e));

	if (!e)
		out_of_memory();
	grow(e);
	return e;
}

void lab_engine_free(struct lab_engine *e)
{
	if (!e)
		return;
	free(e->heap);
	free(e);
}

uint64_t lab_now(const struct lab_engine *e)
{
	return e->now_ns;
}

void lab_event_init(struct lab_event *ev, void (*fn)(struct lab_event *ev, uint64_t now_ns))
{
	ev->fn = fn;
	ev->at_ns = LAB_NEVER;
	ev->seq = 0;
	ev->heap_at = UNSCHEDULED;
}

void lab_event_at(struct lab_engine *e, struct lab_event *ev, uint64_t at_ns)
{
	struct entry x;

	if (at_ns == LAB_NEVER) { /* what never comes need not be kept */
		lab_event_cancel(e, ev);
		return;
	}
	ev->at_ns = at_ns > e->now_ns ? at_ns : e->now_ns;
	ev->seq = e->next_seq++;
	x = (struct entry){ev->at_ns, ev->seq, ev};
	if (ev->heap_at != UNSCHEDULED) {
		close_hole(e);
		sift(e, ev->heap_at, x);
	} else if (e->hole) {
		e->hole = false;
		sift_down(e, 0, x);
	} else {
		if (e->nr == e->room)
			grow(e);
		sift_up(e, e->nr++, x);
	}
}

void lab_event_cancel(struct lab_engine *e, struct lab_event *ev)
{
	uint32_t at;

	if (ev->heap_at == UNSCHEDULED)
		return;
	close_hole(e); /* may move ev */
	at = ev->heap_at;
	ev->heap_at = UNSCHEDULED;
	if (at != --e->nr)
		sift(e, at, e->heap[e->nr]);
}

void lab_engine_run(struct lab_engine *e, uint64_t until_ns)
{
	if (e->running) {
		fputs("weir: lab_engine_run() called from an event\n", stderr);
		abort();
	}
	e->running = true;
	e->stopped = false;
	while (e->nr && !e->stopped && e->heap[0].at_ns <= until_ns) {
		struct lab_event *ev = e->heap[0].ev;

		e->now_ns = e->heap[0].at_ns;
		ev->heap_at = UNSCHEDULED;
		e->hole = true;
		ev->fn(ev, e->now_ns);
		close_hole(e);
	}
	if (!e->stopped && until_ns != LAB_NEVER && e->now_ns < until_ns)
		e->now_ns = until_ns;
	e->running = false;
}

void lab_engine_stop(struct lab_engine *e)
{
	e->stopped = true;
}
