// SPDX-License-Identifier: GPL-2.0-only
/*
 * weir policies: what there is, and the tunables of each. All of it comes from the policies' own
 * tables, so it cannot be out of date.
 */
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bad_option.h"
#include "cli/cli.h"
#include "cli/parse_args.h"
#include "cli/say.h"
#include "lab/report.h"
#include "lab/sim_units.h"

struct policies {
	const char *name, *extra;
	bool json;
};

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "one JSON object instead of the table", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct policies *args = state->input;

	switch (key) {
	case 'j':
		args->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (args->name) {
			args->extra = arg;
			return EINVAL;
		}
		args->name = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- tables ---- */

static void print_list(void)
{
	const struct weir_policy_info *info;
	unsigned int n;

	for (n = 0; weir_policy_at(n); n++) {
		info = weir_policy_info(weir_policy_at(n));
		printf("%-12s %s\n", info->name, info->help);
	}
	printf("\nTunables: weir policies NAME. Use: weir sim JOB.fio --policy "
	       "NAME:TUNABLE=VALUE\n");
}

/* What it enforces of what can be asked for. */
static void print_keeps(const struct weir_policy_info *info)
{
	char text[512] = "Enforces ceilings (io.max), as every policy";
	size_t used = strlen(text);
	unsigned int bit;

	for (bit = 1; bit <= WEIR_KEEPS_PRIORITIES; bit <<= 1)
		if (info->keeps & bit)
			used += (size_t)snprintf(text + used, sizeof(text) - used, ", %s",
						 weir_keeps_name((enum weir_keeps)bit));
	snprintf(text + used, sizeof(text) - used, "%s.", info->keeps ? "" : ", and nothing else");
	report_wrapped(stdout, text);
	putchar('\n');
}

/* From least to most, or all names of a choice. */
static void format_range(char *out, size_t bytes, const struct weir_tunable *t)
{
	char min[LAB_TEXT_BYTES], max[LAB_TEXT_BYTES];
	size_t used = 0;
	unsigned int n;

	if (t->unit != WEIR_UNIT_CHOICE) {
		snprintf(out, bytes, "%s..%s", lab_format_value(min, t->min, t->unit),
			 lab_format_value(max, t->max, t->unit));
		return;
	}
	for (n = 0; t->names[n] && used < bytes; n++)
		used += (size_t)snprintf(out + used, bytes - used, "%s%s", n ? "|" : "",
					 t->names[n]);
}

static void print_one(const struct weir_policy_info *info)
{
	const struct weir_tunable *t = info->tunables;
	char def[LAB_TEXT_BYTES], range[128];

	printf("%s: %s\n\n", info->name, info->help);
	print_keeps(info);
	if (!t || !t->name) {
		puts("It has no tunables.");
		return;
	}
	printf("%-20s %-8s %-10s %s\n", "tunable", "unit", "default", "range");
	for (; t->name; t++) {
		format_range(range, sizeof(range), t);
		printf("%-20s %-8s %-10s ", t->name, weir_unit_name(t->unit),
		       lab_format_tunable(def, t->def, t));
		if (strlen(t->help) <= REPORT_COLUMNS - 60)
			printf("%-18s %s\n", range, t->help);
		else
			printf("%s\n    %s\n", range, t->help);
	}
}

/* ---- JSON ---- */

static json_t *tunable_json(const struct weir_tunable *t)
{
	json_t *names;
	unsigned int n;

	if (t->unit != WEIR_UNIT_CHOICE)
		return json_pack("{s:s, s:s, s:I, s:I, s:I, s:s}", "name", t->name, "unit",
				 weir_unit_name(t->unit), "default", (json_int_t)t->def, "min",
				 (json_int_t)t->min, "max", (json_int_t)t->max, "help", t->help);
	names = json_array();
	for (n = 0; t->names[n]; n++)
		json_array_append_new(names, json_string(t->names[n]));
	return json_pack("{s:s, s:s, s:s, s:o, s:s}", "name", t->name, "unit",
			 weir_unit_name(t->unit), "default", weir_choice_name(t, t->def), "choices",
			 names, "help", t->help);
}

static json_t *policy_json(const struct weir_policy_info *info)
{
	const struct weir_tunable *t = info->tunables;
	json_t *list = json_array(), *keeps = json_array();
	unsigned int bit;

	for (bit = 1; bit <= WEIR_KEEPS_PRIORITIES; bit <<= 1)
		if (info->keeps & bit)
			json_array_append_new(keeps,
					      json_string(weir_keeps_name((enum weir_keeps)bit)));
	for (; t && t->name; t++)
		json_array_append_new(list, tunable_json(t));
	return json_pack("{s:s, s:s, s:o, s:o}", "name", info->name, "help", info->help, "enforces",
			 keeps, "tunables", list);
}

static int print_json(const struct weir_policy *only)
{
	json_t *list = json_array(), *root;
	unsigned int n;
	int failed;

	for (n = 0; weir_policy_at(n); n++)
		if (!only || weir_policy_at(n) == only)
			json_array_append_new(list,
					      policy_json(weir_policy_info(weir_policy_at(n))));
	root = json_pack("{s:s, s:o}", "weir version", WEIR_VERSION, "policies", list);
	failed = !root || json_dumpf(root, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(root);
	return failed ? CLI_USAGE : CLI_DONE;
}

static int unknown(const char *name)
{
	char all[512] = "";
	unsigned int n;
	size_t used = 0;

	for (n = 0; weir_policy_at(n) && used < sizeof(all); n++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", n ? ", " : "",
					 weir_policy_info(weir_policy_at(n))->name);
	cli_say("weir policies", "%s: accepted are %s", *name ? name : "(empty)", all);
	return CLI_USAGE;
}

int cmd_policies(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "[NAME]", "Lists the policies, or the tunables of one.",
		NULL,	 NULL,	NULL,
	};
	const struct weir_policy *only = NULL;
	struct policies args = {.json = false};

	if (cli_printed_help(&argp, argc, argv))
		return CLI_DONE;
	if (argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &args)) {
		if (!args.extra)
			return cli_bad_option(argc, argv, options);
		cli_say("weir policies", "%s: accepted is one name", args.extra);
		return CLI_USAGE;
	}
	if (args.name) {
		only = weir_policy_find(args.name);
		if (!only)
			return unknown(args.name);
	}
	if (args.json)
		return print_json(only);
	if (only)
		print_one(weir_policy_info(only));
	else
		print_list();
	return CLI_DONE;
}
