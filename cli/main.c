// SPDX-License-Identifier: GPL-2.0-only
/*
 * weir(1): finds the subcommand and hands over.
 *
 * The table below is all that there is to know about the set of commands; help and the message for
 * an unknown name are made from it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weir/weir.h>

#include "cli/cli.h"
#include "cli/say.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *title; /* argv[0] of the command */
	const char *help;
};

static const struct command commands[] = {
	{"sim", cmd_sim, "weir sim", "run fio jobs against a modelled device, policy by policy"},
	{"policies", cmd_policies, "weir policies", "list the policies, or the tunables of one"},
	{"devices", cmd_devices, "weir devices", "list the device models, or measure one"},
	{"curve", cmd_curve, "weir curve", "depth against throughput and p99, and the knee"},
	{"doctor", cmd_doctor, "weir doctor", "what on this host will not work, and the mend"},
	{"reproduce", cmd_reproduce, "weir reproduce",
	 "published figures of I/O schedulers beside simulated ones"},
	{"rerun", cmd_rerun, "weir rerun", "run a flight recording again, answer by answer"},
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *find(const char *name)
{
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void print_overview(FILE *out)
{
	size_t i;

	fputs("usage: weir COMMAND [ARGUMENT...]\n\n"
	      "weir shares one block device between groups. Commands:\n\n",
	      out);
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "    %-10s %s\n", commands[i].name, commands[i].help);
	fputs("    help       this text; \"weir help COMMAND\" has the options of one\n\n"
	      "Begin with: weir sim JOB.fio --device pcie-flash --policy noop,tpps,weir\n"
	      "More in weir(1).\n",
	      out);
}

static int unknown(const char *name)
{
	char all[256] = "";
	size_t i, used = 0;

	for (i = 0; i < NR_COMMANDS && used < sizeof(all); i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s, ", commands[i].name);
	cli_say("weir", "%s: no such command; there are %shelp", *name ? name : "(empty)", all);
	return CLI_USAGE;
}

static int run(const struct command *c, int argc, char **argv)
{
	argv[0] = (char *)c->title;
	return c->run(argc, argv);
}

static int help(int argc, char **argv)
{
	const struct command *c;
	char option[] = "--help";
	char *args[] = {NULL, option, NULL};

	if (argc < 2) {
		print_overview(stdout);
		return CLI_DONE;
	}
	c = find(argv[1]);
	return c ? run(c, 2, args) : unknown(argv[1]);
}

static int dispatch(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		print_overview(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("weir " WEIR_VERSION);
		return CLI_DONE;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(argc - 1, argv + 1);
	c = find(argv[1]);
	return c ? run(c, argc - 1, argv + 1) : unknown(argv[1]);
}

int main(int argc, char **argv)
{
	int status = dispatch(argc, argv);

	/* A full disk behind stdout must not look like success. */
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "weir: cannot write the output: %s\n", strerror(errno));
		return CLI_USAGE;
	}
	return status;
}
