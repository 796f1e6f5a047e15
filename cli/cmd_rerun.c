// SPDX-License-Identifier: GPL-2.0-only
/*
 * weir rerun: a flight recording, run again, answer by answer.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/bad_option.h"
#include "cli/cli.h"
#include "cli/parse_args.h"
#include "cli/rerun_report.h"
#include "cli/say.h"

/* The progress line changes after so many bytes: a few times a second. */
#define PROGRESS_BYTES (UINT64_C(4) << 20)

struct rerun_args {
	const char *program, *path;
	bool json, verbose, said; /* said: the error is on stderr already */
};

/* While it runs. */
struct rerun_view {
	bool verbose, progress;
	uint64_t start_ns, file_bytes, drawn_bytes;
};

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "one JSON object instead of the summary", 0},
	{"verbose", 'v', NULL, 0, "print each call with its time and answer", 0},
	{0},
};

static error_t say(struct rerun_args *args, const char *what, const char *expected)
{
	cli_say(args->program, "%s%s", what, expected);
	args->said = true;
	return EINVAL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct rerun_args *args = state->input;

	switch (key) {
	case 'j':
		args->json = true;
		return 0;
	case 'v':
		args->verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		if (args->path)
			return say(args, arg, ": one recording is accepted");
		args->path = arg;
		return 0;
	case ARGP_KEY_END:
		if (!args->path)
			return say(args, "no recording given", ": weir rerun FILE, or - for stdin");
		if (args->json && args->verbose)
			return say(args, "--json and --verbose", ": one of them is accepted");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void each(void *priv, const struct lab_call *call, unsigned int depth)
{
	struct rerun_view *v = priv;

	if (!v->verbose)
		return;
	if (call->type == WEIR_REC_START)
		v->start_ns = call->now_ns;
	rerun_print_call(call, v->start_ns, depth);
}

static void progress(void *priv, uint64_t bytes)
{
	struct rerun_view *v = priv;

	if (!v->progress || bytes - v->drawn_bytes < PROGRESS_BYTES)
		return;
	v->drawn_bytes = bytes;
	fprintf(stderr, "\rweir rerun: %" PRIu64 " of %" PRIu64 " MB ", bytes / 1000000,
		v->file_bytes / 1000000);
}

static uint64_t size_of(FILE *f)
{
	struct stat st;

	return fstat(fileno(f), &st) || !S_ISREG(st.st_mode) ? 0 : (uint64_t)st.st_size;
}

/* One line, with what is known of the part before the damage. */
static int bad(const struct rerun_args *args, const struct lab_rerun_result *r)
{
	if (r->nr_calls > 1)
		cli_say(args->program,
			"%s: %s; the %" PRIu64 " calls before were answered as recorded",
			args->path, r->error, r->nr_calls - (r->number != 0));
	else
		cli_say(args->program, "%s: %s", args->path, r->error);
	return CLI_USAGE;
}

static int rerun(const struct rerun_args *args, FILE *f)
{
	struct rerun_view view = {.verbose = args->verbose, .file_bytes = size_of(f)};
	const struct lab_rerun_options opts = {each, progress, &view};
	struct lab_rerun_result result;
	int status;

	view.progress = view.file_bytes && !args->verbose && isatty(STDERR_FILENO);
	if (lab_rerun(f, &opts, &result)) {
		cli_say(args->program, "%s: no memory", args->path);
		return CLI_USAGE;
	}
	if (view.drawn_bytes)
		fputs("\r\033[K", stderr);
	if (result.verdict == LAB_RERUN_BAD || !result.policy) {
		status = bad(args, &result);
	} else {
		if (args->json)
			rerun_print_json(args->path, &result);
		else
			rerun_print(args->path, &result);
		status = result.verdict == LAB_RERUN_EQUAL ? CLI_DONE : CLI_FAILED;
	}
	lab_rerun_free(&result);
	return status;
}

int cmd_rerun(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"RECORDING",
		"Runs a flight recording again and stops at the first answer that differs.\v"
		"RECORDING was written by weir sim --record, or taken from a recorder elsewhere; "
		"- is standard input. Exit status: 0 equal, 1 an answer differs, 2 the recording "
		"is damaged or cut short.",
		NULL,
		NULL,
		NULL,
	};
	struct rerun_args args = {.program = argv[0]};
	int status;
	FILE *f;

	if (cli_printed_help(&argp, argc, argv))
		return CLI_DONE;
	if (argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &args))
		return args.said ? CLI_USAGE : cli_bad_option(argc, argv, options);
	if (!strcmp(args.path, "-"))
		return rerun(&args, stdin);
	f = fopen(args.path, "rb");
	if (!f) {
		cli_say(args.program, "%s: cannot be read: %s", args.path, strerror(errno));
		return CLI_USAGE;
	}
	status = rerun(&args, f);
	fclose(f);
	return status;
}
