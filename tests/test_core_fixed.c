// SPDX-License-Identifier: GPL-2.0-only
/*
 * core/fixed.h against the compiler's own 128-bit arithmetic, at edges and at random. The way in
 * which 32-bit machines divide is included a second time under other names, so that it runs here,
 * too; and where a 32-bit program can be made and run, it computes the same digest there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/fixed.h"

/* Once more, as a machine of 32 bits sees it. */
#undef WEIR_CORE_FIXED_H
#undef UINTPTR_MAX
#define UINTPTR_MAX UINT32_MAX
#define weir_vtime_before narrow_vtime_before
#define weir_min64 narrow_min64
#define weir_max64 narrow_max64
#define weir_log2 narrow_log2
#define weir_add_sat narrow_add_sat
#define weir_div64 narrow_div64
#define weir_mul128 narrow_mul128
#define weir_mul_div narrow_mul_div
#include "core/fixed.h"
#undef weir_vtime_before
#undef weir_min64
#undef weir_max64
#undef weir_log2
#undef weir_add_sat
#undef weir_div64
#undef weir_mul128
#undef weir_mul_div

typedef unsigned __int128 u128;

static const uint64_t edge[] = {
	0,
	1,
	2,
	3,
	9,
	10,
	511,
	512,
	1000000000,
	UINT64_C(0x7fffffff),
	UINT64_C(0x80000000),
	UINT64_C(0xffffffff),
	UINT64_C(0x100000000),
	UINT64_C(0x100000001),
	UINT64_C(0x7fffffffffffffff),
	UINT64_C(0x8000000000000000),
	UINT64_C(0x8000000000000001),
	UINT64_C(0xfffffffffffffffe),
	UINT64_C(0xffffffffffffffff),
};

#define NR_EDGES (sizeof(edge) / sizeof(edge[0]))

static uint64_t state = 1;

/* Of any length in bits, so that small and large meet. */
static uint64_t any(void)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return z >> (z & 63);
}

static void check(uint64_t a, uint64_t b, uint64_t d)
{
	u128 product = (u128)a * b, quotient;
	uint64_t hi, lo, want;

	weir_mul128(a, b, &hi, &lo);
	assert_int_equal(hi, (uint64_t)(product >> 64));
	assert_int_equal(lo, (uint64_t)product);
	assert_int_equal(weir_add_sat(a, b),
			 (u128)a + b > UINT64_MAX ? UINT64_MAX : (uint64_t)(a + b));
	if (!d)
		return;
	quotient = product / d;
	want = quotient > UINT64_MAX ? UINT64_MAX : (uint64_t)quotient;
	assert_int_equal(weir_mul_div(a, b, d), want);
	assert_int_equal(narrow_mul_div(a, b, d), want);
	assert_int_equal(weir_div64(a, d), a / d);
	assert_int_equal(narrow_div64(a, d), a / d);
}

static void at_edges(void **unused)
{
	size_t a, b, d;

	(void)unused;
	for (a = 0; a < NR_EDGES; a++)
		for (b = 0; b < NR_EDGES; b++)
			for (d = 0; d < NR_EDGES; d++)
				check(edge[a], edge[b], edge[d]);
}

static void at_random(void **unused)
{
	unsigned int n;

	(void)unused;
	for (n = 0; n < 200000; n++) {
		uint64_t a = any(), b = any();

		check(a, b, any());
	}
}

static void highest_bit(void **unused)
{
	unsigned int bit;

	(void)unused;
	for (bit = 0; bit < 64; bit++) {
		uint64_t x = UINT64_C(1) << bit;

		assert_int_equal(weir_log2(x), bit);
		assert_int_equal(weir_log2(x | (x - 1)), bit);
	}
}

/* Times that wrapped compare right as long as they are within 2^63. */
static void wrapping_times(void **unused)
{
	static const uint64_t ahead[] = {1, 1000, UINT64_C(1) << 62, (UINT64_C(1) << 63) - 1};
	size_t e, i;

	(void)unused;
	for (e = 0; e < NR_EDGES; e++) {
		assert_false(weir_vtime_before(edge[e], edge[e]));
		for (i = 0; i < sizeof(ahead) / sizeof(ahead[0]); i++) {
			assert_true(weir_vtime_before(edge[e], edge[e] + ahead[i]));
			assert_false(weir_vtime_before(edge[e] + ahead[i], edge[e]));
		}
	}
	assert_int_equal(weir_min64(3, 4), 3);
	assert_int_equal(weir_max64(3, 4), 4);
	assert_int_equal(weir_max64(UINT64_MAX, 0), UINT64_MAX);
}

/* ---- a program of 32 bits ---- */

/* The same on both: everything of fixed.h that could differ, folded into one number. */
#define DIGEST                                                    \
	"static uint64_t state_ = 7;\n"                           \
	"static uint64_t any_(void)\n"                            \
	"{\n"                                                     \
	"	uint64_t z = state_ += UINT64_C(0x9e3779b97f4a7c15);\n" \
	"	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);\n"    \
	"	z ^= z >> 31;\n"                                        \
	"	return z >> (z & 63);\n"                                \
	"}\n"                                                     \
	"uint64_t digest(void);\n"                                \
	"uint64_t digest(void)\n"                                 \
	"{\n"                                                     \
	"	uint64_t sum = 0;\n"                                    \
	"	unsigned int n;\n"                                      \
	"	for (n = 0; n < 20000; n++) {\n"                        \
	"		uint64_t a = any_(), b = any_(), d = any_() | 1;\n"    \
	"		sum = sum * 31 + weir_div64(a, d);\n"                  \
	"		sum = sum * 31 + weir_mul_div(a, b, d);\n"             \
	"		sum = sum * 31 + weir_add_sat(a, b) + weir_log2(d);\n" \
	"	}\n"                                                    \
	"	return sum;\n"                                          \
	"}\n"

static const char on_64[] = "#include <stdio.h>\n"
			    "#include \"core/fixed.h\"\n" DIGEST "int main(void)\n"
			    "{\n"
			    "	printf(\"%016llx\", (unsigned long long)digest());\n"
			    "	return 0;\n"
			    "}\n";

/* No libc of 32 bits is needed: the kernel is asked by hand, to write and to exit. */
static const char on_32[] =
	"#include \"core/fixed.h\"\n" DIGEST "void _start(void);\n"
	"__attribute__((force_align_arg_pointer)) void _start(void)\n"
	"{\n"
	"	uint64_t sum = digest();\n"
	"	char text[16];\n"
	"	int i, ret;\n"
	"	for (i = 15; i >= 0; i--, sum >>= 4)\n"
	"		text[i] = \"0123456789abcdef\"[sum & 15];\n"
	"	__asm__ volatile(\"int $0x80\" : \"=a\"(ret) : \"a\"(4), \"b\"(1), \"c\"(text), "
	"\"d\"(16) : \"memory\");\n"
	"	__asm__ volatile(\"int $0x80\" : : \"a\"(1), \"b\"(ret != 16));\n"
	"	__builtin_unreachable();\n"
	"}\n";

/* Compiles and runs; false if that can't be done here. */
static bool run(const char *dir, const char *source, const char *flags, char out[17])
{
	const char *cc = getenv("CC") ? getenv("CC") : "cc";
	const char *top = getenv("WEIR_SOURCE") ? getenv("WEIR_SOURCE") : ".";
	char command[1024], path[256];
	size_t got;
	FILE *f;

	snprintf(path, sizeof(path), "%s/x.c", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(source, f) >= 0);
	assert_int_equal(fclose(f), 0);
	snprintf(command, sizeof(command),
		 "%s -std=gnu11 -O2 %s -I%s -I%s/include -o %s/x %s 2>/dev/null && %s/x", cc, flags,
		 top, top, dir, path, dir);
	f = popen(command, "r");
	assert_non_null(f);
	got = fread(out, 1, 16, f);
	out[got] = '\0';
	return pclose(f) == 0 && got == 16;
}

static void same_on_32_bits(void **unused)
{
	char dir[] = "/tmp/weir-fixed-XXXXXX", wide[17], narrow[17], command[64];
	bool ran64, ran32;

	(void)unused;
	assert_non_null(mkdtemp(dir));
	ran64 = run(dir, on_64, "", wide);
	ran32 = run(dir, on_32,
		    "-m32 -ffreestanding -nostdlib -static -fno-stack-protector -fno-pic", narrow);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
	if (!ran64 || !ran32)
		skip();
	assert_string_equal(wide, narrow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_edges),	   cmocka_unit_test(at_random),
		cmocka_unit_test(highest_bit),	   cmocka_unit_test(wrapping_times),
		cmocka_unit_test(same_on_32_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
