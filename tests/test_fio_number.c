// SPDX-License-Identifier: GPL-2.0-only
/* Numbers of job files: units, times, arithmetic, and what is not a number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lab/fio_number.h"

#define NONE UINT64_MAX /* expected where there is no number */
#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* k is 1024 and ki 1000; with kb_base=1000 the other way round. The last column is for that. */
static void sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t usual, kb_1000;
	} rows[] = {
		{"0", 0, 0},
		{"007", 7, 7},
		{"+5", 5, 5},
		{"4096", 4096, 4096},
		{"1b", 1, 1},
		{"1B", 1, 1},
		{"4k", 4096, 4000},
		{"4K", 4096, 4000},
		{"4kb", 4096, 4000},
		{"4ki", 4000, 4096},
		{"4KiB", 4000, 4096},
		{"2m", 2 * 1048576, 2000000},
		{"2mi", 2000000, 2 * 1048576},
		{"3g", UINT64_C(3) << 30, 3000000000},
		{"1t", UINT64_C(1) << 40, 1000000000000},
		{"1p", UINT64_C(1) << 50, 1000000000000000},
		{"0x10", 16, 16},
		{"0X1f", 31, 31},
		{"0x10k", 16384, 16000},
		{"0x1b", 27, 27}, /* a digit, not bytes */
		{"9223372036854775807", INT64_MAX, INT64_MAX},
		{"8191p", UINT64_C(8191) << 50, UINT64_C(8191000000000000000)},
	};
	uint64_t out;
	size_t i;

	(void)state;
	for (i = 0; i < ROWS(rows); i++) {
		out = NONE;
		if (!fio_number(rows[i].text, false, &out) || out != rows[i].usual)
			fail_msg("%s: %llu", rows[i].text, (unsigned long long)out);
		out = NONE;
		if (!fio_number(rows[i].text, true, &out) || out != rows[i].kb_1000)
			fail_msg("%s with kb_base=1000: %llu", rows[i].text,
				 (unsigned long long)out);
	}
}

static void no_sizes(void **state)
{
	static const char *const rows[] = {
		"",
		" ",
		"-",
		"-1",
		"k",
		"x10",
		"0x",
		"1.5",
		"1.5m",
		"10x",
		"10kx",
		"1kk",
		"1kbi",
		"4 k",
		"1e3",
		"10%",
		"1,2",
		"++1",
		"1bi",
		"1kib ",
		"16e",
		"inf",
		"nan",
		"0xg",
		"١",
		"1\xff",
		"1\n",
		"()",
		"(1",
		"1)",
		"(1+)",
		"(-1)",
		"(1/0)",
		"(1%0)",
		"(1)2",
		"(2^-1)",
		"9223372036854775808",
		"18446744073709551616",
		"8192p",
		"99999999999999999999k",
		"0xffffffffffffffffff",
		"(9223372036854775807+1)",
		"(2^63)",
		"(10^400)",
		"(1k+2x)",
	};
	uint64_t out;
	size_t i;

	(void)state;
	for (i = 0; i < ROWS(rows); i++)
		if (fio_number(rows[i], false, &out))
			fail_msg("\"%s\" was taken for %llu", rows[i], (unsigned long long)out);
}

static void signed_numbers(void **state)
{
	int64_t out;

	(void)state;
	assert_true(fio_signed_number("-8k", false, &out));
	assert_int_equal(out, -8192);
	assert_true(fio_signed_number("8k", false, &out));
	assert_int_equal(out, 8192);
	assert_true(fio_signed_number("-9223372036854775807", false, &out));
	assert_int_equal(out, -INT64_MAX);
	assert_true(fio_signed_number("(2-5)", false, &out));
	assert_int_equal(out, -3);
	assert_false(fio_signed_number("--1", false, &out));
	assert_false(fio_signed_number("-+1", false, &out));
	assert_false(fio_signed_number("-", false, &out));
	assert_false(fio_signed_number("-9223372036854775808", false, &out));
}

static void arithmetic(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} rows[] = {
		{"(7)", 7},	   {"(1+2)", 3},      {"( 1 + 2 ) * 4", 12},
		{"(2+3*4)", 14},   {"((2+3)*4)", 20}, {"(10-2-3)", 5},
		{"(100/5/2)", 10}, {"(17 % 5)", 2},   {"(7/2)", 3},
		{"(7/2*2)", 7},	   {"(2^3^2)", 512},  {"(-2^2+5)", 1},
		{"(2^0)", 1},	   {"(0.5*8)", 4},    {"(4k+1)", 4097},
		{"(1+1)k", 2048},  {"(0x10+1)", 17},  {"(1m/8)", 131072},
		{"(--5)", 5},	   {"(3*-2+10)", 4},  {"(9223372036854775807)", INT64_MAX},
	};
	char deep[200];
	uint64_t out;
	size_t i;

	(void)state;
	for (i = 0; i < ROWS(rows); i++) {
		out = NONE;
		if (!fio_number(rows[i].text, false, &out) || out != rows[i].value)
			fail_msg("%s: %llu", rows[i].text, (unsigned long long)out);
	}
	/* Nesting ends before the stack does. */
	memset(deep, '(', 150);
	strcpy(deep + 150, "1");
	assert_false(fio_number(deep, false, &out));
	memset(deep + 1, '-', 149);
	assert_false(fio_number(deep, false, &out));
}

static void times(void **state)
{
	static const struct {
		const char *text;
		uint64_t seconds, micros; /* where a plain number is that */
	} rows[] = {
		{"0", 0, 0},
		{"10", UINT64_C(10000000000), 10000},
		{"10s", UINT64_C(10000000000), UINT64_C(10000000000)},
		{"10S", UINT64_C(10000000000), UINT64_C(10000000000)},
		{"10sec", UINT64_C(10000000000), UINT64_C(10000000000)},
		{"250ms", 250000000, 250000000},
		{"250msec", 250000000, 250000000},
		{"7us", 7000, 7000},
		{"7usec", 7000, 7000},
		{"2m", UINT64_C(120000000000), UINT64_C(120000000000)},
		{"1h", UINT64_C(3600000000000), UINT64_C(3600000000000)},
		{"1d", UINT64_C(86400000000000), UINT64_C(86400000000000)},
		{"365d", UINT64_C(31536000000000000), UINT64_C(31536000000000000)},
		{"1.5", 1500000000, 1500},
		{"0.25s", 250000000, 250000000},
		{".5s", 500000000, 500000000},
		{"0.000000001s", 1, 1},
		/* In arithmetic a plain number is always microseconds. */
		{"(5)", 5000, 5000},
		{"(1s/4)", 250000000, 250000000},
		{"(2*3ms + 1)", 6001000, 6001000},
	};
	static const char *const none[] = {"",
					   "-1",
					   "x",
					   "1min",
					   "1y",
					   "1k",
					   "s",
					   ".",
					   "1..5",
					   "1s2",
					   "0x10",
					   "1-2",
					   "1 s",
					   "(1y)",
					   "99999999999999999999",
					   "9223372037s",
					   "106752d",
					   "9223372036854775807d"};
	uint64_t out;
	size_t i;

	(void)state;
	for (i = 0; i < ROWS(rows); i++) {
		out = NONE;
		if (!fio_time(rows[i].text, 1000000000, &out) || out != rows[i].seconds)
			fail_msg("%s: %llu ns", rows[i].text, (unsigned long long)out);
		out = NONE;
		if (!fio_time(rows[i].text, 1000, &out) || out != rows[i].micros)
			fail_msg("%s as us: %llu ns", rows[i].text, (unsigned long long)out);
	}
	for (i = 0; i < ROWS(none); i++)
		if (fio_time(none[i], 1000000000, &out))
			fail_msg("\"%s\" was taken for %llu ns", none[i], (unsigned long long)out);
	/* The largest that fits, and one more. */
	assert_true(fio_time("9223372036.854775807s", 1000, &out));
	assert_int_equal(out, INT64_MAX);
	assert_false(fio_time("9223372036.854775808s", 1000, &out));
}

static void millionths(void **state)
{
	uint64_t out;

	(void)state;
	assert_true(fio_micro("1.2", &out));
	assert_int_equal(out, 1200000);
	assert_true(fio_micro("99.99", &out));
	assert_int_equal(out, 99990000);
	assert_true(fio_micro("0", &out));
	assert_int_equal(out, 0);
	assert_true(fio_micro("0.0000019", &out));
	assert_int_equal(out, 1);
	assert_true(fio_micro("5.", &out));
	assert_int_equal(out, 5000000);
	assert_false(fio_micro("", &out));
	assert_false(fio_micro("-1", &out));
	assert_false(fio_micro("1x", &out));
	assert_false(fio_micro("1e2", &out));
	assert_false(fio_micro("1,5", &out));
	assert_false(fio_micro("99999999999999999999", &out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),	  cmocka_unit_test(no_sizes),
		cmocka_unit_test(signed_numbers), cmocka_unit_test(arithmetic),
		cmocka_unit_test(times),	  cmocka_unit_test(millionths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
