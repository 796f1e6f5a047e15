// SPDX-License-Identifier: GPL-2.0-only
/*
 * The groups file: a section per path, the names and the grammar of cgroup v2 in it.
 *
 * libinih cuts the text into sections and keys. It reads lines through our reader, which does what
 * the library can't: it counts lines, so that a complaint has a place; it keeps section names aside
 * and hands over a number instead, since the library cuts names at 49 bytes and paths are longer;
 * and it refuses lines that don't fit the library's buffer, which would come out as two.
 */
#include <inttypes.h>
#include <ctype.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/groups_build.h"

#define LATENCY_MAX_US (UINT64_C(3600) * 1000000)

struct ini_source {
	struct group_builder *b;
	const char *name; /* of the file */
	const char *text;
	size_t bytes;
	struct fio_span span;
	int group; /* that the section names; -1: none yet */
};

/* ---- values ---- */

static int complain(struct ini_source *src, const char *key, const char *value, const char *accept)
{
	size_t bytes = strlen(key) + strlen(value) + 2;
	char *quoted = fio_pool_alloc(src->b->pool, bytes);

	snprintf(quoted, bytes, "%s=%s", key, value);
	return fio_fail(&src->b->err, src->name, src->span.line, quoted, "%s", accept);
}

/* 100, default 100, or 8:16 100. */
static const char *parse_weight(const char *value, uint32_t *out)
{
	const char *s = group_skip_device(value);
	uint64_t number;

	if (!strncmp(s, "default", 7) && isspace((unsigned char)s[7]))
		for (s += 7; isspace((unsigned char)*s); s++)
			;
	if (!group_number(s, strlen(s), &number) || number < WEIR_WEIGHT_MIN ||
	    number > WEIR_WEIGHT_MAX)
		return "a weight from 1 to 10000 is accepted";
	*out = (uint32_t)number;
	return NULL;
}

static const char *parse_latency(const char *value, uint64_t *out_ns)
{
	const char *s = group_skip_device(value);
	uint64_t us;

	if (strncmp(s, "target=", 7) != 0 || !group_number(s + 7, strlen(s + 7), &us) || us < 1 ||
	    us > LATENCY_MAX_US)
		return "target= is accepted with microseconds from 1 to 3600000000; without "
		       "io.latency there is no target";
	*out_ns = us * 1000;
	return NULL;
}

static const char *parse_value(enum group_key key, const char *value, struct weir_group_attr *attr,
			       char *room, size_t room_bytes)
{
	int ret = 0;

	switch (key) {
	case GROUP_WEIGHT:
		return parse_weight(value, &attr->weight);
	case GROUP_OWN_WEIGHT:
		return parse_weight(value, &attr->own_weight);
	case GROUP_MAX:
		ret = lab_parse_rates(value, false, &attr->max, room, room_bytes);
		break;
	case GROUP_LOW:
		ret = lab_parse_rates(value, true, &attr->low, room, room_bytes);
		break;
	default:
		return parse_latency(value, &attr->latency_target_ns);
	}
	return ret < 0 ? room : NULL;
}

static bool same_rates(const struct weir_rates *a, const struct weir_rates *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static bool same_value(enum group_key key, const struct weir_group_attr *a,
		       const struct weir_group_attr *b)
{
	switch (key) {
	case GROUP_WEIGHT:
		return a->weight == b->weight;
	case GROUP_OWN_WEIGHT:
		return a->own_weight == b->own_weight;
	case GROUP_MAX:
		return same_rates(&a->max, &b->max);
	case GROUP_LOW:
		return same_rates(&a->low, &b->low);
	default:
		return a->latency_target_ns == b->latency_target_ns;
	}
}

/* ---- keys ---- */

static const char *const key_names[NR_GROUP_KEYS] = {
	[GROUP_WEIGHT] = "io.weight", [GROUP_OWN_WEIGHT] = "io.weight.own", [GROUP_MAX] = "io.max",
	[GROUP_LOW] = "io.low",	      [GROUP_LATENCY] = "io.latency",
};

static int set_key(struct ini_source *src, enum group_key key, const char *value)
{
	struct lab_group_spec *g = &src->b->groups->group[src->group];
	struct group_place *said = &src->b->said[src->group][key];
	struct weir_group_attr attr = g->attr;
	char room[200];
	const char *accept = parse_value(key, value, &attr, room, sizeof(room));

	if (accept)
		return complain(src, key_names[key], value, accept);
	if (!*g->path && (key == GROUP_WEIGHT || key == GROUP_LATENCY))
		return complain(src, key_names[key], value,
				"the root has io.weight.own, io.max and io.low only");
	if (said->file && !same_value(key, &attr, &g->attr)) {
		snprintf(room, sizeof(room), "one value is accepted, and %.120s:%d gives another",
			 said->file, said->line);
		return complain(src, key_names[key], value, room);
	}
	g->attr = attr;
	/* With two places that agree the first is named later. */
	if (said->file)
		return 0;
	*said = (struct group_place){src->name, src->span.line};
	if (key == GROUP_WEIGHT) {
		g->weight_set = true;
		g->weight_file = src->name;
		g->weight_line = src->span.line;
	}
	return 0;
}

/* libinih's callback: 0 makes it report an error, which we have described by then. */
static int handle(void *user, const char *section, const char *name, const char *value)
{
	struct ini_source *src = user;
	unsigned int key;

	(void)section;
	if (src->b->err.text[0])
		return 0;
	if (src->group < 0) {
		fio_fail(&src->b->err, src->name, src->span.line, name,
			 "keys are accepted behind a [path] line");
		return 0;
	}
	for (key = 0; key < NR_GROUP_KEYS; key++)
		if (!strcmp(name, key_names[key]))
			return !set_key(src, key, value);
	fio_fail(&src->b->err, src->name, src->span.line, name,
		 "io.weight, io.weight.own, io.max, io.low and io.latency are accepted");
	return 0;
}

/* ---- lines ---- */

/* Makes the group that a section line names. */
static int take_section(struct ini_source *src, char *line)
{
	size_t nr = strlen(line) - 1;
	const char *accept;
	char *path;

	if (line[nr] != ']')
		return fio_fail(&src->b->err, src->name, src->span.line, line,
				"a section line ends with ]");
	line[nr] = '\0';
	path = fio_trim(line + 1);
	if (!*path)
		return fio_fail(&src->b->err, src->name, src->span.line, "[]",
				"a path is accepted, such as [a/b], or [/] for the root");
	accept = group_path(src->b->pool, path, &path);
	if (accept)
		return fio_fail(&src->b->err, src->name, src->span.line, line + 1, "%s", accept);
	src->group = group_need(src->b, path);
	if (src->group < 0)
		return fio_fail(&src->b->err, src->name, src->span.line, path,
				"at most %d groups are accepted", GROUPS_MAX);
	return 0;
}

/* A comment goes to the end of its line if a blank stands before it, or nothing. */
static void cut_comment(char *line)
{
	char *s;

	for (s = line; *s; s++) {
		if ((*s == ';' || *s == '#') && (s == line || isspace((unsigned char)s[-1]))) {
			*s = '\0';
			return;
		}
	}
}

static int check_line(struct ini_source *src, const char *line, size_t room)
{
	size_t i;

	for (i = 0; line[i]; i++)
		if (iscntrl((unsigned char)line[i]) && !isspace((unsigned char)line[i]))
			return fio_fail(&src->b->err, src->name, src->span.line, line,
					"text without control characters is accepted");
	if (!strchr(line, '=') || *line == '=')
		return fio_fail(&src->b->err, src->name, src->span.line, line,
				"a [path] line or key = value is accepted");
	if (i + 2 > room)
		return fio_fail(&src->b->err, src->name, src->span.line, NULL,
				"a line of %zu bytes: at most %zu are accepted", i, room - 2);
	return 0;
}

/*
 * fgets() for libinih: one line, without indentation, which the library would take for the
 * continuation of a value. Comments and empty lines stay with us; NULL is the end, or an error.
 */
static char *read_line(char *out, int room, void *stream)
{
	struct ini_source *src = stream;
	char *line;

	while (!src->b->err.text[0] &&
	       fio_text_line(src->text, src->bytes, src->name, &src->span, &src->b->err) > 0) {
		line = fio_pool_copy(src->b->pool, src->span.text, src->span.bytes);
		cut_comment(line);
		line = fio_trim(line);
		if (!*line)
			continue;
		if (*line == '[') {
			if (take_section(src, line) < 0)
				return NULL;
			/* Any section will do: the library only has to forget the last key. */
			snprintf(out, (size_t)room, "[%d]\n", src->group);
			return out;
		}
		if (check_line(src, line, (size_t)room) < 0)
			return NULL;
		snprintf(out, (size_t)room, "%s\n", line);
		return out;
	}
	return NULL;
}

/* ---- the tree as a whole ---- */

/* A floor that a ceiling above it keeps from ever being met. Returns the index of that, or -1. */
static int lower_ceiling(const struct group_builder *b, const struct lab_group_spec *g)
{
	char *path = fio_pool_strdup(b->pool, g->path), *slash;
	const struct weir_rates *max, *low = &g->attr.low;
	unsigned int dir;
	int above;

	do {
		slash = strrchr(path, '/');
		*(slash ? slash : path) = '\0';
		above = lab_groups_find(b->groups, path);
		max = &b->groups->group[above].attr.max;
		for (dir = 0; dir < WEIR_NR_DIRS; dir++)
			if (low->bps[dir] > max->bps[dir] || low->iops[dir] > max->iops[dir])
				return above;
	} while (*path);
	return -1;
}

static int check_group(struct group_builder *b, int index)
{
	const struct lab_group_spec *g = &b->groups->group[index];
	const struct group_place *low = &b->said[index][GROUP_LOW],
				 *max = &b->said[index][GROUP_MAX];
	const char *refused = weir_group_attr_check(&g->attr), *path = *g->path ? g->path : "/";
	int above;

	if (refused) {
		/* Each value was fine on its own: it is the later of floor and ceiling. */
		if (!low->file || (max->file && max->line > low->line))
			low = max;
		return fio_fail(&b->err, low->file ? low->file : path, low->line, path,
				"%s: a floor up to the ceiling is accepted", refused);
	}
	if (!low->file || !*g->path)
		return 0;
	above = lower_ceiling(b, g);
	if (above < 0)
		return 0;
	max = &b->said[above][GROUP_MAX];
	return fio_fail(
		&b->err, low->file, low->line, path,
		"io.low above the io.max of a group around it, at %s:%d: a floor up to that "
		"is accepted",
		max->file, max->line);
}

int group_read_ini(struct group_builder *b, const char *ini, size_t bytes, const char *name)
{
	struct ini_source src = {.b = b, .text = ini, .bytes = bytes, .group = -1};
	unsigned int i;
	int line;

	src.name = fio_pool_strdup(b->pool, name);
	line = ini_parse_stream(read_line, &src, handle, &src);
	if (b->err.text[0])
		return -1;
	if (line)
		return fio_fail(&b->err, src.name, src.span.line, NULL,
				"a [path] line or key = value is accepted");
	for (i = 0; i < b->groups->nr; i++)
		if (check_group(b, (int)i) < 0)
			return -1;
	return 0;
}
