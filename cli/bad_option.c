// SPDX-License-Identifier: GPL-2.0-only
/*
 * argp reports a bad option in two lines and does not say what would be accepted. With ARGP_NO_ERRS
 * it says nothing; then this looks for the culprit: the first argument that begins with a dash and
 * names none of the options, or one that wants a value and has none.
 */
#include "cli/bad_option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/say.h"

/* The option that an argument "--name" or "--name=value" means; unique beginnings do. */
static const struct argp_option *find(const struct argp_option *options, const char *arg)
{
	const struct argp_option *o, *found = NULL;
	size_t bytes;

	if (arg[1] != '-') {
		for (o = options; o->name; o++)
			if (o->key == arg[1])
				return o;
		return NULL;
	}
	arg += 2;
	bytes = strcspn(arg, "=");
	for (o = options; o->name; o++) {
		if (strncmp(o->name, arg, bytes))
			continue;
		if (!o->name[bytes])
			return o;
		if (found)
			return NULL;
		found = o;
	}
	return found;
}

/* "--device=D, --json, --help" */
static char *list(const struct argp_option *o)
{
	size_t bytes = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (; o->name; o++)
		fprintf(out, "--%s%s%s, ", o->name, o->arg ? "=" : "", o->arg ? o->arg : "");
	fputs("--help", out);
	fclose(out);
	return text;
}

int cli_bad_option(int argc, char **argv, const struct argp_option *options)
{
	const struct argp_option *o = NULL;
	const char *arg = "";
	char *all;
	int i;

	for (i = 1; i < argc; i++) {
		if (argv[i][0] != '-' || !argv[i][1])
			continue;
		arg = argv[i];
		o = find(options, arg);
		if (!o)
			break;
		if (!o->arg && strchr(arg, '=')) {
			cli_say(argv[0], "%s: --%s takes no value", arg, o->name);
			return CLI_USAGE;
		}
		if (o->arg && !strchr(arg, '=') && ++i == argc) {
			cli_say(argv[0], "%s: needs a value: --%s=%s", arg, o->name, o->arg);
			return CLI_USAGE;
		}
	}
	all = list(options);
	cli_say(argv[0], "%s: no such option; there are %s", arg, all ? all : "--help");
	free(all);
	return CLI_USAGE;
}
