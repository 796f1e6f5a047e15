// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tree of cgroups that the block I/O controller is in: what is enabled where, what was set, who did
 * I/O on this device.
 *
 * A cgroup's directory is listed once; only files that are there are opened, so that 10,000 cgroups
 * take a fraction of a second.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/doctor/facts.h"

#define GROUPS_MAX 200000
#define GROUP_DEPTH_MAX 200
#define ROOT_FILE_MAX (1 << 20)

/* What is in one directory. */
struct listing {
	char **child;
	unsigned int children;
	bool io_stat, memory, events, subtree, v1_bytes;
	bool file[NR_SETTING_FILES];
};

static void note_file(struct listing *l, const char *name)
{
	unsigned int file;

	if (!strcmp(name, "io.stat"))
		l->io_stat = true;
	else if (!strcmp(name, "memory.current"))
		l->memory = true;
	else if (!strcmp(name, "cgroup.events"))
		l->events = true;
	else if (!strcmp(name, "cgroup.subtree_control"))
		l->subtree = true;
	else if (!strcmp(name, "blkio.throttle.io_service_bytes"))
		l->v1_bytes = true;
	else
		for (file = 0; file < NR_SETTING_FILES; file++)
			if (!strcmp(name, doctor_file_name((enum setting_file)file)))
				l->file[file] = true;
}

static bool is_dir(int dir_fd, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return !fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists fd, which stays open. */
static void list(int fd, struct listing *l)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	memset(l, 0, sizeof(*l));
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' && (!entry->d_name[1] || !strcmp(entry->d_name, "..")))
			continue;
		if (is_dir(copy, entry)) {
			l->child = doctor_grow((void *)l->child, l->children + 1,
					       sizeof(*l->child));
			l->child[l->children++] = doctor_text("%s", entry->d_name);
		} else {
			note_file(l, entry->d_name);
		}
	}
	if (l->children)
		qsort((void *)l->child, l->children, sizeof(*l->child), by_name);
	if (dir)
		closedir(dir);
}

/* ---- activity ---- */

static bool counts(const struct doctor_stack *s, const char *dev)
{
	const struct doctor_node *n = doctor_node_of(s, dev);

	return n && (n->acts || n->kind == NODE_NVME_HEAD);
}

static uint64_t key(const char *text, const char *name)
{
	uint64_t n = 0;

	return doctor_key_number(text, name, &n) ? n : 0;
}

/* "8:0 rbytes=.. wbytes=.. rios=.. wios=.. ..." */
static void take_io_stat(struct doctor_groups *g, unsigned int at, const struct doctor_stack *s,
			 char *text)
{
	char *line, *save, dev[24];

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *rest = doctor_line_dev(line, dev, sizeof(dev));

		if (!rest || !counts(s, dev))
			continue;
		g->group[at].bytes += key(rest, "rbytes") + key(rest, "wbytes");
		g->group[at].ios += key(rest, "rios") + key(rest, "wios");
		if (!at)
			doctor_key_percent100(rest, "cost.vrate", &g->vrate_percent100);
	}
}

/* Version 1: "8:0 Read N", ..., "8:0 Total N". */
static void take_v1_bytes(struct doctor_groups *g, unsigned int at, const struct doctor_stack *s,
			  char *text)
{
	char *line, *save, dev[24];

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *rest = doctor_line_dev(line, dev, sizeof(dev));

		if (!rest || strncmp(rest, "Total ", 6) != 0 || !counts(s, dev))
			continue;
		g->group[at].bytes += strtoull(rest + 6, NULL, 10);
		g->group[at].ios += g->group[at].bytes != 0;
	}
}

/* ---- one cgroup ---- */

static bool has_word(const char *text, const char *word)
{
	const size_t bytes = strlen(word);
	const char *at = text;

	for (at = text; at && *at; at += strcspn(at, " \n"), at += strspn(at, " \n"))
		if (!strncmp(at, word, bytes) && (!at[bytes] || strchr(" \n", at[bytes])))
			return true;
	return false;
}

static void read_state(struct doctor_tree *t, struct doctor_group *to, const struct listing *l,
		       int fd, const char *path)
{
	char *text;

	to->populated = -1;
	if (l->events && (text = tree_read_at(t, fd, "cgroup.events", path))) {
		if (strstr(text, "populated 1"))
			to->populated = 1;
		else if (strstr(text, "populated 0"))
			to->populated = 0;
		free(text);
	}
	if (l->subtree && (text = tree_read_at(t, fd, "cgroup.subtree_control", path))) {
		to->io_below = has_word(text, "io");
		to->mem_below = has_word(text, "memory");
		free(text);
	}
}

static void read_group(struct doctor_tree *t, struct doctor_groups *g, unsigned int at,
		       const struct listing *l, const struct doctor_stack *s, int fd,
		       const char *path)
{
	unsigned int file;
	char *text;

	read_state(t, &g->group[at], l, fd, path);
	g->group[at].io = l->io_stat || l->v1_bytes;
	for (file = SET_V1_WEIGHT; file < NR_SETTING_FILES; file++)
		g->group[at].io |= l->file[file];
	g->group[at].memory = l->memory;
	g->with_io += at && g->group[at].io;
	g->with_memory += at && l->memory;
	if (l->io_stat && (text = tree_read_at(t, fd, "io.stat", path))) {
		take_io_stat(g, at, s, text);
		free(text);
	}
	if (l->v1_bytes && (text = tree_read_at(t, fd, "blkio.throttle.io_service_bytes", path))) {
		take_v1_bytes(g, at, s, text);
		free(text);
	}
	for (file = 0; file < NR_SETTING_FILES; file++) {
		if (!l->file[file])
			continue;
		g->has[file] = true;
		text = tree_read_at(t, fd, doctor_file_name((enum setting_file)file), path);
		doctor_settings_add(t, g, at, (enum setting_file)file, text, path);
		free(text);
	}
}

/* Parents come first, so a name is its parent's with one more part. */
static void add_children(struct doctor_tree *t, struct doctor_groups *g, unsigned int at,
			 struct listing *l, unsigned int *depth_of)
{
	const bool deep = depth_of[at] >= GROUP_DEPTH_MAX;
	unsigned int i;

	for (i = 0; i < l->children; i++) {
		if (!deep && g->nr < GROUPS_MAX) {
			const char *above = at ? g->group[at].path : "";

			g->group = doctor_grow(g->group, g->nr + 1, sizeof(*g->group));
			memset(&g->group[g->nr], 0, sizeof(*g->group));
			g->group[g->nr].path = doctor_text("%s/%s", above, l->child[i]);
			g->group[g->nr].parent = (int)at;
			g->group[at].children++;
			depth_of[g->nr++] = depth_of[at] + 1;
		} else if (!i) {
			tree_odd(t, g->group[at].path, "not looked below: too many cgroups");
		}
		free(l->child[i]);
	}
	free((void *)l->child);
}

static void walk(struct doctor_tree *t, struct doctor_groups *g, const char *mount,
		 const struct doctor_stack *s)
{
	unsigned int *depth_of = doctor_grow(NULL, GROUPS_MAX, sizeof(*depth_of));
	struct listing l;
	unsigned int at;
	int fd;

	g->group = doctor_grow(NULL, 1, sizeof(*g->group));
	memset(g->group, 0, sizeof(*g->group));
	g->group[0] = (struct doctor_group){.path = doctor_text("/"), .parent = -1};
	g->nr = 1;
	depth_of[0] = 0;
	for (at = 0; at < g->nr; at++) {
		char *path = doctor_text("%s%s", mount, at ? g->group[at].path : "");

		fd = tree_fd(t, O_RDONLY | O_DIRECTORY, path);
		if (fd == -EACCES || fd == -EPERM)
			tree_denied(t, path);
		else if (fd < 0 && fd != -ENOENT && fd != -ENODEV)
			tree_odd(t, path, "%s", strerror(-fd));
		/* One that went away meanwhile is as if it had never been. */
		if (fd >= 0) {
			list(fd, &l);
			if (!at)
				g->part = l.events;
			read_group(t, g, at, &l, s, fd, path);
			add_children(t, g, at, &l, depth_of);
			close(fd);
		}
		free(path);
	}
	free(depth_of);
}

/* ---- the root's own files ---- */

static void read_iocost(struct doctor_tree *t, struct doctor_stack *s, const char *mount,
			const char *name)
{
	char *path = doctor_text("%s/%s", mount, name), *text = tree_read(t, ROOT_FILE_MAX, path);
	const bool qos = !strcmp(name, "io.cost.qos");
	char *line, *save, dev[24];
	struct doctor_node *n;
	uint64_t on = 0;

	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		const char *rest = doctor_line_dev(line, dev, sizeof(dev));

		if (!rest) {
			tree_odd(t, path, "\"%.60s\" does not begin with MAJ:MIN", line);
			continue;
		}
		n = doctor_node_of(s, dev);
		if (!n)
			continue;
		if (qos && doctor_key_number(rest, "enable", &on))
			n->iocost = on != 0;
		snprintf(qos ? n->qos : n->cost_model, sizeof(n->qos), "%s", rest);
	}
	free(text);
	free(path);
}

void doctor_groups_read(struct doctor_tree *t, struct doctor_groups *g, const struct doctor_host *h,
			struct doctor_stack *s)
{
	const char *mount = h->cgroups == CGROUPS_V2 ? h->v2 : h->v1;
	unsigned int at;
	char *text, *path;

	if (!mount)
		return;
	walk(t, g, mount, s);
	if (h->cgroups == CGROUPS_V2) {
		path = doctor_text("%s/cgroup.controllers", mount);
		text = tree_read(t, ROOT_FILE_MAX, path);
		g->controller = text && has_word(text, "io");
		free(text);
		free(path);
		read_iocost(t, s, mount, "io.cost.qos");
		read_iocost(t, s, mount, "io.cost.model");
		return;
	}
	/* Version 1 counts each cgroup by itself. */
	g->controller = true;
	for (at = g->nr; at-- > 1;) {
		g->group[g->group[at].parent].bytes += g->group[at].bytes;
		g->group[g->group[at].parent].ios += g->group[at].ios;
	}
}

void doctor_groups_free(struct doctor_groups *g)
{
	unsigned int i;

	for (i = 0; i < g->nr; i++)
		free(g->group[i].path);
	free(g->group);
	free(g->setting);
}
