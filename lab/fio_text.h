/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading a text file that a user named, and telling the user what is wrong with it. Every
 * complaint is one line: file:line: what was read: what would be accepted.
 */
#ifndef LAB_FIO_TEXT_H
#define LAB_FIO_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "lab/fio_pool.h"

/* What is larger is no job file, but a mistyped name; it is refused before it fills the memory. */
#define FIO_FILE_BYTES_MAX ((size_t)8 << 20)
#define FIO_LINE_BYTES_MAX ((size_t)8 << 10)

struct fio_error {
	char *text; /* empty as long as all is well */
	size_t bytes;
};

void fio_error_init(struct fio_error *e, char *text, size_t bytes);

/*
 * Keeps the first complaint. line 0: the file as a whole; value NULL: nothing to quote. What is
 * quoted is cut at a length that fits a line, and made printable. Returns -1, for the caller to
 * return.
 */
int fio_fail(struct fio_error *e, const char *file, int line, const char *value, const char *accept,
	     ...) __attribute__((format(printf, 5, 6)));

/*
 * The whole of a file ("-" is standard input), with a NUL behind it. NULL after fio_fail(): it
 * can't be read, is a directory or too large.
 */
char *fio_text_read(struct fio_pool *pool, const char *path, size_t *bytes, struct fio_error *e);

/* One line of a text, without its end. */
struct fio_span {
	const char *text;
	size_t bytes;
	int line; /* from 1 */
};

/*
 * The next line of text[0..bytes), starting with a zeroed span: 1, or 0 behind the last. -1 after
 * fio_fail(): the line is too long, or binary.
 */
int fio_text_line(const char *text, size_t bytes, const char *file, struct fio_span *span,
		  struct fio_error *e);

/* Cuts the blanks at both ends, in place. */
char *fio_trim(char *s);

#endif
