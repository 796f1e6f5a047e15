/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * weir(1): one function and one file a subcommand.
 *
 * argv[0] is "weir NAME", ready for messages and for argp. The answer is the exit status: 0 done,
 * 1 a verdict failed, 2 usage or input error.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

enum {
	CLI_DONE = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
};

int cmd_sim(int argc, char **argv);
int cmd_policies(int argc, char **argv);
int cmd_devices(int argc, char **argv);
int cmd_curve(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_reproduce(int argc, char **argv);
int cmd_rerun(int argc, char **argv);

#endif
