// SPDX-License-Identifier: GPL-2.0-only
/*
 * With ARGP_NO_ERRS argp is silent about mistakes, which is wanted, and about --help, which is not.
 */
#include "cli/parse_args.h"

#include <stdio.h>
#include <string.h>

bool cli_printed_help(const struct argp *argp, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-?") != 0)
			continue;
		argp_help(argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, argv[0]);
		return true;
	}
	return false;
}
