// SPDX-License-Identifier: GPL-2.0-only
/* Values with units, both ways: see sim_units.h. Digits are integers throughout. */
#include "lab/sim_units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/fixed.h"

struct suffix {
	const char *name;
	uint64_t factor;
};

static const struct suffix byte_suffixes[] = {
	{"", 1},
	{"b", 1},
	{"k", UINT64_C(1) << 10},
	{"kib", UINT64_C(1) << 10},
	{"m", UINT64_C(1) << 20},
	{"mib", UINT64_C(1) << 20},
	{"g", UINT64_C(1) << 30},
	{"gib", UINT64_C(1) << 30},
	{"t", UINT64_C(1) << 40},
	{"tib", UINT64_C(1) << 40},
	{NULL, 0},
};

static const struct suffix time_suffixes[] = {
	{"ns", 1}, {"us", WEIR_NS_PER_US}, {"ms", WEIR_NS_PER_MS}, {"s", WEIR_NS_PER_S}, {NULL, 0},
};

static const struct suffix percent_suffixes[] = {{"", 1}, {"%", 1}, {NULL, 0}};
static const struct suffix no_suffixes[] = {{"", 1}, {NULL, 0}};

static uint64_t find_suffix(const struct suffix *table, const char *name)
{
	for (; table->name; table++)
		if (!strcasecmp(table->name, name))
			return table->factor;
	return 0;
}

/* ns in one of the unit; 0: not a time */
static uint64_t unit_ns(enum weir_unit unit)
{
	switch (unit) {
	case WEIR_UNIT_NS:
		return 1;
	case WEIR_UNIT_US:
		return WEIR_NS_PER_US;
	case WEIR_UNIT_MS:
		return WEIR_NS_PER_MS;
	default:
		return 0;
	}
}

static bool parse_bool(const char *text, uint64_t *out)
{
	static const char *const yes[] = {"1", "yes", "on", "true"};
	static const char *const no[] = {"0", "no", "off", "false"};
	size_t i;

	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (!strcasecmp(text, yes[i]) || !strcasecmp(text, no[i])) {
			*out = !strcasecmp(text, yes[i]);
			return true;
		}
	}
	return false;
}

bool lab_parse_value(const char *text, enum weir_unit unit, uint64_t *out)
{
	uint64_t number = 0, factor, per = unit_ns(unit);
	const char *at = text;

	if (unit == WEIR_UNIT_BOOL)
		return parse_bool(text, out);
	if (!isdigit((unsigned char)*at))
		return false;
	for (; isdigit((unsigned char)*at); at++) {
		unsigned int digit = (unsigned int)(*at - '0');

		if (number > (UINT64_MAX - digit) / 10)
			return false;
		number = number * 10 + digit;
	}
	if (per && !*at) {
		*out = number;
		return true;
	}
	if (per)
		factor = find_suffix(time_suffixes, at);
	else if (unit == WEIR_UNIT_BYTES)
		factor = find_suffix(byte_suffixes, at);
	else
		factor = find_suffix(unit == WEIR_UNIT_PERCENT ? percent_suffixes : no_suffixes,
				     at);
	if (!factor || number > UINT64_MAX / factor)
		return false;
	number *= factor;
	if (per && number % per)
		return false;
	*out = per ? number / per : number;
	return true;
}

const char *lab_unit_accepts(enum weir_unit unit)
{
	switch (unit) {
	case WEIR_UNIT_BOOL:
		return "0 or 1";
	case WEIR_UNIT_COUNT:
		return "a whole number";
	case WEIR_UNIT_PERCENT:
		return "whole percent";
	case WEIR_UNIT_BYTES:
		return "bytes, with k, m, g or t";
	case WEIR_UNIT_NS:
		return "whole ns, or with us, ms or s";
	case WEIR_UNIT_US:
		return "whole us, or with ms or s";
	case WEIR_UNIT_MS:
		return "whole ms, or with s";
	case WEIR_UNIT_CHOICE:
		return "a name";
	}
	return "";
}

bool lab_parse_tunable(const char *text, const struct weir_tunable *t, uint64_t *out)
{
	int index;

	if (t->unit == WEIR_UNIT_CHOICE) {
		index = weir_choice_find(t, text);
		*out = index < 0 ? 0 : (uint64_t)index;
		return index >= 0;
	}
	return lab_parse_value(text, t->unit, out) && *out >= t->min && *out <= t->max;
}

const char *lab_format_tunable(char *buf, uint64_t value, const struct weir_tunable *t)
{
	const char *name = weir_choice_name(t, value);

	return name ? name : lab_format_value(buf, value, t->unit);
}

char *lab_tunable_accepts(char *buf, size_t bytes, const struct weir_tunable *t)
{
	char low[LAB_TEXT_BYTES], high[LAB_TEXT_BYTES];
	size_t used = 0;
	unsigned int n;

	if (t->unit == WEIR_UNIT_CHOICE) {
		for (n = 0; t->names[n] && used < bytes; n++)
			used += (size_t)snprintf(buf + used, bytes - used, "%s%s",
						 !n		   ? ""
						 : t->names[n + 1] ? ", "
								   : " or ",
						 t->names[n]);
	} else if (t->unit == WEIR_UNIT_BOOL) {
		snprintf(buf, bytes, "0 or 1");
	} else {
		snprintf(buf, bytes, "%s, from %s to %s", lab_unit_accepts(t->unit),
			 lab_format_value(low, t->min, t->unit),
			 lab_format_value(high, t->max, t->unit));
	}
	return buf;
}

/* value / scale with three digits, and a unit behind it. */
static char *three_digits(char *buf, uint64_t value, uint64_t scale, const char *unit)
{
	uint64_t whole = value / scale, rest = value % scale;
	/* rest < scale <= 10^9: no overflow */
	uint64_t hundredths = (rest * 100 + scale / 2) / scale;
	uint64_t tenths = (rest * 10 + scale / 2) / scale;

	if (whole < 10 && whole * 100 + hundredths < 1000)
		snprintf(buf, LAB_TEXT_BYTES, "%" PRIu64 ".%02" PRIu64 "%s",
			 whole + hundredths / 100, hundredths % 100, unit);
	else if (whole < 100 && whole * 10 + tenths < 1000)
		snprintf(buf, LAB_TEXT_BYTES, "%" PRIu64 ".%" PRIu64 "%s", whole + tenths / 10,
			 tenths % 10, unit);
	else
		snprintf(buf, LAB_TEXT_BYTES, "%" PRIu64 "%s",
			 whole + (rest >= scale - rest ? 1 : 0), unit);
	return buf;
}

char *lab_format_ns(char *buf, uint64_t ns)
{
	if (ns < WEIR_NS_PER_US)
		snprintf(buf, LAB_TEXT_BYTES, "%" PRIu64 "ns", ns);
	else if (ns < WEIR_NS_PER_MS - WEIR_NS_PER_US / 2)
		three_digits(buf, ns, WEIR_NS_PER_US, "us");
	else if (ns < WEIR_NS_PER_S - WEIR_NS_PER_MS / 2)
		three_digits(buf, ns, WEIR_NS_PER_MS, "ms");
	else
		three_digits(buf, ns, WEIR_NS_PER_S, "s");
	return buf;
}

char *lab_format_count(char *buf, uint64_t n)
{
	if (n < 1000000)
		snprintf(buf, LAB_TEXT_BYTES, "%" PRIu64, n);
	else
		three_digits(buf, n, 1000000, "M");
	return buf;
}

char *lab_format_short(char *buf, uint64_t n)
{
	if (n < 1000)
		snprintf(buf, LAB_TEXT_BYTES, "%" PRIu64, n);
	else if (n < 999500)
		three_digits(buf, n, 1000, "k");
	else
		three_digits(buf, n, 1000000, "M");
	return buf;
}

char *lab_format_rate(char *buf, uint64_t bytes_per_s)
{
	return three_digits(buf, bytes_per_s, 1000000, "");
}

char *lab_format_share(char *buf, uint64_t part, uint64_t whole)
{
	uint64_t permille;

	if (!whole) {
		snprintf(buf, LAB_TEXT_BYTES, "-");
		return buf;
	}
	permille = weir_mul_div(part, 2000, whole);
	permille = permille / 2 + permille % 2;
	snprintf(buf, LAB_TEXT_BYTES, "%" PRIu64 ".%" PRIu64 "%%", permille / 10, permille % 10);
	return buf;
}

static char *format_time(char *buf, uint64_t value, enum weir_unit unit)
{
	uint64_t per = unit_ns(unit);
	const struct suffix *s = time_suffixes, *best = s;

	if (value > UINT64_MAX / per)
		return NULL;
	for (; s->name; s++)
		if (s->factor >= per && value && value * per % s->factor == 0)
			best = s;
	if (best->factor < per)
		return NULL;
	snprintf(buf, LAB_TEXT_BYTES, "%" PRIu64 "%s", value * per / best->factor, best->name);
	return buf;
}

char *lab_format_value(char *buf, uint64_t value, enum weir_unit unit)
{
	static const char *const steps[] = {"", "k", "m", "g", "t"};
	unsigned int step = 0;

	if (unit == WEIR_UNIT_BYTES) {
		while (value && step < 4 && value % 1024 == 0) {
			value /= 1024;
			step++;
		}
		snprintf(buf, LAB_TEXT_BYTES, "%" PRIu64 "%s", value, steps[step]);
	} else if (!unit_ns(unit) || !value || !format_time(buf, value, unit)) {
		snprintf(buf, LAB_TEXT_BYTES, "%" PRIu64 "%s", value,
			 unit == WEIR_UNIT_PERCENT ? "%" : "");
	}
	return buf;
}
