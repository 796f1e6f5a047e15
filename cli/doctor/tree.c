// SPDX-License-Identifier: GPL-2.0-only
/* Reading below a root: see tree.h. */
#define _GNU_SOURCE
#include "cli/doctor/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Values of one line; of the files of a cgroup, with a line for each disk. */
#define VALUE_BYTES_MAX 4096
#define GROUP_BYTES_MAX (1 << 20)
#define NAMES_MAX 65536
/* Of a long path, its beginning and its end. */
#define PATH_SHOWN 32

char *doctor_text(const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int bytes;

	va_start(args, format);
	bytes = vasprintf(&text, format, args);
	va_end(args);
	if (bytes < 0)
		abort();
	return text;
}

void *doctor_grow(void *array, size_t members, size_t bytes_each)
{
	void *grown = reallocarray(array, members, bytes_each);

	if (!grown)
		abort();
	return grown;
}

static void lines_add(struct tree_lines *l, char *text)
{
	if (l->nr++ < TREE_LINES_MAX)
		l->line[l->nr - 1] = text;
	else
		free(text);
}

void tree_denied(struct doctor_tree *t, const char *path)
{
	unsigned int i;

	for (i = 0; i < t->denied.nr && i < TREE_LINES_MAX; i++)
		if (!strcmp(t->denied.line[i], path))
			return;
	lines_add(&t->denied, doctor_text("%s", path));
}

void tree_odd(struct doctor_tree *t, const char *path, const char *format, ...)
{
	const size_t bytes = strlen(path);
	char what[160], *line;
	unsigned int i;
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (bytes > 2 * PATH_SHOWN + 3)
		line = doctor_text("%.*s...%s: %s", PATH_SHOWN, path, path + bytes - PATH_SHOWN,
				   what);
	else
		line = doctor_text("%s: %s", path, what);
	for (i = 0; i < t->odd.nr && i < TREE_LINES_MAX; i++) {
		if (!strcmp(t->odd.line[i], line)) {
			free(line);
			return;
		}
	}
	lines_add(&t->odd, line);
}

int tree_open(struct doctor_tree *t, const char *root)
{
	int fd;

	memset(t, 0, sizeof(*t));
	t->live = !strcmp(root, "/");
	t->root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->root_fd < 0)
		return -errno;
	/* Linux before 5.6 can't stay below a root. */
	fd = tree_fd(t, O_PATH, "/");
	if (fd < 0)
		close(t->root_fd);
	else
		close(fd);
	return fd < 0 ? fd : 0;
}

static void lines_free(struct tree_lines *l)
{
	unsigned int i;

	for (i = 0; i < l->nr && i < TREE_LINES_MAX; i++)
		free(l->line[i]);
}

void tree_close(struct doctor_tree *t)
{
	close(t->root_fd);
	lines_free(&t->denied);
	lines_free(&t->odd);
}

int tree_fd(struct doctor_tree *t, int flags, const char *path)
{
	struct open_how how = {.resolve = RESOLVE_IN_ROOT};
	unsigned int tries = 100;
	long fd;

	flags |= O_CLOEXEC;
	if (!(flags & O_PATH))
		flags |= O_NONBLOCK | O_NOCTTY;
	how.flags = (uint64_t)flags;
	/* A rename anywhere on the host makes it unsure about "..", for that moment. */
	do
		fd = t->live ? open(path, flags)
			     : syscall(SYS_openat2, t->root_fd, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN && --tries);
	return fd < 0 ? -errno : (int)fd;
}

/* Reads to the end or max_bytes; -errno or the number of bytes. */
static ssize_t read_all(int fd, size_t max_bytes, char **out)
{
	size_t room = 0, used = 0;
	char *text = NULL;
	ssize_t got;

	do {
		if (used + 1 >= room) {
			room = room ? room * 4 : 512;
			text = doctor_grow(text, room, 1);
		}
		got = read(fd, text + used, room - used - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(text);
			return -errno;
		}
		used += (size_t)got;
	} while (got && used <= max_bytes);
	text[used] = 0;
	*out = text;
	return (ssize_t)used;
}

static char *take(struct doctor_tree *t, int fd, size_t max_bytes, const char *path)
{
	char *text = NULL;
	ssize_t bytes = fd;

	if (fd >= 0) {
		bytes = read_all(fd, max_bytes, &text);
		close(fd);
	}
	if (bytes == -EACCES || bytes == -EPERM)
		tree_denied(t, path);
	else if (bytes == -ELOOP)
		tree_odd(t, path, "symbolic links without an end");
	else if (bytes == -EIO)
		tree_odd(t, path, "cannot be read: %s", strerror(EIO));
	if (bytes < 0 || !text)
		return NULL;
	if ((size_t)bytes > max_bytes) {
		tree_odd(t, path, "longer than %zu bytes", max_bytes);
		text[max_bytes] = 0;
		bytes = (ssize_t)max_bytes;
	}
	if (strlen(text) != (size_t)bytes)
		tree_odd(t, path, "has a NUL in it");
	return text;
}

char *tree_read(struct doctor_tree *t, size_t max_bytes, const char *path)
{
	return take(t, tree_fd(t, O_RDONLY, path), max_bytes, path);
}

char *tree_read_at(struct doctor_tree *t, int dir_fd, const char *name, const char *path)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text, *full;

	if (fd < 0 && errno == ENOENT)
		return NULL;
	full = doctor_text("%s/%s", path, name);
	text = take(t, fd < 0 ? -errno : fd, GROUP_BYTES_MAX, full);
	free(full);
	return text;
}

bool tree_line(struct doctor_tree *t, char *out, size_t bytes, const char *dir, const char *name)
{
	char *path = doctor_text("%s/%s", dir, name), *text = tree_read(t, VALUE_BYTES_MAX, path);
	size_t from, to;

	out[0] = 0;
	if (text) {
		from = strspn(text, " \t");
		to = from + strcspn(text + from, "\n");
		while (to > from && isspace((unsigned char)text[to - 1]))
			to--;
		/* Longer than any value: that was said. */
		if (to - from >= bytes && to < VALUE_BYTES_MAX)
			tree_odd(t, path, "a value of %zu bytes", to - from);
		snprintf(out, bytes, "%.*s", (int)(to - from), text + from);
	}
	free(text);
	free(path);
	return out[0] != 0;
}

bool tree_number(struct doctor_tree *t, uint64_t *out, const char *dir, const char *name)
{
	char text[32], *end, *path;

	if (!tree_line(t, text, sizeof(text), dir, name))
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	if (isdigit((unsigned char)text[0]) && !*end && !errno)
		return true;
	path = doctor_text("%s/%s", dir, name);
	tree_odd(t, path, "\"%s\" is not a number", text);
	free(path);
	return false;
}

bool tree_has_bytes(struct doctor_tree *t, const char *dir, const char *name)
{
	char *path = doctor_text("%s/%s", dir, name), byte;
	int fd = tree_fd(t, O_RDONLY, path);
	bool some = fd >= 0 && read(fd, &byte, 1) == 1;

	free(path);
	if (fd >= 0)
		close(fd);
	return some;
}

bool tree_exists(struct doctor_tree *t, const char *dir, const char *name)
{
	char *path = doctor_text("%s/%s", dir, name);
	int fd = tree_fd(t, O_PATH, path);

	free(path);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **tree_names(struct doctor_tree *t, const char *path)
{
	char **names = doctor_grow(NULL, 1, sizeof(*names));
	int fd = tree_fd(t, O_RDONLY | O_DIRECTORY, path);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t nr = 0;

	if (fd == -EACCES || fd == -EPERM)
		tree_denied(t, path);
	while (dir && nr < NAMES_MAX && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		names = doctor_grow(names, nr + 2, sizeof(*names));
		names[nr++] = doctor_text("%s", entry->d_name);
	}
	names[nr] = NULL;
	qsort(names, nr, sizeof(*names), by_name);
	if (dir)
		closedir(dir);
	return names;
}

void tree_names_free(char **names)
{
	size_t i;

	for (i = 0; names[i]; i++)
		free(names[i]);
	free((void *)names);
}
