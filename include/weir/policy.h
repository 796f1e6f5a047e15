/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policies that are built in, and their tunables. One table per policy drives parsing,
 * printing, sysfs and the manual.
 */
#ifndef WEIR_POLICY_H
#define WEIR_POLICY_H

#include <weir/types.h>

enum weir_unit {
	WEIR_UNIT_BOOL,
	WEIR_UNIT_COUNT,
	WEIR_UNIT_PERCENT,
	WEIR_UNIT_BYTES,
	WEIR_UNIT_NS,
	WEIR_UNIT_US,
	WEIR_UNIT_MS,
};

struct weir_tunable {
	const char *name;
	enum weir_unit unit;
	uint64_t min, max, def;
	const char *help;
};

#define WEIR_TUNABLES_MAX 32

/* One policy as a user sees it. tunables ends with an entry without a name. */
struct weir_policy_info {
	const char *name;
	const char *help;
	const struct weir_tunable *tunables;
};

/* n-th built-in policy, or NULL after the last. Order is fixed. */
const struct weir_policy *weir_policy_at(unsigned int n);
const struct weir_policy *weir_policy_find(const char *name);
const struct weir_policy_info *weir_policy_info(const struct weir_policy *p);

/* Index of a tunable in its policy's table, or -WEIR_ENOENT. */
int weir_tunable_find(const struct weir_policy *p, const char *name);
const char *weir_unit_name(enum weir_unit unit);

#endif
