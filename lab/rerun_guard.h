/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Catches a failed assertion of the core or a policy, instead of ending the program. A recording
 * may have been taken because an assertion failed (a kernel warns and goes on), or be damaged in a
 * way that no checksum finds: either way the answer is which call it was.
 *
 * Nothing that the core allocated may be used or freed through the core after that.
 */
#ifndef LAB_RERUN_GUARD_H
#define LAB_RERUN_GUARD_H

#include <setjmp.h>

struct lab_guard {
	void (*work)(void *arg);
	/* Called where the assertion failed, then work() is left. */
	void (*failed)(void *arg, const char *expr, const char *file, int line);
	void *arg;

	jmp_buf back;
	struct lab_guard *outer;
};

/* Runs g->work(g->arg). One thread may nest them. */
void lab_guard_run(struct lab_guard *g);

#endif
