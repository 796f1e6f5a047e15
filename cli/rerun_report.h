/* SPDX-License-Identifier: GPL-2.0-only */
/* What a rerun found, as a summary to read and as JSON. */
#ifndef CLI_RERUN_REPORT_H
#define CLI_RERUN_REPORT_H

#include "lab/rerun.h"

/* Both for equal and differing recordings: one that is bad is an error, not a report. */
void rerun_print(const char *path, const struct lab_rerun_result *result);
void rerun_print_json(const char *path, const struct lab_rerun_result *result);

/* One call, as --verbose shows it; depth: of calls from within wake(). */
void rerun_print_call(const struct lab_call *call, uint64_t start_ns, unsigned int depth);

#endif
