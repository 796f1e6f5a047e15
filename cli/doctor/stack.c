// SPDX-License-Identifier: GPL-2.0-only
/*
 * The devices below DEV, and what each queue is set to.
 *
 * A partition stands on its disk, a mapping or array on its slaves, a multipath head on its paths.
 * Requests are scheduled at the first device down from DEV that has an elevator to choose: what lies
 * below gets finished requests. The exception is a loop device, whose requests become file I/O; its
 * backing file's device is named and not followed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/facts.h"

#define CLASS "/sys/class/block"

/* ---- one device ---- */

/* "none [mq-deadline] bfq": the chosen one, and all without the brackets. */
static void parse_scheduler(struct doctor_tree *t, struct doctor_node *n, const char *dir)
{
	char line[256], *open, *close;

	if (!tree_line(t, line, sizeof(line), dir, "queue/scheduler"))
		return;
	open = strchr(line, '[');
	close = open ? strchr(open, ']') : NULL;
	if (!open && !strcmp(line, "none"))
		return;
	if (!close || close == open + 1 || strchr(close, '[')) {
		tree_odd(t, dir, "queue/scheduler has no choice in brackets: \"%.60s\"", line);
		return;
	}
	n->elevator = true;
	snprintf(n->scheduler, sizeof(n->scheduler), "%.*s", (int)(close - open - 1), open + 1);
	memmove(close, close + 1, strlen(close));
	memmove(open, open + 1, strlen(open));
	snprintf(n->choices, sizeof(n->choices), "%s", line);
}

/* "noop [weir]" */
static void parse_policy(struct doctor_tree *t, struct doctor_node *n, const char *dir)
{
	char line[256], *open, *close;

	if (!tree_line(t, line, sizeof(line), dir, "queue/iosched/policy"))
		return;
	open = strchr(line, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close)
		snprintf(n->policy, sizeof(n->policy), "%.*s", (int)(close - open - 1), open + 1);
	else
		tree_odd(t, dir, "queue/iosched/policy has no choice in brackets");
}

static void read_queue(struct doctor_tree *t, struct doctor_node *n, const char *dir)
{
	char wbt[32];

	n->mq = tree_number(t, &n->nr_requests, dir, "queue/nr_requests");
	parse_scheduler(t, n, dir);
	/* -1 and an unreadable file both mean that there is none. */
	if (tree_line(t, wbt, sizeof(wbt), dir, "queue/wbt_lat_usec") && wbt[0] != '-')
		n->has_wbt = tree_number(t, &n->wbt_us, dir, "queue/wbt_lat_usec");
	n->has_rotational = tree_number(t, &n->rotational, dir, "queue/rotational");
	tree_number(t, &n->nomerges, dir, "queue/nomerges");
	tree_number(t, &n->rq_affinity, dir, "queue/rq_affinity");
	tree_line(t, n->write_cache, sizeof(n->write_cache), dir, "queue/write_cache");
	tree_line(t, n->model, sizeof(n->model), dir, "device/model");
	if (!strcmp(n->scheduler, "bfq")) {
		tree_number(t, &n->low_latency, dir, "queue/iosched/low_latency");
		tree_number(t, &n->slice_idle_ms, dir, "queue/iosched/slice_idle");
	}
	if (!strcmp(n->scheduler, "weir"))
		parse_policy(t, n, dir);
}

static void find_kind(struct doctor_tree *t, struct doctor_node *n, const char *dir)
{
	char name[64], uuid[32];

	if (tree_exists(t, dir, "partition")) {
		n->kind = NODE_PARTITION;
	} else if (tree_line(t, name, sizeof(name), dir, "dm/name")) {
		n->kind = NODE_DM;
		/* "CRYPT-LUKS2-...", "LVM-...", "mpath-..." */
		tree_line(t, uuid, sizeof(uuid), dir, "dm/uuid");
		uuid[strcspn(uuid, "-")] = 0;
		snprintf(n->what, sizeof(n->what), "%s%s%s", name, uuid[0] ? ", " : "", uuid);
	} else if (tree_exists(t, dir, "md")) {
		n->kind = NODE_MD;
		tree_line(t, n->what, sizeof(n->what), dir, "md/level");
	} else if (tree_exists(t, dir, "loop")) {
		n->kind = NODE_LOOP;
		tree_line(t, n->what, sizeof(n->what), dir, "loop/backing_file");
	}
}

static int find_name(const struct doctor_stack *s, const char *name)
{
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		if (!strcmp(s->node[i].name, name))
			return (int)i;
	return -1;
}

static void add(struct doctor_tree *t, struct doctor_stack *s, const char *name, int above)
{
	char dir[sizeof(CLASS) + 64];
	struct doctor_node *n;

	if (above >= 0)
		s->node[above].below = true;
	if (find_name(s, name) >= 0)
		return;
	snprintf(dir, sizeof(dir), CLASS "/%.63s", name);
	if (s->nr == STACK_NODES_MAX || strlen(name) >= sizeof(n->name)) {
		tree_odd(t, CLASS, "the stack has more than %d devices", STACK_NODES_MAX);
		return;
	}
	n = &s->node[s->nr++];
	memset(n, 0, sizeof(*n));
	snprintf(n->name, sizeof(n->name), "%s", name);
	n->above = above;
	tree_line(t, n->dev, sizeof(n->dev), dir, "dev");
	find_kind(t, n, dir);
	if (n->kind != NODE_PARTITION)
		read_queue(t, n, dir);
}

/* ---- down ---- */

/* The disk is the directory above the partition's own. */
static void add_disk(struct doctor_tree *t, struct doctor_stack *s, unsigned int at)
{
	char *path = doctor_text(CLASS "/%s/../uevent", s->node[at].name);
	char *text = tree_read(t, 4096, path), *name = text ? strstr(text, "DEVNAME=") : NULL,
	     *slash;

	if (name) {
		name += strlen("DEVNAME=");
		name[strcspn(name, "\n")] = 0;
		while ((slash = strchr(name, '/')))
			*slash = '!';
		add(t, s, name, (int)at);
	} else {
		tree_odd(t, path, "does not name the disk of %s", s->node[at].name);
	}
	free(text);
	free(path);
}

static void add_slaves(struct doctor_tree *t, struct doctor_stack *s, unsigned int at)
{
	char *path = doctor_text(CLASS "/%s/slaves", s->node[at].name);
	char **names = tree_names(t, path);
	size_t i;

	for (i = 0; names[i]; i++)
		add(t, s, names[i], (int)at);
	tree_names_free(names);
	free(path);
}

/* nvme0n1 is the head of nvme0c0n1, nvme0c1n1 and so on, which have no numbers of their own. */
static void add_paths(struct doctor_tree *t, struct doctor_stack *s, unsigned int at)
{
	unsigned int subsystem, space, path_subsystem, controller, path_space;
	char **names;
	size_t i;
	int end;

	end = 0;
	if (sscanf(s->node[at].name, "nvme%un%u%n", &subsystem, &space, &end) != 2 ||
	    s->node[at].name[end])
		return;
	names = tree_names(t, "/sys/block");
	for (i = 0; names[i]; i++) {
		end = 0;
		if (sscanf(names[i], "nvme%uc%un%u%n", &path_subsystem, &controller, &path_space,
			   &end) != 3 ||
		    names[i][end] || path_subsystem != subsystem || path_space != space)
			continue;
		s->node[at].kind = NODE_NVME_HEAD;
		add(t, s, names[i], (int)at);
	}
	tree_names_free(names);
}

void doctor_stack_read(struct doctor_tree *t, struct doctor_stack *s, const char *name)
{
	struct doctor_node *n;
	unsigned int at;

	s->node = doctor_grow(NULL, STACK_NODES_MAX, sizeof(*s->node));
	s->nr = 0;
	add(t, s, name, -1);
	for (at = 0; at < s->nr; at++) {
		n = &s->node[at];
		if (n->kind == NODE_PARTITION) {
			add_disk(t, s, at);
			continue;
		}
		/* Requests are made here; what is below gets them as they are. */
		if (n->elevator) {
			n->acts = true;
			continue;
		}
		add_slaves(t, s, at);
		add_paths(t, s, at);
		/* Nothing below: without an elevator, but where requests end all the same. */
		n->acts = !n->below;
	}
}

void doctor_stack_free(struct doctor_stack *s)
{
	free(s->node);
}

struct doctor_node *doctor_node_of(const struct doctor_stack *s, const char *dev)
{
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		if (s->node[i].dev[0] && !strcmp(s->node[i].dev, dev))
			return &s->node[i];
	return NULL;
}

bool doctor_is_partition(struct doctor_tree *t, const struct doctor_stack *s, const char *dev)
{
	struct doctor_node *n = doctor_node_of(s, dev);
	char *dir, disk[24];
	bool is;

	if (n)
		return n->kind == NODE_PARTITION;
	dir = doctor_text("/sys/dev/block/%s", dev);
	is = tree_exists(t, dir, "partition") && tree_line(t, disk, sizeof(disk), dir, "../dev") &&
	     doctor_node_of(s, disk);
	free(dir);
	return is;
}
