// SPDX-License-Identifier: GPL-2.0-only
/* DEV is seldom the device that settings must name: which is, and what happens on the way there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/findings.h"

/* "sda (8:0) and sdb (8:16)" */
static void list_acting(const struct doctor *d, char *out, size_t bytes)
{
	size_t used = 0;
	unsigned int i, left = 0, nr = 0;

	for (i = 0; i < d->stack.nr; i++)
		left += d->stack.node[i].acts;
	out[0] = 0;
	for (i = 0; i < d->stack.nr && used < bytes; i++) {
		const struct doctor_node *n = &d->stack.node[i];

		if (!n->acts)
			continue;
		left--;
		used += (size_t)snprintf(out + used, bytes - used, "%s%s%s%s%s",
					 !nr++	 ? ""
					 : !left ? " and "
						 : ", ",
					 n->name, n->dev[0] ? " (" : "", n->dev,
					 n->dev[0] ? ")" : "");
	}
}

/* The nearest disk or mapping that DEV, a partition, is a part of. */
static void check_partition(struct doctor *d)
{
	const struct doctor_node *part = &d->stack.node[0], *disk;
	struct finding *f;

	if (part->kind != NODE_PARTITION || d->stack.nr < 2)
		return;
	disk = &d->stack.node[1];
	f = finding_add(d, PARTITION, "%s", part->name);
	finding_says(f,
		     "%s is a partition: the kernel refuses its number %s in the files of cgroups; "
		     "weights and ceilings are shared with all of %s.",
		     part->name, part->dev, disk->name);
	finding_mend(f, "Name the whole disk: %s.", node_number(disk));
}

static void check_stacked(struct doctor *d)
{
	const struct doctor_node *top = &d->stack.node[0];
	struct finding *f;
	char list[512];

	if (top->kind == NODE_PARTITION && d->stack.nr > 1)
		top = &d->stack.node[1];
	if (top->acts || top->kind == NODE_NVME_HEAD || top->kind == NODE_PARTITION)
		return;
	list_acting(d, list, sizeof(list));
	f = finding_add(d, STACKED, "%s", top->name);
	finding_says(f,
		     "%s hands its I/O on: schedulers and weights act on %s; of cgroup settings "
		     "only %s acts on %s as well.",
		     top->name, list, ceilings_name(d), top->name);
	finding_mend(f, "Name the disks in cgroup files, and set their schedulers.");
}

static void check_node(struct doctor *d, const struct doctor_node *n)
{
	struct finding *f;
	char *path;

	if (n->kind == NODE_NVME_HEAD) {
		f = finding_add(d, MULTIPATH, "%s", n->name);
		finding_says(f,
			     "%s spreads over paths, each with a scheduler of its own and none "
			     "with a number: lines for one device cannot name them, iocost cannot "
			     "be switched on.",
			     n->name);
		finding_mend(f, "Choose the scheduler for each path, and set weights for all "
				"devices (default).");
	}
	if (n->kind == NODE_LOOP && n->what[0]) {
		f = finding_add(d, LOOP_FILE, "%s", n->name);
		finding_says(f,
			     "%s is a file, %s: its I/O is scheduled again on the disk below that "
			     "file.",
			     n->name, n->what);
		finding_mend(f, "Look at that disk too.");
		path = finding_quoted(n->what);
		finding_command(f, "weir doctor \"$(findmnt -no SOURCE -T %s)\"", path);
		free(path);
	}
	if (n->kind == NODE_MD &&
	    (!strcmp(n->what, "raid4") || !strcmp(n->what, "raid5") || !strcmp(n->what, "raid6"))) {
		f = finding_add(d, MD_PARITY, "%s", n->name);
		finding_says(f,
			     "%s is %s: the array's own thread, in the root cgroup, does the "
			     "writes, so no weight applies to them.",
			     n->name, n->what);
		finding_mend(f, "Limit writes with %s on %s itself.", ceilings_name(d),
			     node_number(n));
	}
}

void check_stack(struct doctor *d)
{
	unsigned int i;

	check_partition(d);
	check_stacked(d);
	for (i = 0; i < d->stack.nr; i++)
		check_node(d, &d->stack.node[i]);
}
