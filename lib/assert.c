// SPDX-License-Identifier: GPL-2.0-only
/*
 * What libweir does in user space when an assertion of the core fails: says which, and aborts.
 *
 * Weak, so that a program with a better idea (a log, a crash handler, a watchdog that falls back to
 * pass-through) defines its own and needs no build option.
 */
#include <stdio.h>
#include <stdlib.h>

#include <weir/weir.h>

__attribute__((weak)) void weir_assert_fail(const char *expr, const char *file, int line)
{
	fprintf(stderr, "weir: %s:%d: assertion failed: %s\n", file, line, expr);
	abort();
}
