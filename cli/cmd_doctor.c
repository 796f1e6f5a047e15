// SPDX-License-Identifier: GPL-2.0-only
/*
 * weir doctor: what on this host will not work as it was set, and how to mend it.
 *
 * Facts first (doctor/facts.h), then one examination after the other, each in a file of its own, then
 * the report. Nothing is written, and nothing needs root.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/bad_option.h"
#include "cli/cli.h"
#include "cli/doctor/report.h"
#include "cli/parse_args.h"
#include "cli/say.h"

struct args {
	const char *program, *dev, *root;
	bool json, list, said; /* said: the error is on stderr already */
};

enum { OPT_ROOT = 256, OPT_LIST };

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "one JSON object instead of the text", 0},
	{"list", OPT_LIST, NULL, 0, "all that can be found: severity, name, meaning", 0},
	{"root", OPT_ROOT, "DIR", 0, "examine the copy of /sys, /proc and /dev below DIR", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'j':
		a->json = true;
		return 0;
	case OPT_LIST:
		a->list = true;
		return 0;
	case OPT_ROOT:
		a->root = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (a->dev) {
			cli_say(a->program, "%s: one device is accepted", arg);
			a->said = true;
			return EINVAL;
		}
		a->dev = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int list(void)
{
	unsigned int id;

	for (id = 0; id < NR_FINDING_IDS; id++)
		printf("%-8s %-21s %s\n", severity_name(finding_severity((enum finding_id)id)),
		       finding_name((enum finding_id)id), finding_help((enum finding_id)id));
	return CLI_DONE;
}

static int examine(struct doctor *d, const struct args *args)
{
	char name[64], err[1024];

	if (!doctor_find_device(&d->tree, args->dev, name, sizeof(name), err, sizeof(err))) {
		cli_say(args->program, "%s", err);
		return CLI_USAGE;
	}
	doctor_stack_read(&d->tree, &d->stack, name);
	doctor_mounts_read(&d->tree, &d->host, &d->stack);
	doctor_host_read(&d->tree, &d->host);
	doctor_groups_read(&d->tree, &d->groups, &d->host, &d->stack);

	check_stack(d);
	check_effect(d);
	check_shares(d);
	check_queue(d);
	check_iocost(d);
	check_cgroups(d);
	check_module(d);
	check_reading(d);
	findings_sort(d);
	if (args->json)
		doctor_print_json(d);
	else
		doctor_print(d);
	return d->count[SEVERITY_ERROR] ? CLI_FAILED : CLI_DONE;
}

int cmd_doctor(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"DEV",
		"Says what on this host will not work for a block device, and how to mend it.",
		NULL,
		NULL,
		NULL,
	};
	struct args args = {.program = argv[0], .root = "/"};
	struct doctor d;
	int status;

	if (cli_printed_help(&argp, argc, argv))
		return CLI_DONE;
	if (argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &args))
		return args.said ? CLI_USAGE : cli_bad_option(argc, argv, options);
	if (args.list)
		return list();
	if (!args.dev) {
		cli_say(args.program, "a device is needed: a path, a name or MAJ:MIN, such as "
				      "/dev/sda, sda or 8:0");
		return CLI_USAGE;
	}
	memset(&d, 0, sizeof(d));
	status = tree_open(&d.tree, args.root);
	if (status) {
		cli_say(args.program, "--root=%s: %s; a directory is needed", args.root,
			strerror(-status));
		return CLI_USAGE;
	}
	status = examine(&d, &args);
	findings_free(&d);
	doctor_groups_free(&d.groups);
	doctor_host_free(&d.host);
	doctor_stack_free(&d.stack);
	tree_close(&d.tree);
	return status;
}
