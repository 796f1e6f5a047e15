// SPDX-License-Identifier: GPL-2.0-only
/*
 * weir devices: which models there are; and of one, what it is made of, what can be set, what its
 * requests are priced at, and what it does, measured on the spot in virtual time.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "cli/bad_option.h"
#include "cli/cli.h"
#include "cli/device_facts.h"
#include "cli/parse_args.h"
#include "cli/say.h"
#include "lab/dev_profile.h"
#include "lab/measure.h"

struct devices {
	const char *program, *spec;
	bool json, profile, said; /* said: the error is on stderr already */
};

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "one JSON object instead of the text", 0},
	{"profile", 'p', NULL, 0, "the device's profile in one line, and nothing else", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct devices *d = state->input;

	switch (key) {
	case 'j':
		d->json = true;
		return 0;
	case 'p':
		d->profile = true;
		return 0;
	case ARGP_KEY_ARG:
		if (d->spec) {
			cli_say(d->program, "%s: one device is accepted", arg);
			d->said = true;
			return EINVAL;
		}
		d->spec = arg;
		return 0;
	case ARGP_KEY_END:
		if (!d->profile || (d->spec && !d->json))
			return 0;
		cli_say(d->program, "--profile: %s",
			d->json ? "not with --json, which has it too"
				: "needs a device, as in profile:pc711");
		d->said = true;
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- the list ---- */

static void list_text(void)
{
	const struct dev_profile_builtin *b;
	const struct lab_device_model *m;
	unsigned int n;

	for (n = 0; (m = lab_device_model_at(n)); n++)
		printf("%-12s %s\n", m->name, m->help);
	puts("\nMeasured SSDs, as profile:NAME\n");
	for (n = 0; (b = dev_profile_builtin_at(n)); n++)
		printf("%-12s %s\n", b->name, b->model);
	puts("\nweir devices NAME shows one, with its options: NAME:key=value:key=value");
}

static void dump(json_t *root)
{
	json_dumpf(root, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(root);
}

static void list_json(void)
{
	json_t *models = json_array(), *profiles = json_array();
	const struct dev_profile_builtin *b;
	const struct lab_device_model *m;
	unsigned int n;

	for (n = 0; (m = lab_device_model_at(n)); n++)
		json_array_append_new(models,
				      json_pack("{s:s, s:s, s:o}", "name", m->name, "help", m->help,
						"options", device_options_json(m)));
	for (n = 0; (b = dev_profile_builtin_at(n)); n++)
		json_array_append_new(profiles,
				      json_pack("{s:s, s:s}", "name", b->name, "model", b->model));
	dump(json_pack("{s:s, s:o, s:o}", "weir version", WEIR_VERSION, "devices", models,
		       "profiles", profiles));
}

/* ---- one device ---- */

/* The model that a specification names; it has been opened, so there is one. */
static const struct lab_device_model *model_of(const char *spec)
{
	size_t bytes = strcspn(spec, ":");
	const struct lab_device_model *m;
	unsigned int n;

	for (n = 0; (m = lab_device_model_at(n)); n++)
		if (strlen(m->name) == bytes && !memcmp(m->name, spec, bytes))
			return m;
	return NULL;
}

static void show(const struct devices *args, const struct lab_device *d)
{
	const struct lab_device_model *m = model_of(args->spec);
	struct device_table table;

	if (args->profile) {
		device_print_profile_line(&d->info.profile);
		return;
	}
	device_table_measure(&table, args->spec);
	if (args->json)
		dump(device_json(args->spec, m, &d->info, &table));
	else
		device_print(args->spec, m, &d->info, &table);
}

static int one_device(const struct devices *args)
{
	struct lab_engine *e = lab_engine_new();
	struct lab_device *d;
	char err[512];
	int status = CLI_USAGE;

	d = lab_device_open(args->spec, e, 1, err, sizeof(err));
	if (!d) {
		cli_say(args->program, "%s", err);
	} else {
		show(args, d);
		d->destroy(d);
		status = CLI_DONE;
	}
	lab_engine_free(e);
	return status;
}

/* "profile" alone is a question: which are there? */
static int profiles_only(const struct devices *args)
{
	const struct dev_profile_builtin *b;
	unsigned int n;

	if (args->json) {
		list_json();
		return CLI_DONE;
	}
	puts("profile:NAME is a measured SSD, profile:FILE any device: see weir-profile(5).\n");
	for (n = 0; (b = dev_profile_builtin_at(n)); n++)
		printf("%-12s %s\n", b->name, b->model);
	return CLI_DONE;
}

int cmd_devices(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"[NAME[:key=value...]]",
		"Lists the modelled devices, or shows and measures one.",
		NULL,
		NULL,
		NULL,
	};
	struct devices args = {.program = argv[0]};

	if (cli_printed_help(&argp, argc, argv))
		return CLI_DONE;
	if (argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &args))
		return args.said ? CLI_USAGE : cli_bad_option(argc, argv, options);
	if (args.spec && !strcmp(args.spec, "profile"))
		return profiles_only(&args);
	if (args.spec)
		return one_device(&args);
	if (args.json)
		list_json();
	else
		list_text();
	return CLI_DONE;
}
