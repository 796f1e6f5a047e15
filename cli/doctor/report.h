/* SPDX-License-Identifier: GPL-2.0-only */
/* What was found, to read and as JSON. */
#ifndef CLI_DOCTOR_REPORT_H
#define CLI_DOCTOR_REPORT_H

#include "cli/doctor/findings.h"

void doctor_print(const struct doctor *d);
void doctor_print_json(const struct doctor *d);

#endif
