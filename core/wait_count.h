/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests of a group begin and cease to wait in the policy. While it stays ready that is counting,
 * which is inline here; wait.c has what happens at the first and the last.
 */
#ifndef WEIR_CORE_WAIT_COUNT_H
#define WEIR_CORE_WAIT_COUNT_H

#include "core/group.h"

/* free_ns <= now: no ceiling held it from then on, only the host's not asking. */
static inline void weir_wait_ready_inc(struct weir_group *g, uint64_t free_ns, uint64_t now)
{
	if (weir_likely(g->wait.nr_ready > 0))
		g->wait.nr_ready++;
	else
		weir_wait_ready_begin(g, free_ns, now);
}

static inline void weir_wait_ready_dec(struct weir_group *g, uint64_t now)
{
	if (weir_likely(g->wait.nr_ready > 1))
		g->wait.nr_ready--;
	else
		weir_wait_ready_end(g, now);
}

#endif
