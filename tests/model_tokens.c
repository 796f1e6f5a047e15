// SPDX-License-Identifier: GPL-2.0-only
/* Ceilings as exact arithmetic: see model_tokens.h. */
#include "tests/model_tokens.h"

#define NS_PER_S 1000000000

static __int128 floor_div(__int128 n, __int128 d)
{
	__int128 quotient = n / d;

	return quotient * d > n ? quotient - 1 : quotient;
}

void model_bucket_init(struct model_bucket *b, uint64_t now)
{
	*b = (struct model_bucket){.rate = WEIR_UNLIMITED, .at_ns = now};
}

static void refill(struct model_bucket *b, uint64_t now)
{
	if (now == b->at_ns)
		return;
	b->level -= (__int128)b->rate * (now - b->at_ns);
	b->at_ns = now;
	b->before = b->level;
	b->sum = 0;
	b->most = 0;
}

/* With `sum` taken from it, of which no single one is more than `most`. */
static __int128 level_after(const struct model_bucket *b, __int128 before, uint64_t sum,
			    uint64_t most)
{
	__int128 late = (__int128)b->rate * MODEL_LATE_NS, half = (__int128)most * NS_PER_S / 2;
	__int128 least = -(late > half ? late : half);

	return (before < least ? least : before) + (__int128)sum * NS_PER_S;
}

void model_bucket_set_rate(struct model_bucket *b, uint64_t rate, uint64_t now)
{
	__int128 time_ns = -MODEL_SLACK_NS;

	if (rate == b->rate)
		return;
	if (rate == WEIR_UNLIMITED) {
		model_bucket_init(b, now);
		return;
	}
	if (b->rate != WEIR_UNLIMITED) {
		refill(b, now);
		time_ns = floor_div(b->level, b->rate);
		if (time_ns > 0)
			time_ns = time_ns * b->rate / rate;
		/* The slower rate would make more of it. */
		if (time_ns > MODEL_DEBT_NS)
			time_ns = MODEL_DEBT_NS;
	}
	b->rate = rate;
	b->at_ns = now;
	b->level = time_ns * rate;
	b->before = b->level;
	b->sum = 0;
	b->most = 0;
}

void model_bucket_charge(struct model_bucket *b, uint64_t amount, uint64_t now)
{
	if (b->rate == WEIR_UNLIMITED)
		return;
	refill(b, now);
	b->sum += amount;
	if (amount > b->most)
		b->most = amount;
	b->level = level_after(b, b->before, b->sum, b->most);
	if (b->level > (__int128)b->rate * MODEL_DEBT_NS)
		b->level = (__int128)b->rate * MODEL_DEBT_NS;
}

bool model_bucket_may(struct model_bucket *b, uint64_t before, uint64_t now)
{
	if (b->rate == WEIR_UNLIMITED)
		return true;
	refill(b, now);
	return level_after(b, b->level, before, before) <= b->rate;
}
