// SPDX-License-Identifier: GPL-2.0-only
/*
 * From /proc/self/mountinfo: where cgroups are mounted, with which controllers, and the file systems
 * that the device carries.
 *
 * A file system is on the device if its number, or the device that it names as its source (btrfs has
 * numbers of its own), is a node of the stack or stands on one: partitions of the disk, and mappings
 * over those.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/facts.h"

#define MOUNTINFO_BYTES_MAX (8 << 20)
#define ABOVE_MAX 256

/* Names of what the device is, and of what stands on it. */
struct above {
	char *name[ABOVE_MAX];
	unsigned int nr;
};

static void above_add(struct above *a, const char *name)
{
	unsigned int i;

	for (i = 0; i < a->nr; i++)
		if (!strcmp(a->name[i], name))
			return;
	if (a->nr < ABOVE_MAX)
		a->name[a->nr++] = doctor_text("%s", name);
}

/* Partitions are directories of their disk with a file "partition"; holders are links. */
static void find_above(struct doctor_tree *t, struct above *a, const char *first)
{
	char **names, *path;
	unsigned int at;
	size_t i;

	above_add(a, first);
	for (at = 0; at < a->nr; at++) {
		path = doctor_text("/sys/class/block/%s/holders", a->name[at]);
		names = tree_names(t, path);
		for (i = 0; names[i]; i++)
			above_add(a, names[i]);
		tree_names_free(names);
		free(path);
		path = doctor_text("/sys/class/block/%s", a->name[at]);
		names = tree_names(t, path);
		for (i = 0; names[i]; i++) {
			char *part = doctor_text("%s/%s", path, names[i]);

			if (tree_exists(t, part, "partition"))
				above_add(a, names[i]);
			free(part);
		}
		tree_names_free(names);
		free(path);
	}
}

/* "\040" and the like, as the kernel writes blanks. */
static void unescape(char *s)
{
	char *out = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*out++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + s[3] - '0');
			s += 3;
		} else {
			*out++ = *s;
		}
	}
	*out = 0;
}

struct mount_line {
	char *dev, *where, *type, *source, *options;
};

/* "36 35 8:1 / /where opts shared:1 - type source options"; false: it is none. */
static bool parse_line(char *line, struct mount_line *m)
{
	char *tail = strstr(line, " - "), *save, *word;
	unsigned int n;

	if (!tail)
		return false;
	*tail = 0;
	memset(m, 0, sizeof(*m));
	word = strtok_r(line, " ", &save);
	for (n = 0; word; n++, word = strtok_r(NULL, " ", &save)) {
		if (n == 2)
			m->dev = word;
		if (n == 4)
			m->where = word;
	}
	m->type = strtok_r(tail + 3, " ", &save);
	m->source = strtok_r(NULL, " ", &save);
	m->options = strtok_r(NULL, " ", &save);
	if (!m->where || !m->type)
		return false;
	unescape(m->where);
	return true;
}

static bool has_word(const char *list, const char *word)
{
	const size_t bytes = strlen(word);
	const char *at = list;

	while (at && *at) {
		if (!strncmp(at, word, bytes) && (at[bytes] == ',' || !at[bytes]))
			return true;
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
	return false;
}

static bool is_one_of(struct doctor_tree *t, const struct above *a, const struct mount_line *m)
{
	const char *source = m->source ? m->source : "", *last = strrchr(source, '/');
	char dir[128], dev[24];
	unsigned int i;

	for (i = 0; i < a->nr; i++) {
		snprintf(dir, sizeof(dir), "/sys/class/block/%.80s", a->name[i]);
		if (tree_line(t, dev, sizeof(dev), dir, "dev") && !strcmp(dev, m->dev))
			return true;
		if (!strncmp(source, "/dev/", 5) && last && !strcmp(last + 1, a->name[i]))
			return true;
		/* /dev/mapper/NAME */
		if (!strncmp(source, "/dev/mapper/", 12) &&
		    tree_line(t, dev, sizeof(dev), dir, "dm/name") && last &&
		    !strcmp(dev, last + 1))
			return true;
	}
	return false;
}

static void add_mount(struct doctor_host *h, const struct mount_line *m)
{
	struct doctor_mount *to;
	unsigned int i;

	/* Bind mounts show the same file system again. */
	for (i = 0; i < h->mounts; i++)
		if (!strcmp(h->mount[i].type, m->type) &&
		    !strcmp(h->mount[i].options, m->options ? m->options : ""))
			return;
	h->mount = doctor_grow(h->mount, h->mounts + 1, sizeof(*h->mount));
	to = &h->mount[h->mounts++];
	to->where = doctor_text("%s", m->where);
	to->type = doctor_text("%s", m->type);
	to->options = doctor_text("%s", m->options ? m->options : "");
}

static void take_line(struct doctor_tree *t, struct doctor_host *h, const struct above *a,
		      const struct mount_line *m)
{
	if (!strcmp(m->type, "cgroup2") && !h->v2)
		h->v2 = doctor_text("%s", m->where);
	else if (!strcmp(m->type, "cgroup") && !h->v1 && has_word(m->options, "blkio"))
		h->v1 = doctor_text("%s", m->where);
	else if (m->dev && strcmp(m->type, "cgroup2") != 0 && strcmp(m->type, "cgroup") != 0 &&
		 is_one_of(t, a, m))
		add_mount(h, m);
}

void doctor_mounts_read(struct doctor_tree *t, struct doctor_host *h, const struct doctor_stack *s)
{
	char *text = tree_read(t, MOUNTINFO_BYTES_MAX, "/proc/self/mountinfo"), *line, *save;
	struct above a = {.nr = 0};
	struct mount_line m;
	unsigned int i, bad = 0;

	/* /proc/self of a copy is whoever copied it, if it is there at all. */
	if (!text)
		text = tree_read(t, MOUNTINFO_BYTES_MAX, "/proc/1/mountinfo");
	/* With DEV a partition, its neighbours are not on it. */
	find_above(t, &a, s->node[0].name);
	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (parse_line(line, &m))
			take_line(t, h, &a, &m);
		else if (!bad++)
			tree_odd(t, "/proc/self/mountinfo", "no mount: \"%.60s\"", line);
	}
	for (i = 0; i < a.nr; i++)
		free(a.name[i]);
	free(text);
	if (h->v1)
		h->cgroups = h->v2 ? CGROUPS_HYBRID : CGROUPS_V1;
	else
		h->cgroups = h->v2 ? CGROUPS_V2 : CGROUPS_NONE;
}
