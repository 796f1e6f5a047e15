/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the JSON report share.
 *
 *	report_json.c	    the whole, groups
 *	report_json_job.c   jobs and directions, with fio's names
 *	report_json_value.c numbers and strings
 */
#ifndef LAB_REPORT_JSON_H
#define LAB_REPORT_JSON_H

#include <jansson.h>

#include "lab/result.h"

/* Both take over value; NULL (no memory) ends the program. */
void report_set(json_t *o, const char *name, json_t *value);
void report_push(json_t *array, json_t *value);

json_t *report_integer(uint64_t n);
json_t *report_text(const char *s);
json_t *report_real(double x);
/* part / whole; 0 if whole is 0. */
json_t *report_ratio(uint64_t part, uint64_t whole);
/* n per second of the span, with its fraction. */
json_t *report_per_second(uint64_t n, uint64_t span_ns);

/* job: whose percentile list, and with bins; NULL: fio's list, without. */
json_t *report_direction(const struct lab_meter *m, uint64_t span_ns, const struct lab_job *job);
json_t *report_job_json(const struct lab_job_result *r);

#endif
