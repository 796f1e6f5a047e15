// SPDX-License-Identifier: GPL-2.0-only
/*
 * weir sim: job files against modelled devices, policy by policy. Nothing goes to stdout before all
 * of it is there, so that an error leaves no half report behind.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/bad_option.h"
#include "cli/cli.h"
#include "cli/parse_args.h"
#include "cli/say.h"
#include "lab/sim.h"
#include "lab/sim_units.h"

#define ERR_BYTES 2048
#define NS_PER_S UINT64_C(1000000000)
#define RUNTIME_MAX_S UINT64_C(1000000)

struct options {
	struct lab_policies policies;
	struct lab_settings settings;
	const char **job, **section, **device;
	unsigned int nr_jobs, nr_sections, nr_devices;
	char **device_text; /* owns what device points into */
	unsigned int nr_device_texts;
	const char *groups, *record;
	bool json;
	uint64_t seed, runtime_ns;
	char err[ERR_BYTES];
};

static const struct argp_option options[] = {
	{"device", 'd', "D[,D..]", 0,
	 "device model with its options, as in weir-devices(1): ssd, pcie-flash:stall=0 (default "
	 "ssd)",
	 0},
	{"policy", 'p', "P[,P..]", 0,
	 "policies with their tunables, as in weir-policies(1): weir, deadline:fifo_batch=8; or "
	 "all "
	 "(default weir)",
	 0},
	{"groups", 'g', "FILE", 0, "INI file with attributes of groups, named as in cgroup v2", 0},
	{"host", 'H', "KEY=VALUE,..", 0, "settings of the host: see below", 0},
	{"runtime", 't', "TIME", 0, "instead of runtime= of each job: 10s, 500ms", 0},
	{"section", 'S', "NAME", 0, "run only this section of the job files; may be repeated", 0},
	{"seed", 's', "N", 0, "of all that is random (default 1)", 0},
	{"json", 'j', NULL, 0, "one JSON object instead of tables", 0},
	{"record", 'r', "FILE", 0,
	 "write a flight recording for weir-rerun(1); with one policy and one device", 0},
	{0},
};

/* The table of settings becomes part of the help. */
static char *help_text(int key, const char *text, void *input)
{
	const struct lab_setting *s;
	size_t bytes = 0;
	char *all = NULL;
	unsigned int n;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	out = open_memstream(&all, &bytes);
	if (!out)
		return NULL;
	fputs("Settings of --host:\n", out);
	for (n = 0; (s = lab_setting_at(n)); n++)
		fprintf(out, "  %s: %s (default %s)\n", s->name, s->help, s->def);
	for (n = 0; lab_builtin_help(n); n++)
		fprintf(out, "\nIn place of job files: %s\n", lab_builtin_help(n));
	fclose(out);
	return all;
}

static int fail(const char *text)
{
	cli_say("weir sim", "%s", text);
	return CLI_USAGE;
}

static void *need(void *p)
{
	if (!p) {
		fail("out of memory");
		exit(CLI_USAGE);
	}
	return p;
}

/* ---- options ---- */

static void add_text(const char ***list, unsigned int *nr, const char *text)
{
	*list = need(realloc(*list, (*nr + 1) * sizeof(**list)));
	(*list)[(*nr)++] = text;
}

static void add_devices(struct options *o, const char *list)
{
	char *copy = need(strdup(list)), *at, *next;

	o->device_text =
		need(realloc(o->device_text, (o->nr_device_texts + 1) * sizeof(*o->device_text)));
	o->device_text[o->nr_device_texts++] = copy;
	for (at = copy; at; at = next) {
		next = strchr(at, ',');
		if (next)
			*next++ = '\0';
		add_text(&o->device, &o->nr_devices, at);
	}
}

static const char *shown(const char *text)
{
	return *text ? text : "(empty)";
}

/* A second one would take the place of the first, and what that one says would not hold. */
static bool set_groups(struct options *o, const char *path)
{
	if (o->groups) {
		snprintf(o->err, ERR_BYTES, "--groups: %.80s: accepted is one file, and %.80s is",
			 shown(path), o->groups);
		return false;
	}
	o->groups = path;
	return true;
}

static bool parse_seed(struct options *o, const char *text)
{
	/* JSON has no larger integers, and a seed that can't be read back can't be used again. */
	if (lab_parse_value(text, WEIR_UNIT_COUNT, &o->seed) && o->seed <= INT64_MAX)
		return true;
	snprintf(o->err, ERR_BYTES, "--seed: %.80s: accepted is a whole number below 2^63",
		 shown(text));
	return false;
}

/* Seconds, or with a unit. */
static bool parse_runtime(struct options *o, const char *text)
{
	const uint64_t max_ns = RUNTIME_MAX_S * NS_PER_S;
	uint64_t n;

	if (lab_parse_value(text, WEIR_UNIT_COUNT, &n))
		o->runtime_ns = n <= RUNTIME_MAX_S ? n * NS_PER_S : 0;
	else if (!lab_parse_value(text, WEIR_UNIT_NS, &o->runtime_ns))
		o->runtime_ns = 0;
	if (o->runtime_ns && o->runtime_ns <= max_ns)
		return true;
	snprintf(o->err, ERR_BYTES,
		 "--runtime: %.80s: accepted is a time from 1ns to 1000000s, in ns, us, ms or s; "
		 "without a unit it is seconds",
		 shown(text));
	return false;
}

/* Do both name one file that exists? */
static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino &&
	       S_ISREG(sa.st_mode);
}

/* A recording replaces its file: never one that the run is read from. */
static bool check_record(struct options *o)
{
	const char *input = NULL;
	unsigned int i;

	if (!o->record)
		return true;
	for (i = 0; i < o->nr_jobs; i++)
		if (same_file(o->record, o->job[i]))
			input = o->job[i];
	if (o->groups && same_file(o->record, o->groups))
		input = o->groups;
	if (input)
		snprintf(o->err, ERR_BYTES,
			 "--record: %.80s: accepted is a file other than the input %.80s",
			 o->record, input);
	else if (o->policies.nr > 1 || o->nr_devices > 1)
		snprintf(o->err, ERR_BYTES,
			 "--record: %.80s: accepted with one policy and one device",
			 shown(o->record));
	else if (!*o->record)
		snprintf(o->err, ERR_BYTES, "--record: (empty): accepted is the name of a file");
	return !*o->err;
}

static error_t check_all(struct options *o)
{
	if (!o->nr_jobs) {
		snprintf(o->err, ERR_BYTES, "no job file given; weir sim --help says more");
		return EINVAL;
	}
	if (!o->nr_devices)
		add_text(&o->device, &o->nr_devices, "ssd");
	if (!o->policies.nr && !lab_policies_parse("weir", &o->policies, o->err, ERR_BYTES))
		return EINVAL;
	return check_record(o) ? 0 : EINVAL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'd':
		add_devices(o, arg);
		return 0;
	case 'p':
		return lab_policies_parse(arg, &o->policies, o->err, ERR_BYTES) ? 0 : EINVAL;
	case 'g':
		return set_groups(o, arg) ? 0 : EINVAL;
	case 'H':
		return lab_settings_parse(arg, &o->settings, o->err, ERR_BYTES) ? 0 : EINVAL;
	case 't':
		return parse_runtime(o, arg) ? 0 : EINVAL;
	case 'S':
		add_text(&o->section, &o->nr_sections, arg);
		return 0;
	case 's':
		return parse_seed(o, arg) ? 0 : EINVAL;
	case 'j':
		o->json = true;
		return 0;
	case 'r':
		o->record = arg;
		return 0;
	case ARGP_KEY_ARG:
		add_text(&o->job, &o->nr_jobs, arg);
		return 0;
	case ARGP_KEY_END:
		return check_all(o);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void free_options(struct options *o)
{
	unsigned int i;

	for (i = 0; i < o->nr_device_texts; i++)
		free(o->device_text[i]);
	free(o->device_text);
	free(o->device);
	free(o->section);
	free(o->job);
	lab_policies_free(&o->policies);
}

/* ---- the runs ---- */

static struct lab_jobs *read_jobs(struct options *o, struct lab_builtin *builtin, bool *is_builtin)
{
	struct lab_jobs_options opt = {.sections = o->section, .nr_sections = o->nr_sections};
	struct lab_jobs *jobs;
	unsigned int i;

	*is_builtin = !strncmp(o->job[0], LAB_BUILTIN_PREFIX, strlen(LAB_BUILTIN_PREFIX));
	if (*is_builtin && o->nr_jobs > 1) {
		snprintf(o->err, ERR_BYTES, "%s: accepted is nothing else beside %s", o->job[1],
			 o->job[0]);
		return NULL;
	}
	if (*is_builtin)
		jobs = lab_builtin_jobs(o->job[0], builtin, o->err, ERR_BYTES);
	else
		jobs = lab_jobs_read(o->job, o->nr_jobs, o->nr_sections ? &opt : NULL, o->err,
				     ERR_BYTES);
	for (i = 0; jobs && o->runtime_ns && i < jobs->nr; i++)
		jobs->job[i]->runtime_ns = o->runtime_ns;
	return jobs;
}

/* All policies on all devices. Returns how many runs there are in `run`; less than all: an error.
 */
static unsigned int run_all(struct options *o, struct lab_sim_spec *spec,
			    struct lab_sim_result **run, bool *stuck)
{
	unsigned int d, p, nr = 0;

	spec->progress = lab_progress_new(stderr, o->nr_devices * o->policies.nr);
	for (d = 0; d < o->nr_devices; d++) {
		for (p = 0; p < o->policies.nr; p++) {
			spec->device = o->device[d];
			spec->policy = &o->policies.choice[p];
			lab_progress_run(spec->progress, spec->policy->label, spec->device);
			run[nr] = lab_sim_run(spec, stuck, o->err, ERR_BYTES);
			if (!run[nr])
				goto out;
			nr++;
		}
	}
out:
	lab_progress_free(spec->progress);
	return nr;
}

static int report(struct options *o, struct lab_sim_result **run, unsigned int nr,
		  const struct lab_jobs *jobs)
{
	size_t bytes = 0;
	char *text = NULL;
	FILE *out = need(open_memstream(&text, &bytes));

	if (o->json)
		lab_report_json(out, run, nr, jobs);
	else
		lab_report_table(out, run, nr, jobs);
	if (fclose(out)) {
		free(text);
		return fail("out of memory for the report");
	}
	fwrite(text, 1, bytes, stdout);
	free(text);
	return CLI_DONE;
}

static int run_jobs(struct options *o, const struct lab_jobs *jobs,
		    const struct lab_builtin *builtin)
{
	unsigned int nr, i, all = o->nr_devices * o->policies.nr;
	struct lab_sim_result **run = need(calloc(all, sizeof(*run)));
	struct lab_groups *groups = lab_groups_build(jobs, o->groups, o->err, ERR_BYTES);
	struct lab_sim_spec spec = {
		.jobs = jobs,
		.groups = groups,
		.builtin = builtin,
		.settings = &o->settings,
		.seed = o->seed,
		.record = o->record,
	};
	bool stuck = false;
	int status;

	nr = groups ? run_all(o, &spec, run, &stuck) : 0;
	if (nr == all)
		status = report(o, run, nr, jobs);
	else
		status = fail(o->err);
	for (i = 0; i < nr; i++)
		lab_sim_result_free(run[i]);
	free(run);
	lab_groups_free(groups);
	return stuck ? CLI_FAILED : status;
}

int cmd_sim(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"JOB.fio...",
		"Runs fio jobs against a modelled device in virtual time, policy by policy, and "
		"says "
		"what each group got and why it waited.\v",
		NULL,
		help_text,
		NULL,
	};
	struct lab_builtin builtin = {.seed = 0};
	struct options *o;
	struct lab_jobs *jobs = NULL;
	bool is_builtin = false;
	int status;

	if (cli_printed_help(&argp, argc, argv))
		return CLI_DONE;
	o = need(calloc(1, sizeof(*o)));
	o->seed = 1;
	if (argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, o)) {
		status = *o->err ? fail(o->err) : cli_bad_option(argc, argv, options);
	} else {
		jobs = read_jobs(o, &builtin, &is_builtin);
		status = jobs ? run_jobs(o, jobs, is_builtin ? &builtin : NULL) : fail(o->err);
	}
	lab_jobs_free(jobs);
	free_options(o);
	free(o);
	return status;
}
