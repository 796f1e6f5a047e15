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
	WEIR_UNIT_CHOICE, /* one of names[]; the value is its index, and min is 0 */
};

struct weir_tunable {
	const char *name;
	enum weir_unit unit;
	uint64_t min, max, def;
	const char *help;
	const char *const *names; /* of a choice: max + 1 of them, and NULL; else NULL */
};

#define WEIR_TUNABLES_MAX 32

/*
 * What a policy acts on. The rest it can be told, and the core keeps books of it, but it is not
 * enforced: a host says so to whoever sets it. Ceilings are the core's, in force under all of them.
 */
enum weir_keeps {
	WEIR_KEEPS_WEIGHTS = 1 << 0,
	WEIR_KEEPS_TREE = 1 << 1, /* weights within the parent; else all groups are equals */
	WEIR_KEEPS_FLOORS = 1 << 2,
	WEIR_KEEPS_LATENCY = 1 << 3,
	WEIR_KEEPS_PRIORITIES = 1 << 4, /* ioprio class and level */
};

/* One policy as a user sees it. tunables ends with an entry without a name. */
struct weir_policy_info {
	const char *name;
	const char *help;
	const struct weir_tunable *tunables;
	unsigned int keeps; /* of enum weir_keeps */
};

/* n-th built-in policy, or NULL after the last. Order is fixed. */
const struct weir_policy *weir_policy_at(unsigned int n);
const struct weir_policy *weir_policy_find(const char *name);
const struct weir_policy_info *weir_policy_info(const struct weir_policy *p);

/* Index of a tunable in its policy's table, or -WEIR_ENOENT. */
int weir_tunable_find(const struct weir_policy *p, const char *name);
const char *weir_unit_name(enum weir_unit unit);
/* Name of a value of a choice, or NULL: no choice, or no such value. */
const char *weir_choice_name(const struct weir_tunable *t, uint64_t value);
/* Index of a name of a choice, or -WEIR_ENOENT. */
int weir_choice_find(const struct weir_tunable *t, const char *name);
/* For one of them: what an operator sets, as in "floors (io.low)". */
const char *weir_keeps_name(enum weir_keeps what);

#endif
