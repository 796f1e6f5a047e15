// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hierarchy: which version, how far down the controller goes, what lands in the root, where no
 * weight or ceiling reaches.
 */
#include <stdio.h>
#include <string.h>

#include "cli/doctor/findings.h"

/* Below that, what the root did is what the machine did while it started. */
#define ROOT_BYTES_MIN (1ULL << 30)

static void check_version(struct doctor *d)
{
	const char *boot = "Boot with systemd.unified_cgroup_hierarchy=1 on the kernel's command "
			   "line, or mount cgroup2 alone.";
	struct finding *f;

	switch (d->host.cgroups) {
	case CGROUPS_V2:
		return;
	case CGROUPS_NONE:
		f = finding_add(d, CGROUP_NONE, "cgroups");
		finding_says(f, "The block I/O controller is in no hierarchy that is mounted: all "
				"processes share as one.");
		finding_mend(f, "Mount the unified hierarchy.");
		finding_command(f, "mount -t cgroup2 none /sys/fs/cgroup");
		return;
	case CGROUPS_V1:
		f = finding_add(d, CGROUP_V1, "%s", d->host.v1);
		finding_says(f,
			     "Cgroups are version 1: there is no io.weight, io.max or io.weir.*, "
			     "only BFQ's weights and blkio.throttle.*, and buffered writes "
			     "count as the root's.");
		finding_mend(f, "%s", boot);
		return;
	case CGROUPS_HYBRID:
		f = finding_add(d, CGROUP_HYBRID, "%s", d->host.v1);
		finding_says(f,
			     "Block I/O is controlled by version 1 at %s, though version 2 is "
			     "mounted at %s: its io.* files are missing, and buffered writes count "
			     "as the root's.",
			     d->host.v1, d->host.v2);
		finding_mend(f, "%s", boot);
		return;
	}
}

/* A unit of systemd, as what systemctl would be told. */
static bool is_unit(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot &&
	       (!strcmp(dot, ".service") || !strcmp(dot, ".slice") || !strcmp(dot, ".scope"));
}

static void mend_enable(struct doctor *d, struct finding *f, unsigned int parent)
{
	const char *path = doctor_group_path(d, parent);

	if (d->host.systemd && is_unit(path)) {
		finding_mend(f, "Switch it on for the units in there (units of others' making: "
				"Delegate=io).");
		finding_command(f, "systemctl set-property UNIT IOAccounting=yes");
		return;
	}
	finding_mend(f, "Enable it below, from the root downwards.");
	finding_write(f, "+io", "%s%s/cgroup.subtree_control", cgroup_mount(d), path);
}

static void check_enabled(struct doctor *d)
{
	struct doctor_groups *g = &d->groups;
	struct group_list parents = {NULL, 0};
	struct finding *f;
	char groups[512];
	unsigned int i, without = 0;

	if (g->nr < 2)
		return;
	if (!g->with_io) {
		f = finding_add(d, IO_NOT_ENABLED, "%s", cgroup_mount(d));
		finding_says(f, g->controller ? "No cgroup has the io controller: all I/O is the "
						"root's, and nothing can be set."
					      : "The io controller is not available here: all I/O "
						"is the root's, and nothing can be set.");
		if (g->controller)
			mend_enable(d, f, 0);
		else
			finding_mend(f, "%s",
				     g->part ? "Let whoever made this container delegate io."
					     : "Take a kernel with CONFIG_BLK_CGROUP, and no "
					       "cgroup_disable=io.");
		return;
	}
	for (i = 1; i < g->nr; i++) {
		const struct doctor_group *at = &g->group[i];

		if (at->io || at->populated != 1 || (at->parent && !g->group[at->parent].io))
			continue;
		without++;
		group_list_add(&parents, (unsigned int)at->parent);
	}
	if (!without)
		return;
	f = finding_add(d, IO_NOT_BELOW, "cgroup.subtree_control");
	finding_says(f,
		     "%u cgroup%s with processes ha%s no io files, since io is not enabled in %s: "
		     "they share with their neighbours as one.",
		     without, without == 1 ? "" : "s", without == 1 ? "s" : "ve",
		     group_names(d, &parents, groups, sizeof(groups)));
	mend_enable(d, f, parents.group[0]);
	finding_groups(f, &parents);
}

/* ---- write-back ---- */

static bool option_is(const char *options, const char *option)
{
	const char *at = strstr(options, option);
	const size_t bytes = strlen(option);

	return at && (at == options || at[-1] == ',') && (!at[bytes] || at[bytes] == ',');
}

/* Those that tell whose page it is, as of Linux 6.12. */
static bool knows_owners(const struct doctor_mount *m)
{
	static const char *const types[] = {"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs"};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(m->type, types[i]))
			return !option_is(m->options, "data=journal");
	return false;
}

static void check_writeback(struct doctor *d)
{
	struct group_list l = {NULL, 0};
	struct finding *f;
	char groups[512];
	unsigned int i;

	if (d->host.cgroups != CGROUPS_V2)
		return;
	for (i = 0; i < d->host.mounts; i++) {
		const struct doctor_mount *m = &d->host.mount[i];

		if (option_is(m->options, "ro") || knows_owners(m))
			continue;
		f = finding_add(d, WRITEBACK_TO_ROOT, "%s", m->where);
		finding_says(
			f,
			"%s%s does not tell whose buffered writes it writes: they count as the "
			"root cgroup's, past all weights and ceilings.",
			m->type, option_is(m->options, "data=journal") ? " with data=journal" : "");
		finding_mend(f, "Use ext4 (not data=journal), xfs, btrfs or f2fs, or direct I/O.");
	}
	for (i = 0; i < d->groups.nr; i++)
		if (d->groups.group[i].io_below && !d->groups.group[i].mem_below)
			group_list_add(&l, i);
	if (!l.nr)
		return;
	f = finding_add(d, WRITEBACK_NO_MEMORY, "cgroup.subtree_control");
	finding_says(
		f,
		"Below %s the io controller is enabled and memory is not: buffered writes count "
		"as those of the nearest cgroup that has both.",
		group_names(d, &l, groups, sizeof(groups)));
	finding_mend(f, "Enable memory as well.");
	finding_write(f, "+memory", "%s%s/cgroup.subtree_control", cgroup_mount(d),
		      doctor_group_path(d, l.group[0]));
	finding_groups(f, &l);
}

/* ---- the root ---- */

static void check_root(struct doctor *d)
{
	const struct doctor_groups *g = &d->groups;
	uint64_t below = 0, own;
	struct finding *f;
	unsigned int i;

	if (d->host.root_tasks && !g->part && g->with_io) {
		f = finding_add(d, ROOT_TASKS, "%s", cgroup_mount(d));
		finding_says(
			f,
			"%u process%s in the root cgroup (%s%s): no weight or ceiling can be set "
			"for %s.",
			d->host.root_tasks, d->host.root_tasks == 1 ? " is" : "es are",
			d->host.root_names, d->host.root_tasks > 4 ? ", ..." : "",
			d->host.root_tasks == 1 ? "it" : "them");
		finding_mend(f, "Move what does I/O to a cgroup of its own.");
		finding_write(f, "PID", "%s/NAME/cgroup.procs", cgroup_mount(d));
	}
	if (d->host.cgroups != CGROUPS_V2 || g->part || !g->nr || !g->with_io)
		return;
	for (i = 1; i < g->nr; i++)
		below += g->group[i].parent ? 0 : g->group[i].bytes;
	own = g->group[0].bytes > below ? g->group[0].bytes - below : 0;
	if (own < ROOT_BYTES_MIN || own / 2 < g->group[0].bytes / 4)
		return;
	f = finding_add(d, ROOT_IO, "%s", d->stack.node[0].name);
	finding_says(
		f,
		"%llu %% of the bytes since the start belong to no cgroup below the root, or to "
		"such as are gone.",
		(unsigned long long)(own / (g->group[0].bytes / 100)));
	finding_mend(f,
		     "See who that is: processes in the root cgroup, kernel threads of an array or "
		     "encryption, a file system without owners.");
}

static void check_lacks(struct doctor *d)
{
	static const struct {
		enum setting_file file;
		const char *why;
	} files[] = {
		{SET_MAX, "CONFIG_BLK_DEV_THROTTLING"},
		{SET_IO_WEIGHT, "CONFIG_BLK_CGROUP_IOCOST"},
		{SET_LATENCY, "CONFIG_BLK_CGROUP_IOLATENCY"},
		{SET_LOW, "gone since 6.10"},
	};
	const struct doctor_groups *g = &d->groups;
	char list[256] = "";
	struct finding *f;
	size_t used = 0, i;

	/* That io.low is missing is no news by itself. */
	if (d->host.cgroups != CGROUPS_V2 || !g->with_io)
		return;
	if (g->has[SET_LATENCY] && g->has[SET_IO_WEIGHT] && g->has[SET_MAX])
		return;
	f = finding_add(d, KERNEL_LACKS, "%s", d->host.release);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!g->has[files[i].file])
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s (%s)",
						 used ? ", " : "", doctor_file_name(files[i].file),
						 files[i].why);
	finding_says(f, "This kernel has no %s.", list);
	if (!g->has[SET_LATENCY])
		finding_mend(f, "weir has io.weir.latency and io.weir.low; systemd's "
				"IODeviceLatencyTargetSec= does nothing.");
}

void check_cgroups(struct doctor *d)
{
	struct finding *f;

	check_version(d);
	if (d->host.cgroups == CGROUPS_NONE)
		return;
	if (d->groups.part) {
		f = finding_add(d, PART_OF_HOST, "%s", cgroup_mount(d));
		finding_says(f, "What is mounted here is a part of the host's cgroups, as in a "
				"container: siblings outside, and iocost, can't be seen.");
		finding_mend(f, "Run this on the host itself.");
	}
	if (d->host.cgroups == CGROUPS_V2) {
		check_enabled(d);
		check_lacks(d);
	}
	check_writeback(d);
	check_root(d);
}
