/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs as text, for comparing with what a test expects: of each job what differs from a plain one,
 * so that an expectation shows what its file is about and still notices any other change.
 */
#ifndef TESTS_FIO_DUMP_H
#define TESTS_FIO_DUMP_H

#include <stdio.h>

#include "lab/job.h"

void test_dump_jobs(FILE *out, const struct lab_jobs *jobs, const struct lab_job *plain);

#endif
