// SPDX-License-Identifier: GPL-2.0-only
/* Which weights a device acts on: that takes an elevator that reads them, or iocost switched on. */
#include <string.h>

#include <weir/policy.h>

#include "cli/doctor/findings.h"

static bool weir_keeps_weights(const struct doctor_node *n)
{
	const struct weir_policy *p = weir_policy_find(n->policy);

	/* A policy that this program does not know is given the benefit of the doubt. */
	return !p || (weir_policy_info(p)->keeps & WEIR_KEEPS_WEIGHTS);
}

bool weights_in_force(const struct doctor_node *n, enum setting_file file)
{
	switch (file) {
	case SET_IO_WEIGHT:
		return n->iocost;
	case SET_BFQ_WEIGHT:
	case SET_V1_WEIGHT:
	case SET_V1_DEVICE_WEIGHT:
		return !strcmp(n->scheduler, "bfq");
	case SET_WEIR_WEIGHT:
		return !strcmp(n->scheduler, "weir") && weir_keeps_weights(n);
	default:
		return false;
	}
}

enum setting_file weights_of(const struct doctor_node *n)
{
	static const enum setting_file files[] = {SET_WEIR_WEIGHT, SET_BFQ_WEIGHT, SET_IO_WEIGHT};
	unsigned int i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (weights_in_force(n, files[i]))
			return files[i];
	return NR_SETTING_FILES;
}

bool any_weight_counts(const struct doctor *d, const struct doctor_node *n)
{
	unsigned int i;

	for (i = 0; i < d->groups.settings; i++) {
		const struct doctor_setting *s = &d->groups.setting[i];

		if (weights_in_force(n, s->file) && (!s->dev[0] || !strcmp(s->dev, n->dev)))
			return true;
	}
	return false;
}

const char *node_number(const struct doctor_node *n)
{
	return n->dev[0] ? n->dev : "MAJ:MIN";
}

const char *ceilings_name(const struct doctor *d)
{
	return d->host.cgroups == CGROUPS_V2 ? "io.max" : "blkio.throttle.*";
}

const char *cgroup_mount(const struct doctor *d)
{
	if (d->host.cgroups == CGROUPS_V2)
		return d->host.v2;
	return d->host.v1 ? d->host.v1 : "/sys/fs/cgroup";
}

const char *doctor_group_path(const struct doctor *d, unsigned int group)
{
	return group ? d->groups.group[group].path : "";
}
