// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whole numbers, sizes and times.
 *
 * fio reads numbers with the C library and takes what it can: "10x" is 16, "1min" a microsecond,
 * "1.5m" one byte. Here what is not a number is refused: a workload that differs from what was
 * written is worse than none.
 */
#include "lab/fio_number.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

bool fio_size_unit(const char *s, bool kb_1000, uint64_t *factor)
{
	static const char letters[] = "kmgtp";
	const char *letter;
	bool has_i;
	long step;

	*factor = 1;
	if (!*s || !strcasecmp(s, "b"))
		return true;
	letter = strchr(letters, tolower((unsigned char)*s));
	if (!letter)
		return false;
	has_i = tolower((unsigned char)s[1]) == 'i';
	s += has_i ? 2 : 1;
	if (*s && strcasecmp(s, "b") != 0)
		return false;
	/* k is 1024 and ki is 1000, unless kb_base turns them round. */
	for (step = letter - letters; step >= 0; step--)
		*factor *= has_i == kb_1000 ? 1024 : 1000;
	return true;
}

bool fio_time_unit(const char *s, uint64_t *unit_ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"us", 1000},
		{"usec", 1000},
		{"ms", 1000000},
		{"msec", 1000000},
		{"s", 1000000000},
		{"sec", 1000000000},
		{"m", UINT64_C(60) * 1000000000},
		{"h", UINT64_C(3600) * 1000000000},
		{"d", UINT64_C(86400) * 1000000000},
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcasecmp(s, units[i].name)) {
			*unit_ns = units[i].ns;
			return true;
		}
	}
	return false;
}

/* An expression's value as an integer; what is behind the point is cut off, as C divides. */
static bool expression_number(const char *s, bool kb_1000, int64_t *out)
{
	fio_wide wide;

	if (!fio_expression(s, false, kb_1000, &wide))
		return false;
	wide /= FIO_WIDE_ONE;
	if (wide > INT64_MAX || wide < -INT64_MAX)
		return false;
	*out = (int64_t)wide;
	return true;
}

static int digit(char c, unsigned int base)
{
	int value = -1;

	if (c >= '0' && c <= '9')
		value = c - '0';
	else if (base == 16 && isxdigit((unsigned char)c))
		value = tolower((unsigned char)c) - 'a' + 10;
	return value;
}

bool fio_number(const char *s, bool kb_1000, uint64_t *out)
{
	unsigned int base = 10;
	uint64_t value = 0, factor;
	int64_t result;

	if (*s == '(') {
		if (!expression_number(s, kb_1000, &result) || result < 0)
			return false;
		*out = (uint64_t)result;
		return true;
	}
	if (*s == '+')
		s++;
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
	}
	if (digit(*s, base) < 0)
		return false;
	for (; digit(*s, base) >= 0; s++) {
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit(*s, base), &value))
			return false;
	}
	if (!fio_size_unit(s, kb_1000, &factor) || __builtin_mul_overflow(value, factor, &value) ||
	    value > FIO_SIZE_MAX)
		return false;
	*out = value;
	return true;
}

bool fio_signed_number(const char *s, bool kb_1000, int64_t *out)
{
	bool minus = *s == '-';
	uint64_t value;

	if (*s == '(')
		return expression_number(s, kb_1000, out);
	s += minus;
	if (minus && (*s == '+' || *s == '('))
		return false;
	if (!fio_number(s, kb_1000, &value))
		return false;
	*out = minus ? -(int64_t)value : (int64_t)value;
	return true;
}

/*
 * At most 19 digits before the point and 9 that count behind it: below 10^28, far from what 127
 * bits hold.
 */
bool fio_decimal(const char *s, const char **end, fio_wide *out)
{
	const char *start = s;
	fio_wide value = 0, weight = FIO_WIDE_ONE / 10;

	for (; isdigit((unsigned char)*s); s++) {
		if (s - start >= 19)
			return false;
		value = value * 10 + (*s - '0') * FIO_WIDE_ONE;
	}
	if (*s == '.') {
		for (start++, s++; isdigit((unsigned char)*s); s++, weight /= 10)
			value += (*s - '0') * weight;
	}
	*end = s;
	*out = value;
	return s != start;
}

bool fio_time(const char *s, uint64_t unit_ns, uint64_t *out_ns)
{
	const char *end;
	fio_wide wide;

	if (*s == '(') {
		if (!fio_expression(s, true, false, &wide))
			return false;
		unit_ns = 1000;
	} else {
		if (!fio_decimal(s, &end, &wide) || (*end && !fio_time_unit(end, &unit_ns)))
			return false;
	}
	/* Below 10^28 or checked by the arithmetic, so that a unit of a day (8.64 x 10^13) may
	 * overflow. */
	if (wide < 0 || __builtin_mul_overflow(wide, (fio_wide)unit_ns, &wide))
		return false;
	wide /= FIO_WIDE_ONE;
	if (wide > INT64_MAX)
		return false;
	*out_ns = (uint64_t)wide;
	return true;
}

bool fio_micro(const char *s, uint64_t *out_micro)
{
	const char *end;
	fio_wide wide;

	if (!fio_decimal(s, &end, &wide) || *end)
		return false;
	wide /= FIO_WIDE_ONE / 1000000;
	if (wide > INT64_MAX)
		return false;
	*out_micro = (uint64_t)wide;
	return true;
}
