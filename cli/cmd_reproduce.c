// SPDX-License-Identifier: GPL-2.0-only
/* weir reproduce: published figures of I/O schedulers beside simulated ones. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bad_option.h"
#include "cli/cli.h"
#include "cli/parse_args.h"
#include "cli/reproduce/reproduce.h"
#include "cli/say.h"
#include "lab/sim_units.h"

#define ERR_BYTES 2048

static const struct repro_thread *const threads[] = {
	&repro_thread_000,
	&repro_thread_001,
	&repro_thread_004,
};

enum {
	NR_THREADS = sizeof(threads) / sizeof(threads[0]),
};

struct options {
	const char *policy;
	bool wanted[NR_THREADS], json;
	uint64_t seed;
	char err[ERR_BYTES];
};

static const struct argp_option options[] = {
	{"policy", 'p', "P[,P..]", 0,
	 "only these, as in weir-sim(1), instead of all; then nothing is judged", 0},
	{"seed", 's', "N", 0, "of all that is random (default 1)", 0},
	{"json", 'j', NULL, 0, "one JSON object instead of tables", 0},
	{0},
};

static error_t want(struct options *o, const char *id)
{
	bool all = !strcmp(id, "all"), found = all;
	unsigned int n;

	for (n = 0; n < NR_THREADS; n++) {
		if (!all && strcmp(id, threads[n]->id) != 0)
			continue;
		o->wanted[n] = true;
		found = true;
	}
	if (found)
		return 0;
	snprintf(o->err, ERR_BYTES, "%.80s: accepted are", *id ? id : "(empty)");
	for (n = 0; n < NR_THREADS; n++)
		snprintf(o->err + strlen(o->err), ERR_BYTES - strlen(o->err), " %s,",
			 threads[n]->id);
	snprintf(o->err + strlen(o->err), ERR_BYTES - strlen(o->err), " and all");
	return EINVAL;
}

/* A list that is wrong is an error before anything is run. */
static error_t check_policies(struct options *o, const char *spec)
{
	struct lab_policies p = {0};
	bool good = lab_policies_parse(spec, &p, o->err, ERR_BYTES);

	if (good && p.nr > REPRO_ROWS_MAX) {
		snprintf(o->err, ERR_BYTES, "--policy: %u policies: accepted are %d at once", p.nr,
			 REPRO_ROWS_MAX);
		good = false;
	}
	lab_policies_free(&p);
	o->policy = spec;
	return good ? 0 : EINVAL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'p':
		return check_policies(o, arg);
	case 's':
		if (lab_parse_value(arg, WEIR_UNIT_COUNT, &o->seed) && o->seed <= INT64_MAX)
			return 0;
		snprintf(o->err, ERR_BYTES, "--seed: %.80s: accepted is a whole number below 2^63",
			 *arg ? arg : "(empty)");
		return EINVAL;
	case 'j':
		o->json = true;
		return 0;
	case ARGP_KEY_ARG:
		return want(o, arg);
	case ARGP_KEY_NO_ARGS:
		return want(o, "all");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Of the wanted. Less than all: an error. */
static unsigned int run_all(struct options *o, struct repro_report *report)
{
	struct lab_progress *progress;
	unsigned int n, nr = 0, runs = 0;

	for (n = 0; n < NR_THREADS; n++)
		if (o->wanted[n])
			runs += repro_count_runs(threads[n], o->policy);
	progress = lab_progress_new(stderr, runs);
	for (n = 0; n < NR_THREADS; n++)
		if (o->wanted[n] && !repro_run_thread(threads[n], o->policy, o->seed, progress,
						      &report[nr++], o->err, ERR_BYTES))
			break;
	lab_progress_free(progress);
	return nr;
}

static bool all_hold(const struct repro_report *r)
{
	unsigned int n;

	for (n = 0; n < r->nr_verdicts; n++)
		if (!repro_holds(&r->verdict[n]) && !r->verdict[n].closed_by)
			return false;
	return true;
}

static int run(struct options *o)
{
	struct repro_report *report = calloc(NR_THREADS, sizeof(*report));
	unsigned int n, nr;
	int status = CLI_DONE;

	if (!report) {
		cli_say("weir reproduce", "out of memory");
		return CLI_USAGE;
	}
	nr = run_all(o, report);
	if (*o->err) {
		cli_say("weir reproduce", "%s", o->err);
		status = CLI_USAGE;
	} else if (o->json) {
		repro_print_json(stdout, report, nr, o->seed);
	}
	for (n = 0; n < nr; n++) {
		if (status != CLI_USAGE && !o->json)
			repro_print(stdout, &report[n]);
		if (status == CLI_DONE && !all_hold(&report[n]))
			status = CLI_FAILED;
		repro_free(&report[n]);
	}
	free(report);
	return status;
}

int cmd_reproduce(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"[THREAD...]",
		"Runs the workloads of five public threads about I/O schedulers in the lab, and "
		"puts "
		"the figures beside the published ones.\vTHREAD is 000, 001, 004, or all, which is "
		"the default. Exit status: 0 every line holds or is explained in docs/fidelity.md, "
		"1 "
		"one doesn't, 2 usage or input error.",
		NULL,
		NULL,
		NULL,
	};
	struct options o = {.seed = 1};

	if (cli_printed_help(&argp, argc, argv))
		return CLI_DONE;
	if (argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &o)) {
		if (!*o.err)
			return cli_bad_option(argc, argv, options);
		cli_say("weir reproduce", "%s", o.err);
		return CLI_USAGE;
	}
	return run(&o);
}
