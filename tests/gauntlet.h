/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Acceptance from outside: the program is run as a user runs it, and its JSON is judged. Virtual
 * time makes every figure exact, so the thresholds are those of the design and nothing is retried.
 *
 *	struct gauntlet_text job = {0};
 *	json_t *result, *weir;
 *
 *	gauntlet_add(&job, "[a]\nrw=randread\n...");
 *	result = gauntlet_sim("", "%s --device ssd --policy noop,weir", gauntlet_file("a.fio",
 * &job)); weir = gauntlet_run(result, "weir"); gauntlet_at_least("total", gauntlet_number(weir,
 * "total/iops"), 1000); json_decref(result); gauntlet_verdict();
 *
 * A figure out of bounds is noted with the command that shows it, and the test goes on, so that one
 * failure tells about all of them; gauntlet_verdict() is what fails.
 */
#ifndef TESTS_GAUNTLET_H
#define TESTS_GAUNTLET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#define GAUNTLET_SHARE_MIN_IOS 200 /* fewer completions say nothing about one percent */

/* A file being written. */
struct gauntlet_text {
	char text[16384];
	size_t bytes;
};

void gauntlet_add(struct gauntlet_text *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Writes it to a temporary directory; the same name again is overwritten. Returns its path. */
const char *gauntlet_file(const char *name, const struct gauntlet_text *t);

/*
 * weir sim ARGUMENTS --json, with variables ("RW=read DEPTH=4") in its environment. The status must
 * be 0 and the output one JSON object, which the caller gives back by json_decref().
 */
json_t *gauntlet_sim(const char *variables, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The n-th policy as it is given to --policy, and labelled: one that keeps the device idle on purpose
 * is told not to, for lines that say that what is left of a device gets used. NULL after the last.
 */
const char *gauntlet_busy_policy(unsigned int n);
/* All of these, with commas in between. */
const char *gauntlet_busy_policies(void);

/* Parts of a result; that they are there is checked. A phase has groups and a total as a run has.
 */
json_t *gauntlet_run(const json_t *result, const char *label);
json_t *gauntlet_group(const json_t *run, const char *path);
json_t *gauntlet_job(const json_t *run, const char *name);
json_t *gauntlet_part(const json_t *object, const char *path);	/* "read/clat_ns" */
double gauntlet_number(const json_t *object, const char *path); /* "total/iops" */
bool gauntlet_true(const json_t *object, const char *path);

/*
 * Does it keep the device idle on purpose, waiting for one process while others have requests? Then
 * what it leaves to these is no measure of what comes before the policy.
 */
bool gauntlet_keeps_idle(const char *policy);

/* Reads and writes together, of a group or a job. */
double gauntlet_iops(const json_t *entry);
double gauntlet_ios(const json_t *entry);
double gauntlet_bytes_per_s(const json_t *entry);
/* A percentile of the completion latency in ns, the worse direction: "99.000000". */
double gauntlet_latency_ns(const json_t *entry, const char *percentile);

/* The value is noted as missed if it is out of bounds. */
void gauntlet_at_least(const char *what, double value, double bound);
void gauntlet_at_most(const char *what, double value, double bound);
/* wanted x (1 - part) .. wanted x (1 + part) */
void gauntlet_within(const char *what, double value, double wanted, double part);
void gauntlet_check(const char *what, bool holds);
/* A figure that the design wants to see, not judged. */
void gauntlet_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Fails if anything was missed since the last call, or if nothing was judged. */
void gauntlet_verdict(void);

#endif
