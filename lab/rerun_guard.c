// SPDX-License-Identifier: GPL-2.0-only
/* Catches failed assertions: see rerun_guard.h. */
#include "lab/rerun_guard.h"

#include <stdio.h>
#include <stdlib.h>

#include <weir/weir.h>

static _Thread_local struct lab_guard *current;

void lab_guard_run(struct lab_guard *g)
{
	g->outer = current;
	current = g;
	if (!setjmp(g->back))
		g->work(g->arg);
	current = g->outer;
}

/*
 * Outside of a guard the same as libweir's own, whose place it takes where both are linked in. Weak
 * like that one, so that a program may still define its own.
 */
__attribute__((weak)) void weir_assert_fail(const char *expr, const char *file, int line)
{
	struct lab_guard *g = current;

	if (!g) {
		fprintf(stderr, "weir: %s:%d: assertion failed: %s\n", file, line, expr);
		abort();
	}
	g->failed(g->arg, expr, file, line);
	longjmp(g->back, 1);
}
