/* SPDX-License-Identifier: GPL-2.0-only */
/* The policies that are built in, in the order in which every list shows them. */
#include "core/spi.h"

/* clang-format off */
static const struct weir_policy *const policies[] = {
	&weir_policy_noop,
	&weir_policy_deadline,
	&weir_policy_anticipatory,
	&weir_policy_cfq,
	&weir_policy_efq,
	&weir_policy_tpps,
	&weir_policy_bfq,
	&weir_policy_mq_deadline,
	&weir_policy_kyber,
	&weir_policy_iocost,
	&weir_policy_mclock,
	&weir_policy_sfqd,
	/* Ours is the last. */
	&weir_policy_weir,
};
/* clang-format on */

#define NR_POLICIES (sizeof(policies) / sizeof(policies[0]))

/* No libc here, and names are a few bytes. */
static bool same_name(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const struct weir_policy *weir_policy_at(unsigned int n)
{
	return n < NR_POLICIES ? policies[n] : NULL;
}

const struct weir_policy *weir_policy_find(const char *name)
{
	unsigned int n;

	for (n = 0; n < NR_POLICIES; n++)
		if (same_name(policies[n]->info.name, name))
			return policies[n];
	return NULL;
}

const struct weir_policy_info *weir_policy_info(const struct weir_policy *p)
{
	return &p->info;
}

int weir_tunable_find(const struct weir_policy *p, const char *name)
{
	const struct weir_tunable *t = p->info.tunables;
	int n;

	for (n = 0; t[n].name; n++)
		if (same_name(t[n].name, name))
			return n;
	return -WEIR_ENOENT;
}

const char *weir_choice_name(const struct weir_tunable *t, uint64_t value)
{
	return t->unit == WEIR_UNIT_CHOICE && value <= t->max ? t->names[value] : NULL;
}

int weir_choice_find(const struct weir_tunable *t, const char *name)
{
	int n;

	if (t->unit != WEIR_UNIT_CHOICE)
		return -WEIR_ENOENT;
	for (n = 0; t->names[n]; n++)
		if (same_name(t->names[n], name))
			return n;
	return -WEIR_ENOENT;
}

const char *weir_keeps_name(enum weir_keeps what)
{
	switch (what) {
	case WEIR_KEEPS_WEIGHTS:
		return "weights (io.weight)";
	case WEIR_KEEPS_TREE:
		return "the tree of groups";
	case WEIR_KEEPS_FLOORS:
		return "floors (io.low)";
	case WEIR_KEEPS_LATENCY:
		return "latency targets (io.latency)";
	case WEIR_KEEPS_PRIORITIES:
		return "I/O priorities";
	}
	return "?";
}

const char *weir_unit_name(enum weir_unit unit)
{
	static const char *const names[] = {
		[WEIR_UNIT_BOOL] = "0/1", [WEIR_UNIT_COUNT] = "count",	 [WEIR_UNIT_PERCENT] = "%",
		[WEIR_UNIT_BYTES] = "B",  [WEIR_UNIT_NS] = "ns",	 [WEIR_UNIT_US] = "us",
		[WEIR_UNIT_MS] = "ms",	  [WEIR_UNIT_CHOICE] = "choice",
	};

	return (unsigned int)unit < sizeof(names) / sizeof(names[0]) ? names[unit] : "?";
}
