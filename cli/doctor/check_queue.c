// SPDX-License-Identifier: GPL-2.0-only
/* The queue where requests are scheduled: settings that are in the way of shares. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "cli/doctor/findings.h"

static void check_elevator(struct doctor *d, const struct doctor_node *n)
{
	struct finding *f;

	if (n->elevator)
		return;
	f = finding_add(d, NO_ELEVATOR, "%s", n->name);
	finding_says(f, "%s %s: no scheduler can be chosen.", n->name,
		     n->mq ? "has a driver that wants none"
			   : "takes I/O without a queue of requests");
	if (n->mq)
		finding_mend(f,
			     "Shares need iocost there (io.cost.qos, io.weight); ceilings need %s.",
			     ceilings_name(d));
	else
		finding_mend(f, "Ceilings (%s) work; weights don't.", ceilings_name(d));
}

/* BFQ, weir and iocost switch it off by themselves; it can be switched on again. */
static void check_wbt(struct doctor *d, const struct doctor_node *n)
{
	const bool weights = any_weight_counts(d, n);
	struct finding *f;

	if (!n->has_wbt || !n->wbt_us)
		return;
	f = finding_add(d, weights ? WBT_ACTIVE : WBT_DEFAULT, "%s", n->name);
	finding_says(f,
		     "Write-back throttling is on (%llu us): while reads on %s are slower, few "
		     "buffered writes of all cgroups together get in, whatever their weights.",
		     (unsigned long long)n->wbt_us, n->name);
	finding_mend(f, weights ? "Switch it off, since weights are to share the device."
				: "Switch it off before cgroups are to share by weight.");
	finding_write(f, "0", "/sys/block/%s/queue/wbt_lat_usec", n->name);
}

static void check_bfq(struct doctor *d, const struct doctor_node *n)
{
	struct finding *f;

	if (strcmp(n->scheduler, "bfq") != 0 || !any_weight_counts(d, n))
		return;
	if (n->low_latency) {
		f = finding_add(d, BFQ_LOW_LATENCY, "%s", n->name);
		finding_says(f,
			     "BFQ's low_latency is on: what looks interactive gets up to 30 times "
			     "its weight for seconds.");
		finding_mend(f, "Switch it off where weights are to hold.");
		finding_write(f, "0", "/sys/block/%s/queue/iosched/low_latency", n->name);
	}
	if (n->slice_idle_ms && n->has_rotational && !n->rotational) {
		f = finding_add(d, BFQ_IDLES, "%s", n->name);
		finding_says(f,
			     "BFQ waits up to %llu ms for a process whose turn it is while weights "
			     "differ, and %s is no spinning disk: that costs throughput.",
			     (unsigned long long)n->slice_idle_ms, n->name);
		finding_mend(f, "Try without; shares then hold only for cgroups that keep requests "
				"queued.");
		finding_write(f, "0", "/sys/block/%s/queue/iosched/slice_idle", n->name);
	}
}

static void check_merges(struct doctor *d, const struct doctor_node *n)
{
	struct finding *f;

	if (n->nomerges != 2)
		return;
	f = finding_add(d, NO_MERGES, "%s", n->name);
	finding_says(f,
		     "nomerges is 2: neighbouring requests stay apart, which sequential I/O pays "
		     "for.");
	finding_mend(f, "Allow merging, unless something is being measured.");
	finding_write(f, "0", "/sys/block/%s/queue/nomerges", n->name);
}

/*
 * A RAID controller or hypervisor does not pass on what is behind it. The name of the model is all
 * that there is to go by.
 */
static void check_rotational(struct doctor *d, const struct doctor_node *n)
{
	static const char *const flash[] = {"SSD", "NVMe", "Flash", "Solid State"};
	const bool virtual = !strncmp(n->name, "vd", 2) || !strncmp(n->name, "xvd", 3) ||
			     strcasestr(n->model, "virtual") || strcasestr(n->model, "QEMU");
	bool is_flash = false;
	struct finding *f;
	size_t i;

	if (!n->has_rotational || !n->rotational)
		return;
	for (i = 0; i < sizeof(flash) / sizeof(flash[0]); i++)
		is_flash |= strcasestr(n->model, flash[i]) != NULL;
	if (!is_flash && !virtual)
		return;
	f = finding_add(d, ROTATIONAL_GUESS, "%s", n->name);
	if (is_flash)
		finding_says(
			f,
			"%s counts as a spinning disk, and its model is \"%s\": BFQ, iocost and "
			"weir treat it as one.",
			n->name, n->model);
	else
		finding_says(
			f,
			"%s is virtual and counts as a spinning disk, which the host below may "
			"have made up: BFQ, iocost and weir treat it as one.",
			n->name);
	finding_mend(f, "If it is flash, say so.");
	finding_write(f, "0", "/sys/block/%s/queue/rotational", n->name);
}

void check_queue(struct doctor *d)
{
	unsigned int i;

	for (i = 0; i < d->stack.nr; i++) {
		const struct doctor_node *n = &d->stack.node[i];

		if (!n->acts)
			continue;
		check_elevator(d, n);
		check_wbt(d, n);
		check_bfq(d, n);
		check_merges(d, n);
		check_rotational(d, n);
	}
}
