/* SPDX-License-Identifier: GPL-2.0-only */
/* Assertions: for what only a bug can cause. The host decides what happens then. */
#ifndef WEIR_CORE_ASSERT_H
#define WEIR_CORE_ASSERT_H

#include <weir/weir.h>

#define weir_likely(x) __builtin_expect(!!(x), 1)
#define weir_unlikely(x) __builtin_expect(!!(x), 0)

#define weir_assert(expr)                                            \
	do {                                                         \
		if (weir_unlikely(!(expr)))                          \
			weir_assert_fail(#expr, __FILE__, __LINE__); \
	} while (0)

#endif
