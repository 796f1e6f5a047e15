/* SPDX-License-Identifier: GPL-2.0-only */
/* Bringing requests out of step: see stagger.c. */
#ifndef WEIR_POLICY_WEIR_STAGGER_H
#define WEIR_POLICY_WEIR_STAGGER_H

#include "policy/weir/internal.h"

/* The places of a round are being filled one by one. */
static inline bool wp_stagger_is_on(const struct wp *p)
{
	return p->stagger.lasts_ns > 0;
}

/* Was nothing completed for so long that requests may be in step? */
static inline bool wp_stagger_is_gap(const struct wp *p, uint64_t gap_ns)
{
	return gap_ns > (p->service_ns >> 2) + (p->service_ns >> 3);
}

/* A request was completed after such a gap. O(1) */
void wp_stagger_gap(struct wp *p, uint64_t gap_ns, uint64_t now);

/*
 * From now on, over most of a service time, what may be in flight goes up from one to the other; then
 * the window is in force. to_ns > from_ns.
 */
void wp_stagger_begin(struct wp *p, uint64_t from_ns, uint64_t to_ns, uint64_t now);

/* While it is on: the time from which one more may go, with what is in flight now. It may end. */
uint64_t wp_stagger_until(struct wp *p, uint64_t now);

#endif
