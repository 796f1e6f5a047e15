/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of the job parser share. */
#ifndef TESTS_FIO_UTIL_H
#define TESTS_FIO_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lab/job.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static inline struct lab_jobs *parse(const char *text)
{
	char err[600];
	struct lab_jobs *jobs = lab_jobs_parse(text, strlen(text), "t.fio", NULL, err, sizeof(err));

	if (!jobs)
		fail_msg("%s", err);
	return jobs;
}

/* One job with these lines; size=1g, unless they say otherwise. */
static inline struct lab_jobs *job_of(const char *lines)
{
	char text[4000];

	snprintf(text, sizeof(text), "[j]\nsize=1g\n%s\n", lines);
	return parse(text);
}

static inline void refused(const char *text, const char *complaint)
{
	char err[600] = "";
	struct lab_jobs *jobs = lab_jobs_parse(text, strlen(text), "t.fio", NULL, err, sizeof(err));

	if (jobs)
		fail_msg("accepted: %s", text);
	if (strcmp(err, complaint) != 0)
		fail_msg("\"%s\" instead of \"%s\"", err, complaint);
}

#endif
