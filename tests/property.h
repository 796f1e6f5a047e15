/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the files of the property test: one sequence of calls as it is played. The calls are in
 * property_requests.c (what happens to requests) and property_settings.c (what an operator does);
 * test_property.c is about playing them.
 */
#ifndef TESTS_PROPERTY_H
#define TESTS_PROPERTY_H

#include "tests/model_books.h"
#include "tests/model_draw.h"
#include "tests/util_host.h"

struct run {
	struct books books;
	struct weir *w;
	struct weir_host host;
	struct util_memory memory;
	struct weir_config cfg;
	struct weir_switch *pending;
	uint64_t seed;
	uint64_t now;
	bool admission;	       /* this host asks before it inserts */
	bool trace;	       /* print the calls */
	uint64_t asleep_until; /* nothing can be dispatched before, unless something happens; 0:
				  awake */
	uint64_t answers;      /* all answers so far, hashed */
	uint32_t call;
};

#define CHECK(r, expr) BOOKS_CHECK(&(r)->books, expr)

#define TRACE(r, ...)                        \
	do {                                 \
		if ((r)->trace)              \
			printf(__VA_ARGS__); \
	} while (0)

/* The time to pass, which a confused host may take from a clock that runs behind. */
static inline uint64_t now(struct run *r)
{
	uint64_t given = r->now;

	if (draw_one_in(&r->seed, 16))
		given -= util_below(&r->seed, 1000000);
	books_tick(&r->books, given);
	return given;
}

/* Something happened: what dispatch said of the future is no longer binding. */
static inline void woken(struct run *r)
{
	r->asleep_until = 0;
}

static inline void answer(struct run *r, uint64_t value)
{
	r->answers = (r->answers ^ value) * UINT64_C(0x100000001b3);
}

/* ---- drawing what exists ---- */

static inline int pick_group(struct run *r)
{
	int n = (int)util_below(&r->seed, BOOKS_GROUPS);

	while (!r->books.group[n].used || r->books.group[n].removed)
		n = n ? n - 1 : BOOKS_GROUPS - 1;
	return n;
}

static inline int pick_ctx(struct run *r)
{
	int n = (int)util_below(&r->seed, BOOKS_CTXS), left;

	for (left = BOOKS_CTXS; left; left--, n = n ? n - 1 : BOOKS_CTXS - 1)
		if (r->books.ctx[n].used && !r->books.ctx[n].exited)
			return n;
	return BOOKS_NONE;
}

static inline int pick_rq(struct run *r, enum book_state state)
{
	int n = (int)util_below(&r->seed, BOOKS_RQS), left;

	for (left = BOOKS_RQS; left; left--, n = n ? n - 1 : BOOKS_RQS - 1)
		if (r->books.rq[n].state == state)
			return n;
	return BOOKS_NONE;
}

/* One call of a kind, or nothing if there is nothing to call it with. */
void call_insert(struct run *r);
void call_dispatch(struct run *r);
void call_wait(struct run *r);
void call_complete(struct run *r);
void call_requeue(struct run *r);
void call_remove(struct run *r);

void call_group_create(struct run *r);
void call_group_remove(struct run *r);
void call_group_set(struct run *r);
void call_ctx_create(struct run *r);
void call_ctx_exit(struct run *r);
void call_ctx_change(struct run *r);
void call_switch(struct run *r);
void call_tunable(struct run *r);
void call_reconfigure(struct run *r);
void call_drain(struct run *r);
void call_reset(struct run *r);

/* One dispatch; true if something came. One completion of rq[n]. */
bool run_dispatch(struct run *r);
void run_complete(struct run *r, int n);

#endif
