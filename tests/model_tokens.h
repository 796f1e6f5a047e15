/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ceiling, as exact arithmetic: a bucket that fills continuously at `rate`. What is taken finds at
 * most MODEL_LATE_NS worth in it, or half of what is taken, if that is more. 128-bit integers,
 * nothing is rounded while a rate stays.
 *
 * It is the most that a ceiling may let through: the core gives that credit to some flows only, so a
 * release that it allows must be allowed here, too.
 *
 * The level is what has been taken beyond the refill, in units of amount x ns per s: negative is
 * credit, positive is debt.
 */
#ifndef TESTS_MODEL_TOKENS_H
#define TESTS_MODEL_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/types.h>

/* What docs and core/limits.h promise: how much of a late host's time a flow may catch up on. */
#define MODEL_LATE_NS 8000000
/* And how much of the time before there was a ceiling. */
#define MODEL_SLACK_NS 4000000
/* Nobody waits longer than 73 years for the past. */
#define MODEL_DEBT_NS (INT64_C(1) << 61)

struct model_bucket {
	uint64_t rate; /* WEIR_UNLIMITED: no ceiling */
	uint64_t at_ns;
	__int128 level;
	/* What was taken at at_ns, in whatever order: the level before, the sum, the largest. */
	__int128 before;
	uint64_t sum, most;
};

void model_bucket_init(struct model_bucket *b, uint64_t now);
/*
 * Debt keeps its amount, credit its time; both are cut down to whole nanoseconds, as the core's
 * clocks are when a rate changes.
 */
void model_bucket_set_rate(struct model_bucket *b, uint64_t rate, uint64_t now);
void model_bucket_charge(struct model_bucket *b, uint64_t amount, uint64_t now);
/*
 * May one more be let through, after `before` was at the same instant, the first of which found
 * credit? A nanosecond early is in time: the core's clocks count whole ones.
 */
bool model_bucket_may(struct model_bucket *b, uint64_t before, uint64_t now);

#endif
