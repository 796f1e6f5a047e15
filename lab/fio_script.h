/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A job file as a flat list: section lines and options in the order in which they count, comments
 * gone, includes put in, variables replaced. What the options mean comes later.
 */
#ifndef LAB_FIO_SCRIPT_H
#define LAB_FIO_SCRIPT_H

#include "lab/fio_text.h"

struct fio_line {
	const char *file;
	int line;
	bool section;
	char *name;	 /* of the section or of the option */
	char *value;	 /* NULL: a section, or an option without "=" */
	const char *raw; /* the value before variables were replaced, for complaints */
};

struct fio_script {
	struct fio_pool *pool;
	struct fio_line *line;
	unsigned int nr;
};

/* Append a file ("-": standard input) or a text. -1 after fio_fail(). */
int fio_script_read(struct fio_script *s, const char *path, struct fio_error *e);
int fio_script_text(struct fio_script *s, const char *text, size_t bytes, const char *name,
		    struct fio_error *e);

#endif
