/* SPDX-License-Identifier: GPL-2.0-only */
/* Bringing requests out of step: see stagger.c. */
#ifndef WEIR_POLICY_WEIR_STAGGER_H
#define WEIR_POLICY_WEIR_STAGGER_H

#include "policy/weir/internal.h"

/* Requests go one by one. */
static inline bool wp_stagger_is_on(const struct wp *p)
{
	return p->stagger.filling || p->stagger.keeping;
}

/* Was nothing completed for so long that requests may be in step? */
static inline bool wp_stagger_is_gap(const struct wp *p, uint64_t gap_ns)
{
	return gap_ns > (p->service_ns >> 2) + (p->service_ns >> 3);
}

/* A request was completed after such a gap. O(1) */
void wp_stagger_gap(struct wp *p, uint64_t gap_ns, uint64_t now);

/*
 * From now on, for a service time or until the window is full, requests go one by one, nearly as far
 * apart as those are whose device time is round_ns and which fill a service time evenly.
 */
void wp_stagger_begin(struct wp *p, uint64_t round_ns, uint64_t now);

/* While it is on, something is in flight, and there is room: when the next may go. It may end. O(1) */
uint64_t wp_stagger_next(struct wp *p, uint64_t now);

/* There is no room: what is being filled is full. O(1) */
void wp_stagger_filled(struct wp *p);

#endif
