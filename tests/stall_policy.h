/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A policy that does what the test says: one queue, in order of arrival, and a reason not to serve
 * it. For the accounting of waits, which depends on what policies answer.
 */
#ifndef TESTS_STALL_POLICY_H
#define TESTS_STALL_POLICY_H

#include "tests/util_host.h"

#include "core/core.h"
#include "core/spi.h"
#include "core/spi_state.h"

struct stall_order {
	enum weir_stall why; /* NONE: serve */
	struct weir_group *next;
	uint64_t at_ns;
};

extern struct stall_order stall_order;
extern const struct weir_policy stall_policy;

/* From now on; with at_ns of never. */
void stall_obey(enum weir_stall why, struct weir_group *next);
/* Whose request is the first, or NULL. */
struct weir_group *stall_next_group(struct weir *w);

#endif
