// SPDX-License-Identifier: GPL-2.0-only
/*
 * Weights that are in force and make no difference: they hold among siblings only.
 *
 * Also what stands between weights and shares: a pool of requests that is handed out first come first
 * served, a second controller, disks of one device that are set differently, and a scale that was
 * changed on the way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/findings.h"

/*
 * Requests for each group that BFQ needs to choose from. With 32 for four groups of 128 each, weights
 * did nothing; with 1024 they held.
 */
#define REQUESTS_EACH 64

/* Of the children of one cgroup that have the controller. */
struct family {
	unsigned int children, active, last;
	uint64_t min, max;
	bool set;
};

/* Version 1 keeps the weights for one device in a file of their own. */
static bool is_in(enum setting_file file, enum setting_file weights)
{
	return file == weights || (weights == SET_V1_WEIGHT && file == SET_V1_DEVICE_WEIGHT);
}

/* Each group's weight at the node, and from those what its parent's children look like. */
static struct family *families(const struct doctor *d, const struct doctor_node *n,
			       enum setting_file file)
{
	const struct doctor_groups *g = &d->groups;
	struct family *f = doctor_grow(NULL, g->nr, sizeof(*f));
	uint64_t *weight = doctor_grow(NULL, g->nr, sizeof(*weight));
	unsigned int i, pass;

	memset(f, 0, g->nr * sizeof(*f));
	for (i = 0; i < g->nr; i++)
		weight[i] = 100;
	/* First for all devices, then what overrides it. */
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < g->settings; i++)
			if (is_in(g->setting[i].file, file) &&
			    (pass ? !strcmp(g->setting[i].dev, n->dev) : !g->setting[i].dev[0]))
				weight[g->setting[i].group] = g->setting[i].weight;
	for (i = 1; i < g->nr; i++) {
		struct family *to = &f[g->group[i].parent];

		if (!g->group[i].io)
			continue;
		if (!to->children++ || weight[i] < to->min)
			to->min = weight[i];
		if (weight[i] > to->max)
			to->max = weight[i];
		to->active += g->group[i].ios != 0;
		to->set |= weight[i] != 100;
		to->last = i;
	}
	free(weight);
	return f;
}

static void check_siblings(struct doctor *d, const struct doctor_node *n, enum setting_file file)
{
	struct group_list alone = {NULL, 0}, equal = {NULL, 0}, idle = {NULL, 0};
	struct family *family = families(d, n, file);
	const char *name = doctor_file_name(file);
	struct finding *f;
	char groups[512];
	unsigned int i;

	for (i = 0; i < d->groups.nr; i++) {
		if (!family[i].set)
			continue;
		if (family[i].children == 1)
			group_list_add(&alone, family[i].last);
		else if (family[i].min == family[i].max)
			group_list_add(&equal, i);
		else if (family[i].active < 2)
			group_list_add(&idle, i);
	}
	free(family);
	if (alone.nr) {
		f = finding_add(d, WEIGHT_ALONE, "%s on %s", name, n->name);
		finding_says(f, "%s is set in %s, without a sibling to share with.", name,
			     group_names(d, &alone, groups, sizeof(groups)));
		finding_mend(f, "Weights hold within the parent: set it on the highest cgroup that "
				"has siblings.");
		finding_groups(f, &alone);
	}
	if (equal.nr) {
		f = finding_add(d, WEIGHTS_EQUAL, "%s on %s", name, n->name);
		finding_says(f,
			     "All children of %s have the same %s: they share alike, as by "
			     "default.",
			     group_names(d, &equal, groups, sizeof(groups)), name);
		finding_groups(f, &equal);
	}
	if (idle.nr) {
		f = finding_add(d, WEIGHTS_IDLE, "%s on %s", name, n->name);
		finding_says(f,
			     "Of the children of %s, at most one has done I/O on %s so far: "
			     "weights count only while several want the device.",
			     group_names(d, &idle, groups, sizeof(groups)), n->name);
		finding_groups(f, &idle);
	}
}

static void check_requests(struct doctor *d, const struct doctor_node *n)
{
	unsigned int i, active = 0;
	struct finding *f;
	char value[16];

	if (strcmp(n->scheduler, "bfq") != 0 || !any_weight_counts(d, n))
		return;
	for (i = 1; i < d->groups.nr; i++)
		active += !d->groups.group[i].children && d->groups.group[i].ios;
	if (active < 2 || n->nr_requests >= (uint64_t)REQUESTS_EACH * active)
		return;
	f = finding_add(d, FEW_REQUESTS, "%s", n->name);
	finding_says(f,
		     "%u cgroups did I/O on %s and share %llu requests, which go to whoever asks "
		     "first; BFQ can't choose among those that still wait for one.",
		     active, n->name, (unsigned long long)n->nr_requests);
	finding_mend(f, "Allow some %u for each.", REQUESTS_EACH);
	/* The kernel takes up to 2048 for most drivers. */
	snprintf(value, sizeof(value), "%u",
		 active <= 16  ? 1024
		 : active < 32 ? REQUESTS_EACH * active
			       : 2048);
	finding_write(f, value, "/sys/block/%s/queue/nr_requests", n->name);
}

static void check_two(struct doctor *d, const struct doctor_node *n)
{
	char value[48];
	struct finding *f;

	if (!n->iocost ||
	    (!weights_in_force(n, SET_BFQ_WEIGHT) && !weights_in_force(n, SET_WEIR_WEIGHT)))
		return;
	f = finding_add(d, TWO_CONTROLLERS, "%s", n->name);
	finding_says(f,
		     "iocost and %s both share out %s: io.weight decides first, and %s shares what "
		     "gets through.",
		     n->scheduler, n->name, n->scheduler);
	finding_mend(f, "Keep one: switch iocost off, or choose none or mq-deadline.");
	snprintf(value, sizeof(value), "%s enable=0", node_number(n));
	finding_write(f, value, "%s/io.cost.qos", cgroup_mount(d));
}

/* "sda: bfq, sdb: none" */
static void check_leaves(struct doctor *d)
{
	enum setting_file first = NR_SETTING_FILES, here;
	bool differ = false, seen = false, set = false;
	char list[512];
	struct finding *f;
	size_t used = 0;
	unsigned int i;

	list[0] = 0;
	for (i = 0; i < d->stack.nr; i++) {
		const struct doctor_node *n = &d->stack.node[i];

		if (!n->acts)
			continue;
		here = weights_of(n);
		differ |= seen && here != first;
		set |= any_weight_counts(d, n);
		if (!seen)
			first = here;
		seen = true;
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s has %s%s",
						 used ? ", " : "", n->name,
						 n->elevator ? n->scheduler : "no scheduler",
						 n->iocost ? " and iocost" : "");
	}
	if (!differ || !set)
		return;
	f = finding_add(d, LEAVES_DIFFER, "%s", d->stack.node[0].name);
	finding_says(f, "The disks below %s share differently: %s.", d->stack.node[0].name, list);
	finding_mend(f, "Set them alike, so that a cgroup's share does not hang on where its data "
			"are.");
}

/* A weight as systemd and container engines bring it from 1..10000 to BFQ's 1..1000. */
static uint64_t rescaled(uint64_t weight)
{
	return weight <= 100 ? weight : 100 + (weight - 100) * 900 / 9900;
}

static void check_scale(struct doctor *d)
{
	const struct doctor_groups *g = &d->groups;
	struct group_list l = {NULL, 0};
	uint64_t from = 0, to = 0;
	struct finding *f;
	char groups[512];
	unsigned int i;
	bool bfq = false;

	for (i = 0; i < d->stack.nr; i++)
		bfq |= d->stack.node[i].acts && weights_in_force(&d->stack.node[i], SET_BFQ_WEIGHT);
	/* A cgroup's lines are in the order of the files. */
	for (i = 0; bfq && i + 1 < g->settings; i++) {
		const struct doctor_setting *a = &g->setting[i], *b = a + 1;

		if (a->file != SET_IO_WEIGHT || b->file != SET_BFQ_WEIGHT || a->group != b->group ||
		    a->dev[0] || b->dev[0] || a->weight <= 100 || b->weight != rescaled(a->weight))
			continue;
		if (!l.nr) {
			from = a->weight;
			to = b->weight;
		}
		group_list_add(&l, a->group);
	}
	if (!l.nr)
		return;
	f = finding_add(d, WEIGHTS_RESCALED, "io.bfq.weight");
	finding_says(f,
		     "The weight %llu became %llu for BFQ in %s, by the scale of systemd and "
		     "container engines: shares are flatter than they were written.",
		     (unsigned long long)from, (unsigned long long)to,
		     group_names(d, &l, groups, sizeof(groups)));
	finding_mend(f, "Keep weights within 1 to 100, which are not changed, or write "
			"io.bfq.weight yourself.");
	finding_groups(f, &l);
}

void check_shares(struct doctor *d)
{
	static const enum setting_file files[] = {SET_IO_WEIGHT, SET_BFQ_WEIGHT, SET_WEIR_WEIGHT,
						  SET_V1_WEIGHT};
	unsigned int i, k;

	for (i = 0; i < d->stack.nr; i++) {
		const struct doctor_node *n = &d->stack.node[i];

		if (!n->acts)
			continue;
		for (k = 0; k < sizeof(files) / sizeof(files[0]); k++)
			if (weights_in_force(n, files[k]))
				check_siblings(d, n, files[k]);
		check_requests(d, n);
		check_two(d, n);
	}
	check_leaves(d);
	check_scale(d);
}
