/* SPDX-License-Identifier: GPL-2.0-only */
/* argp without its two-line complaints, but with its help. */
#ifndef CLI_PARSE_ARGS_H
#define CLI_PARSE_ARGS_H

#include <argp.h>
#include <stdbool.h>

/*
 * Prints the help if an argument asks for it: --help or -? before any "--". To be called before
 * argp_parse(.., ARGP_NO_ERRS, ..), which takes these options silently. argv[0] is the command.
 */
bool cli_printed_help(const struct argp *argp, int argc, char **argv);

#endif
