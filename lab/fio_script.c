// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of a job file.
 *
 * The rules are fio's, as observed: everything behind the first ; or # of a line is a comment;
 * blanks at the ends of a line, and around "=", don't count; a line that begins with the letters
 * "include" pulls in a file of options, looked for as written and then beside the file that
 * includes it. Unlike fio, a section line has to be closed, a loop of includes is reported as such,
 * and a line that is neither a section nor an option (a binary file, say) is an error.
 */
#include "lab/fio_script.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/fio_number.h"

/* Limits on what nobody writes by hand, and few generate. */
enum {
	INCLUDE_DEPTH_MAX = 16,
	LINES_MAX = 262144, /* of one run: includes multiply */
	SECTION_NAME_MAX = 255,
	VALUE_BYTES_MAX = 65536, /* after variables were replaced */
};

/* Where lines come from: a chain up to the job file. */
struct source {
	const struct source *up;
	const char *file;
	bool from_memory;
	bool in_section;
	dev_t dev;
	ino_t ino;
	unsigned int depth;
};

static int take_text(struct fio_script *s, const char *text, size_t bytes, struct source *src,
		     struct fio_error *e);

/* ---- variables ---- */

struct builder {
	struct fio_pool *pool;
	char *text;
	size_t nr;
	bool too_long;
};

static void put(struct builder *b, const char *text, size_t bytes)
{
	size_t i;

	if (b->nr + bytes > VALUE_BYTES_MAX) {
		b->too_long = true;
		return;
	}
	for (i = 0; i < bytes; i++) {
		b->text = fio_pool_grow(b->pool, b->text, b->nr, 1);
		b->text[b->nr++] = text[i];
	}
}

static void put_environment(struct builder *b, const char *name, size_t bytes)
{
	char *copy = fio_pool_copy(b->pool, name, bytes);
	const char *value = getenv(copy);

	if (value)
		put(b, value, strlen(value));
}

/* fio's words for facts of the machine. Returns how long the word at s is, or 0. */
static size_t machine_word(const char *s, long *value)
{
	if (!strncmp(s, "$pagesize", 9)) {
		*value = sysconf(_SC_PAGESIZE);
		return 9;
	}
	if (!strncmp(s, "$mb_memory", 10)) {
		*value = (long)((unsigned long long)sysconf(_SC_PHYS_PAGES) *
					(unsigned long long)sysconf(_SC_PAGESIZE) >>
				20);
		return 10;
	}
	if (!strncmp(s, "$ncpus", 6)) {
		*value = sysconf(_SC_NPROCESSORS_ONLN);
		return 6;
	}
	return 0;
}

/* A value with such a word may be arithmetic without parentheses: 8*$mb_memory. */
static char *calculate(struct fio_pool *pool, char *value)
{
	char number[32];
	fio_wide wide;

	if (!strpbrk(value, "+-*/") || !fio_expression(value, false, false, &wide))
		return value;
	wide /= FIO_WIDE_ONE;
	if (wide < 0 || wide > INT64_MAX)
		return value;
	snprintf(number, sizeof(number), "%lld", (long long)wide);
	return fio_pool_strdup(pool, number);
}

/* NULL: too long. */
static char *replace_variables(struct fio_pool *pool, char *value)
{
	struct builder b = {.pool = pool};
	const char *s = value, *close;
	bool machine = false;
	char number[32];
	size_t word;
	long fact;

	if (!strchr(value, '$'))
		return value;
	while (*s) {
		if (s[0] == '$' && s[1] == '{' && (close = strchr(s, '}'))) {
			put_environment(&b, s + 2, (size_t)(close - s) - 2);
			s = close + 1;
		} else if (*s == '$' && (word = machine_word(s, &fact))) {
			snprintf(number, sizeof(number), "%ld", fact);
			put(&b, number, strlen(number));
			machine = true;
			s += word;
		} else {
			put(&b, s++, 1);
		}
	}
	if (b.too_long)
		return NULL;
	put(&b, "", 1);
	return machine ? calculate(pool, fio_trim(b.text)) : fio_trim(b.text);
}

/* ---- lines ---- */

static struct fio_line *add_line(struct fio_script *s, const struct source *src, int line)
{
	struct fio_line *l;

	s->line = fio_pool_grow(s->pool, s->line, s->nr, sizeof(*s->line));
	l = &s->line[s->nr++];
	*l = (struct fio_line){.file = src->file, .line = line};
	return l;
}

static bool is_option_name(const char *name)
{
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_' && *name != '-')
			return false;
	return true;
}

static int take_section(struct fio_script *s, char *text, struct source *src, int line,
			struct fio_error *e)
{
	size_t nr = strlen(text), i;
	struct fio_line *l;

	if (src->up)
		return fio_fail(e, src->file, line, text,
				"an included file holds options only, no [section]");
	if (text[nr - 1] != ']')
		return fio_fail(e, src->file, line, text, "a section line ends with ]");
	if (nr - 2 > SECTION_NAME_MAX)
		return fio_fail(e, src->file, line, text, "a section name has at most %d bytes",
				SECTION_NAME_MAX);
	text[nr - 1] = '\0';
	for (i = 1; text[i]; i++)
		if (iscntrl((unsigned char)text[i]))
			return fio_fail(e, src->file, line, text + 1,
					"a section name has no control characters");
	if (!*fio_trim(text + 1))
		return fio_fail(e, src->file, line, "[]", "a section needs a name: [name]");
	l = add_line(s, src, line);
	l->section = true;
	src->in_section = true;
	l->name = fio_trim(text + 1);
	return 0;
}

static int take_option(struct fio_script *s, char *text, const struct source *src, int line,
		       struct fio_error *e)
{
	char *equals = strchr(text, '=');
	struct fio_line *l = add_line(s, src, line);

	if (equals) {
		*equals = '\0';
		l->raw = fio_trim(equals + 1);
		l->value = replace_variables(s->pool, fio_trim(equals + 1));
		if (!l->value)
			return fio_fail(e, src->file, line, l->raw,
					"at most %d bytes are accepted once variables are replaced",
					VALUE_BYTES_MAX);
	}
	l->name = fio_trim(text);
	if (!*l->name || !is_option_name(l->name))
		return fio_fail(e, src->file, line, *l->name ? l->name : "=",
				"an option is accepted, as name=value, or a [section]");
	return 0;
}

static int open_include(struct fio_script *s, const char *path, const struct source *up, int line,
			struct fio_error *e)
{
	struct source src = {.up = up, .file = path, .in_section = true, .depth = up->depth + 1};
	const struct source *above;
	struct stat st;
	size_t bytes;
	char *text;

	if (src.depth > INCLUDE_DEPTH_MAX)
		return fio_fail(e, up->file, line, path, "includes may nest %d deep",
				INCLUDE_DEPTH_MAX);
	if (!stat(path, &st)) {
		src.dev = st.st_dev;
		src.ino = st.st_ino;
		for (above = up; above; above = above->up)
			if (above->dev == src.dev && above->ino == src.ino)
				return fio_fail(e, up->file, line, path,
						"this file is being read already: includes may not "
						"form a loop");
	}
	text = fio_text_read(s->pool, path, &bytes, e);
	return text ? take_text(s, text, bytes, &src, e) : -1;
}

/* text is behind the letters "include". */
static int take_include(struct fio_script *s, char *text, const struct source *src, int line,
			struct fio_error *e)
{
	const char *name, *slash = strrchr(src->file, '/');
	size_t dir, bytes;
	char *beside;

	if (*text && *text != '=' && !isspace((unsigned char)*text))
		return fio_fail(e, src->file, line, text - strlen("include"),
				"a line that begins with include is: include FILE");
	name = fio_trim(*text == '=' ? text + 1 : text);
	name = replace_variables(s->pool, fio_pool_strdup(s->pool, name));
	if (!name || !*name)
		return fio_fail(e, src->file, line, "include", "include FILE is accepted");
	if (src->from_memory)
		return fio_fail(e, src->file, line, "include",
				"only a job file can include another");
	if (name[0] == '/' || !slash || !access(name, F_OK))
		return open_include(s, name, src, line, e);
	dir = (size_t)(slash - src->file) + 1;
	bytes = dir + strlen(name) + 1;
	beside = fio_pool_alloc(s->pool, bytes);
	snprintf(beside, bytes, "%.*s%s", (int)dir, src->file, name);
	return open_include(s, access(beside, F_OK) ? name : beside, src, line, e);
}

static int take_line(struct fio_script *s, const struct fio_span *span, struct source *src,
		     struct fio_error *e)
{
	char *text = fio_pool_copy(s->pool, span->text, span->bytes);

	text[strcspn(text, ";#")] = '\0';
	text = fio_trim(text);
	if (!*text)
		return 0;
	if (s->nr >= LINES_MAX)
		return fio_fail(e, src->file, span->line, NULL,
				"more than %d lines with includes: that many are accepted",
				LINES_MAX);
	if (*text == '[')
		return take_section(s, text, src, span->line, e);
	if (!src->in_section)
		return fio_fail(e, src->file, span->line, text,
				"options are accepted behind a [section] line");
	if (!strncmp(text, "include", strlen("include")))
		return take_include(s, text + strlen("include"), src, span->line, e);
	return take_option(s, text, src, span->line, e);
}

static int take_text(struct fio_script *s, const char *text, size_t bytes, struct source *src,
		     struct fio_error *e)
{
	struct fio_span span = {0};
	int more;

	while ((more = fio_text_line(text, bytes, src->file, &span, e)) > 0)
		if (take_line(s, &span, src, e) < 0)
			return -1;
	return more;
}

int fio_script_text(struct fio_script *s, const char *text, size_t bytes, const char *name,
		    struct fio_error *e)
{
	struct source src = {.file = fio_pool_strdup(s->pool, name), .from_memory = true};

	return take_text(s, text, bytes, &src, e);
}

int fio_script_read(struct fio_script *s, const char *path, struct fio_error *e)
{
	struct source src = {.file = fio_pool_strdup(s->pool, path)};
	struct stat st;
	size_t bytes;
	char *text;

	if (!strcmp(path, "-"))
		src.file = "stdin";
	else if (!stat(path, &st)) {
		src.dev = st.st_dev;
		src.ino = st.st_ino;
	}
	text = fio_text_read(s->pool, path, &bytes, e);
	return text ? take_text(s, text, bytes, &src, e) : -1;
}
