// SPDX-License-Identifier: GPL-2.0-only
/* Files, lines and complaints; see lab/fio_text.h. */
#include "lab/fio_text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longest quotation in a complaint, so that what would be accepted is still on the screen. */
#define QUOTE_BYTES 80

void fio_error_init(struct fio_error *e, char *text, size_t bytes)
{
	e->text = text;
	e->bytes = bytes;
	if (bytes)
		text[0] = '\0';
}

/* A terminal gets no control character from somebody else's file. Room: 4 bytes a character. */
static void quote(char *out, const char *value)
{
	size_t nr;

	for (nr = 0; *value && nr < QUOTE_BYTES; nr++, value++) {
		unsigned char c = (unsigned char)*value;

		if (isprint(c))
			*out++ = (char)c;
		else
			out += sprintf(out, "\\x%02x", c);
	}
	if (*value)
		out += sprintf(out, "...");
	*out = '\0';
}

int fio_fail(struct fio_error *e, const char *file, int line, const char *value, const char *accept,
	     ...)
{
	char quoted[4 * QUOTE_BYTES + 4], where[4 * QUOTE_BYTES + 4], number[16] = "";
	va_list args;
	int used;
	char *s;

	if (!e->bytes || e->text[0])
		return -1;
	quote(where, file);
	quote(quoted, value ? value : "");
	if (line)
		snprintf(number, sizeof(number), "%d:", line);
	used = snprintf(e->text, e->bytes, "%s:%s %s%s", where, number, quoted, value ? ": " : "");
	if (used >= 0 && (size_t)used < e->bytes) {
		va_start(args, accept);
		vsnprintf(e->text + used, e->bytes - (size_t)used, accept, args);
		va_end(args);
		/* Names of groups and files may be in there. */
		for (s = e->text + used; *s; s++)
			if (!isprint((unsigned char)*s))
				*s = '?';
	}
	return -1;
}

static int too_large(struct fio_error *e, const char *path, unsigned long long bytes)
{
	char size[48];

	snprintf(size, sizeof(size), "%llu bytes", bytes);
	return fio_fail(e, path, 0, size, "a file of at most %zu bytes (8 MiB) is accepted",
			FIO_FILE_BYTES_MAX);
}

/* Pipes don't tell their size, hence the limit while reading. */
static char *read_all(struct fio_pool *pool, int fd, const char *path, size_t *bytes,
		      struct fio_error *e)
{
	size_t room = 65536, nr = 0;
	char *buf = fio_pool_alloc(pool, room + 1), *bigger;
	ssize_t got;

	for (;;) {
		got = read(fd, buf + nr, room - nr);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			fio_fail(e, path, 0, NULL, "%s", strerror(errno));
			return NULL;
		}
		if (!got)
			break;
		nr += (size_t)got;
		if (nr > FIO_FILE_BYTES_MAX) {
			too_large(e, path, nr);
			return NULL;
		}
		if (nr == room) {
			room *= 2;
			bigger = fio_pool_alloc(pool, room + 1);
			memcpy(bigger, buf, nr);
			buf = bigger;
		}
	}
	*bytes = nr;
	return buf;
}

char *fio_text_read(struct fio_pool *pool, const char *path, size_t *bytes, struct fio_error *e)
{
	bool standard_input = !strcmp(path, "-");
	char *text = NULL;
	struct stat st;
	int fd;

	fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0)
		fio_fail(e, path, 0, NULL, "%s", strerror(errno));
	else if (S_ISDIR(st.st_mode))
		fio_fail(e, path, 0, "a directory", "a file is accepted");
	else if (S_ISREG(st.st_mode) && (size_t)st.st_size > FIO_FILE_BYTES_MAX)
		too_large(e, path, (unsigned long long)st.st_size);
	else
		text = read_all(pool, fd, path, bytes, e);
	if (fd >= 0 && !standard_input)
		close(fd);
	return text;
}

int fio_text_line(const char *text, size_t bytes, const char *file, struct fio_span *span,
		  struct fio_error *e)
{
	const char *end = text + bytes, *newline;

	span->text = span->text ? span->text + span->bytes + 1 : text;
	if (span->text >= end)
		return 0;
	span->line++;
	newline = memchr(span->text, '\n', (size_t)(end - span->text));
	span->bytes = (size_t)((newline ? newline : end) - span->text);
	if (span->bytes > FIO_LINE_BYTES_MAX)
		return fio_fail(e, file, span->line, NULL,
				"a line of %zu bytes: at most %zu are accepted", span->bytes,
				FIO_LINE_BYTES_MAX);
	if (memchr(span->text, '\0', span->bytes))
		return fio_fail(e, file, span->line, NULL, "a NUL byte: text is accepted");
	return 1;
}

char *fio_trim(char *s)
{
	size_t nr;

	while (isspace((unsigned char)*s))
		s++;
	nr = strlen(s);
	while (nr && isspace((unsigned char)s[nr - 1]))
		s[--nr] = '\0';
	return s;
}
