/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * 64-bit arithmetic without a runtime library: 32-bit builds have neither 64-by-64 division nor
 * 128-bit products.
 */
#ifndef WEIR_CORE_FIXED_H
#define WEIR_CORE_FIXED_H

#include <weir/types.h>

#define WEIR_NS_PER_S UINT64_C(1000000000)
#define WEIR_NS_PER_MS UINT64_C(1000000)
#define WEIR_NS_PER_US UINT64_C(1000)

/* Is a before b, for clocks that may wrap (virtual times)? Right while they are within 2^63. */
static inline bool weir_vtime_before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

static inline uint64_t weir_min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t weir_max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Position of the highest set bit; x is not 0. */
static inline unsigned int weir_log2(uint64_t x)
{
	return 63u ^ (unsigned int)__builtin_clzll(x);
}

static inline uint64_t weir_add_sat(uint64_t a, uint64_t b)
{
	uint64_t sum = a + b;

	return sum < a ? UINT64_MAX : sum;
}

/* n / d, d not 0. Shift and subtract where the machine has no 64-bit division: at most 64 steps. */
static inline uint64_t weir_div64(uint64_t n, uint64_t d)
{
#if UINTPTR_MAX > UINT32_MAX
	return n / d;
#else
	uint64_t quotient = 0, rest = 0;
	int bit;

	if (!(n >> 32) && !(d >> 32))
		return (uint32_t)n / (uint32_t)d;
	for (bit = 63; bit >= 0; bit--) {
		bool carry = rest >> 63;

		rest = rest << 1 | (n >> bit & 1);
		if (carry || rest >= d) {
			rest -= d;
			quotient |= UINT64_C(1) << bit;
		}
	}
	return quotient;
#endif
}

/* a * b as high and low half. */
static inline void weir_mul128(uint64_t a, uint64_t b, uint64_t *hi, uint64_t *lo)
{
	uint64_t al = a & UINT32_MAX, ah = a >> 32, bl = b & UINT32_MAX, bh = b >> 32;
	uint64_t ll = al * bl, lh = al * bh, hl = ah * bl, hh = ah * bh;
	uint64_t mid = (ll >> 32) + (uint32_t)lh + (uint32_t)hl;

	*lo = mid << 32 | (uint32_t)ll;
	*hi = hh + (lh >> 32) + (hl >> 32) + (mid >> 32);
}

/* a * b / d, rounded down, saturated at UINT64_MAX. d is not 0. No overflow in between. */
static inline uint64_t weir_mul_div(uint64_t a, uint64_t b, uint64_t d)
{
	uint64_t hi, lo, rest;
	int bit;

	weir_mul128(a, b, &hi, &lo);
	if (!hi)
		return weir_div64(lo, d);
	if (hi >= d)
		return UINT64_MAX;
	rest = hi;
	for (bit = 63; bit >= 0; bit--) {
		bool carry = rest >> 63;

		rest = rest << 1 | lo >> 63;
		lo <<= 1;
		if (carry || rest >= d) {
			rest -= d;
			lo |= 1;
		}
	}
	return lo;
}

#endif
