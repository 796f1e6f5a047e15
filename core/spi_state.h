/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a policy may read of its instance. Inline, since each request asks several times; so the
 * whole instance is in sight here, and still the rest of it is the core's.
 */
#ifndef WEIR_CORE_SPI_STATE_H
#define WEIR_CORE_SPI_STATE_H

#include "core/core.h"

/* A heap with room for every group, for the policy's use; empty when a policy begins and ends. */
static inline struct weir_heap *weir_turn_all(struct weir *w)
{
	return &w->turn_all;
}

static inline void *weir_policy_data(const struct weir *w)
{
	return w->policy_data;
}

static inline uint64_t weir_policy_tunable(const struct weir *w, unsigned int index)
{
	return w->tunable[index];
}

/* Requests that the policy has. The one that it inserts is among them, and the one it dispatches. */
static inline uint64_t weir_policy_queued(const struct weir *w)
{
	return w->nr_queued;
}

static inline uint64_t weir_now(const struct weir *w)
{
	return w->now;
}

static inline const struct weir_config *weir_cfg(const struct weir *w)
{
	return &w->cfg;
}

#endif
