/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the table report share. */
#ifndef LAB_REPORT_H
#define LAB_REPORT_H

#include "lab/sim.h"
#include "lab/sim_units.h"

#define REPORT_COLUMNS 100

/* Prints words, broken into lines of at most REPORT_COLUMNS. */
void report_wrapped(FILE *out, const char *text);
/* The clients of a group (or job) as one latency distribution; nr is 0 if there are none. */
void report_latency(struct lab_meter *const *meter, struct lab_lat *out);

/* lab/report_compare.c: runs side by side, and in a sentence. */
void report_compare(FILE *out, struct lab_sim_result *const *run, unsigned int nr);

#endif
