/* SPDX-License-Identifier: GPL-2.0-only */
/* One line about an option that argp did not accept, instead of argp's two. */
#ifndef CLI_BAD_OPTION_H
#define CLI_BAD_OPTION_H

#include <argp.h>

/*
 * For argp_parse(.., ARGP_NO_ERRS, ..) that failed: names the culprit among the arguments and what
 * would be accepted. Returns CLI_USAGE.
 */
int cli_bad_option(int argc, char **argv, const struct argp_option *options);

#endif
