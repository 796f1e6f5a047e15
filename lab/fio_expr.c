// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arithmetic in job files: recursive descent, one function a level of precedence, weakest first.
 *
 *	sum:      product { (+|-) product }
 *	product:  signed { (*|/|%) signed }
 *	signed:   [+|-] power
 *	power:    primary [ ^ signed ]
 *	primary:  number [unit] | ( sum ) [unit]
 *
 * Values are fixed point, 10^9 times what they mean, so that (1.5s / 4) is exact and no compiler
 * rounds differently. Every step is checked: a value may not reach 10^29.
 */
#include "lab/fio_number.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* Deeper nesting is no arithmetic that anybody wrote, and each level needs stack. */
#define DEPTH_MAX 64
#define UNIT_BYTES 8

#define WIDE_MAX (FIO_WIDE_ONE * 1000000000 * 1000000000 * 100)

struct expr {
	const char *s;
	bool time, kb_1000;
	bool failed;
	unsigned int depth;
};

static fio_wide sum(struct expr *x);

static fio_wide fail(struct expr *x)
{
	x->failed = true;
	return 0;
}

static fio_wide checked(struct expr *x, fio_wide value)
{
	return value > WIDE_MAX || value < -WIDE_MAX ? fail(x) : value;
}

static void blanks(struct expr *x)
{
	while (isspace((unsigned char)*x->s))
		x->s++;
}

static bool take(struct expr *x, char c)
{
	blanks(x);
	if (*x->s != c)
		return false;
	x->s++;
	return true;
}

/* a * b of values of up to 10^29: where the product overflows, neither can be shortened first. */
static fio_wide product_of(struct expr *x, fio_wide a, fio_wide b)
{
	fio_wide value;

	if (__builtin_mul_overflow(a, b, &value))
		return fail(x);
	return checked(x, value / FIO_WIDE_ONE);
}

static fio_wide quotient_of(struct expr *x, fio_wide a, fio_wide b)
{
	fio_wide value;

	if (!b || __builtin_mul_overflow(a, FIO_WIDE_ONE, &value))
		return fail(x);
	return checked(x, value / b);
}

/* The unit behind a number or a parenthesis, if any. */
static fio_wide with_unit(struct expr *x, fio_wide value)
{
	char unit[UNIT_BYTES];
	uint64_t factor;
	size_t nr = 0;

	blanks(x);
	while (isalpha((unsigned char)x->s[nr]) && nr + 1 < sizeof(unit)) {
		unit[nr] = x->s[nr];
		nr++;
	}
	unit[nr] = '\0';
	if (!nr)
		return value;
	x->s += nr;
	if (!x->time) {
		if (!fio_size_unit(unit, x->kb_1000, &factor))
			return fail(x);
	} else {
		if (!fio_time_unit(unit, &factor))
			return fail(x);
		factor /= 1000; /* to microseconds */
	}
	return product_of(x, value, (fio_wide)factor * FIO_WIDE_ONE);
}

static fio_wide hex(struct expr *x)
{
	fio_wide value = 0;
	const char *start;

	for (x->s += 2, start = x->s; isxdigit((unsigned char)*x->s); x->s++) {
		char c = (char)tolower((unsigned char)*x->s);

		if (x->s - start >= 16)
			return fail(x);
		value = value * 16 + (isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
	}
	return x->s == start ? fail(x) : checked(x, value * FIO_WIDE_ONE);
}

static fio_wide primary(struct expr *x)
{
	fio_wide value;

	if (take(x, '(')) {
		if (++x->depth > DEPTH_MAX)
			return fail(x);
		value = sum(x);
		x->depth--;
		if (!take(x, ')'))
			return fail(x);
		return with_unit(x, value);
	}
	if (x->s[0] == '0' && (x->s[1] == 'x' || x->s[1] == 'X'))
		return with_unit(x, hex(x));
	if (!fio_decimal(x->s, &x->s, &value))
		return fail(x);
	return with_unit(x, value);
}

static fio_wide signed_power(struct expr *x);

static fio_wide power(struct expr *x)
{
	fio_wide base = primary(x), exponent, value = FIO_WIDE_ONE;

	if (x->failed || !take(x, '^'))
		return base;
	exponent = signed_power(x);
	if (x->failed || exponent < 0 || exponent % FIO_WIDE_ONE)
		return fail(x);
	/* |base| of 2 and more fails by overflow soon; 0, 1 and fractions need no more steps than
	 * this. */
	if (exponent > 1000 * FIO_WIDE_ONE)
		return fail(x);
	for (; exponent && !x->failed; exponent -= FIO_WIDE_ONE)
		value = product_of(x, value, base);
	return value;
}

static fio_wide signed_power(struct expr *x)
{
	fio_wide value;

	if (++x->depth > DEPTH_MAX)
		return fail(x);
	if (take(x, '-'))
		value = -signed_power(x);
	else if (take(x, '+'))
		value = signed_power(x);
	else
		value = power(x);
	x->depth--;
	return value;
}

static fio_wide product(struct expr *x)
{
	fio_wide value = signed_power(x), right;

	while (!x->failed) {
		if (take(x, '*')) {
			value = product_of(x, value, signed_power(x));
		} else if (take(x, '/')) {
			value = quotient_of(x, value, signed_power(x));
		} else if (take(x, '%')) {
			right = signed_power(x);
			value = right ? value % right : fail(x);
		} else {
			break;
		}
	}
	return value;
}

static fio_wide sum(struct expr *x)
{
	fio_wide value = product(x);

	while (!x->failed) {
		if (take(x, '+'))
			value = checked(x, value + product(x));
		else if (take(x, '-'))
			value = checked(x, value - product(x));
		else
			break;
	}
	return value;
}

bool fio_expression(const char *s, bool time, bool kb_1000, fio_wide *out)
{
	struct expr x = {.s = s, .time = time, .kb_1000 = kb_1000};

	*out = sum(&x);
	blanks(&x);
	return !x.failed && !*x.s;
}
