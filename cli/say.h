/* SPDX-License-Identifier: GPL-2.0-only */
/* One line on standard error, whatever was typed. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

/*
 * "program: ..." and a line end. Control characters come out as \xNN: a value that is quoted may
 * hold a line end or the escape sequences of a terminal. A very long line loses its middle, and
 * keeps its end, which says what would be accepted.
 */
void cli_say(const char *program, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
