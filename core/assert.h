/* SPDX-License-Identifier: GPL-2.0-only */
/* Assertions: for what only a bug can cause. The host decides what happens then. */
#ifndef WEIR_CORE_ASSERT_H
#define WEIR_CORE_ASSERT_H

#include <weir/weir.h>

#define weir_likely(x) __builtin_expect(!!(x), 1)
#define weir_unlikely(x) __builtin_expect(!!(x), 0)

/*
 * How a function is called from one that every request goes through. Each call costs that one the
 * saving of its registers, also where it isn't reached: unless it comes last, or is seldom.
 *
 *	weir_inlined	in place, with its constant arguments folded in
 *	weir_apart	never in place: it comes last
 *	weir_seldom	the same, and its own speed doesn't matter
 */
#define weir_apart __attribute__((__noinline__))
#define weir_seldom __attribute__((__noinline__, __cold__))
#define weir_inlined inline __attribute__((__always_inline__))

#define weir_assert(expr)                                            \
	do {                                                         \
		if (weir_unlikely(!(expr)))                          \
			weir_assert_fail(#expr, __FILE__, __LINE__); \
	} while (0)

#endif
