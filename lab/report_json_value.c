// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values of the JSON report. Numbers with a fraction are rounded to a fixed number of decimals, so
 * that no compiler's last bit shows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/report_json.h"

void report_set(json_t *o, const char *name, json_t *value)
{
	if (!o || !value || json_object_set_new(o, name, value)) {
		fputs("weir: out of memory for JSON\n", stderr);
		abort();
	}
}

void report_push(json_t *array, json_t *value)
{
	if (!array || !value || json_array_append_new(array, value)) {
		fputs("weir: out of memory for JSON\n", stderr);
		abort();
	}
}

json_t *report_integer(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

/* JSON is UTF-8; names of jobs and files need not be. What isn't comes out as question marks. */
json_t *report_text(const char *s)
{
	json_t *o = json_string(s);
	char *copy, *at;

	if (o)
		return o;
	copy = strdup(s);
	for (at = copy; at && *at; at++)
		if ((unsigned char)*at >= 0x80)
			*at = '?';
	o = copy ? json_string(copy) : NULL;
	free(copy);
	return o;
}

/* Six decimals, like fio's %f, rounded half up. Beyond 2^53 / 10^6 there are fewer digits anyway.
 */
json_t *report_real(double x)
{
	const double scale = 1000000;

	if (x > 9e9 || x < 0)
		return json_real(x);
	return json_real((double)(uint64_t)(x * scale + 0.5) / scale);
}

json_t *report_ratio(uint64_t part, uint64_t whole)
{
	return report_real(whole ? (double)part / (double)whole : 0);
}

/* n per second of the span, with its fraction. */
json_t *report_per_second(uint64_t n, uint64_t span_ns)
{
	return report_real(span_ns ? (double)n * 1e9 / (double)span_ns : 0);
}
