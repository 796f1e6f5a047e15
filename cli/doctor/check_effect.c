// SPDX-License-Identifier: GPL-2.0-only
/*
 * Settings that were accepted and that nobody reads.
 *
 * A line for all devices counts if one of the devices where requests are scheduled acts on it. A line
 * for one device counts on that device only; elevators and iocost act on the disk that has the queue of
 * requests, never on a partition or on what is stacked above. io.max is apart: the kernel applies it to
 * whatever device I/O is sent to.
 */
#include <stdio.h>
#include <string.h>

#include <weir/policy.h>

#include "cli/doctor/findings.h"

static bool is_weight(enum setting_file file)
{
	return file <= SET_WEIR_WEIGHT || file == SET_V1_WEIGHT || file == SET_V1_DEVICE_WEIGHT;
}

static bool is_weir(enum setting_file file)
{
	return file == SET_WEIR_WEIGHT || file == SET_WEIR_MAX || file == SET_WEIR_LOW ||
	       file == SET_WEIR_LATENCY;
}

/* The line is about this node, or about all. */
static bool names(const struct doctor_setting *s, const struct doctor_node *n)
{
	return !s->dev[0] || !strcmp(s->dev, n->dev);
}

static bool has_choice(const struct doctor_node *n, const char *name)
{
	const size_t bytes = strlen(name);
	const char *at = n->choices;

	while ((at = strstr(at, name))) {
		if ((at == n->choices || at[-1] == ' ') && (!at[bytes] || at[bytes] == ' '))
			return true;
		at += bytes;
	}
	return false;
}

/* ---- nobody reads it ---- */

/* For a weight in a file without effect: where it would have one, and else who could be made to. */
static void mend_weight(const struct doctor *d, struct finding *f, const struct doctor_node *n,
			const struct doctor_setting *s)
{
	const enum setting_file read = weights_of(n);
	char value[64];

	if (read != NR_SETTING_FILES) {
		finding_mend(f, "%s reads %s; write the weights there.",
			     read == SET_IO_WEIGHT ? "iocost" : n->scheduler,
			     doctor_file_name(read));
		snprintf(value, sizeof(value), "default %llu", (unsigned long long)s->weight);
		finding_write(f, value, "%s%s/%s", cgroup_mount(d), doctor_group_path(d, s->group),
			      doctor_file_name(read));
	} else if (s->file == SET_IO_WEIGHT && n->mq && n->dev[0]) {
		finding_mend(f, "Switch iocost on%s.",
			     n->elevator ? ", or choose bfq or weir and set the weights of those"
					 : "");
		snprintf(value, sizeof(value), "%s enable=1", n->dev);
		finding_write(f, value, "%s/io.cost.qos", cgroup_mount(d));
	} else if (s->file != SET_IO_WEIGHT && n->elevator) {
		finding_mend(f, "Choose the scheduler that reads them%s.",
			     has_choice(n, "bfq") ? "" : "; the kernel loads its module");
		finding_write(f, "bfq", "/sys/block/%s/queue/scheduler", n->name);
	} else {
		finding_mend(f,
			     "No controller of weights can act on %s; use ceilings (%s), or a "
			     "device that takes requests.",
			     n->name, ceilings_name(d));
	}
}

/* The cgroup has a weight in another file, which counts: systemd writes two of them. */
static bool counts_elsewhere(const struct doctor *d, const struct doctor_setting *s)
{
	const struct doctor_groups *g = &d->groups;
	unsigned int at = (unsigned int)(s - g->setting), i, n;

	/* Settings of one cgroup are neighbours. */
	while (at && g->setting[at - 1].group == s->group)
		at--;
	for (i = at; i < g->settings && g->setting[i].group == s->group; i++)
		for (n = 0; n < d->stack.nr; n++)
			if (g->setting[i].file != s->file && d->stack.node[n].acts &&
			    names(&g->setting[i], &d->stack.node[n]) &&
			    weights_in_force(&d->stack.node[n], g->setting[i].file))
				return true;
	return false;
}

/* Read at some node, or about other devices only. */
static bool is_read(const struct doctor *d, const struct doctor_setting *s)
{
	bool about = false;
	unsigned int n;

	for (n = 0; n < d->stack.nr; n++) {
		const struct doctor_node *node = &d->stack.node[n];

		if (!node->acts || !names(s, node))
			continue;
		about = true;
		/* Whether its policy keeps them is the next question. */
		if (is_weir(s->file) ? !strcmp(node->scheduler, "weir")
				     : weights_in_force(node, s->file))
			return true;
	}
	return !about;
}

static const struct doctor_node *first_acting(const struct doctor *d,
					      const struct doctor_setting *s)
{
	const struct doctor_node *any = &d->stack.node[0];
	unsigned int n;

	for (n = d->stack.nr; n-- > 0;)
		if (d->stack.node[n].acts && names(s, &d->stack.node[n]))
			any = &d->stack.node[n];
	return any;
}

/* "sda and sdb": where requests are scheduled. */
static const char *acting_names(const struct doctor *d, char *out, size_t bytes)
{
	size_t used = 0;
	unsigned int n;

	out[0] = 0;
	for (n = 0; n < d->stack.nr && used < bytes; n++)
		if (d->stack.node[n].acts)
			used += (size_t)snprintf(out + used, bytes - used, "%s%s", used ? ", " : "",
						 d->stack.node[n].name);
	return out;
}

static void report_unread(struct doctor *d, enum setting_file file, struct group_list *l,
			  const struct doctor_setting *first)
{
	const struct doctor_node *n = first_acting(d, first);
	const char *name = doctor_file_name(file);
	char groups[512], devices[256];
	struct finding *f;

	group_names(d, l, groups, sizeof(groups));
	acting_names(d, devices, sizeof(devices));
	if (is_weir(file)) {
		f = finding_add(d, WEIR_SETTING_UNREAD, "%s", name);
		finding_says(
			f,
			"%s is set in %s, but the scheduler of %s is %s: it has no effect there.",
			name, groups, devices, n->elevator ? n->scheduler : "none");
		if (n->elevator) {
			finding_mend(f, "Choose weir.");
			finding_write(f, "weir", "/sys/block/%s/queue/scheduler", n->name);
		} else {
			finding_mend(f, "%s takes no scheduler; use io.max there.", n->name);
		}
	} else {
		f = finding_add(d, file == SET_IO_WEIGHT ? IO_WEIGHT_UNREAD : BFQ_WEIGHT_UNREAD,
				"%s", name);
		if (file == SET_IO_WEIGHT)
			finding_says(
				f,
				"%s is set in %s, but iocost is off on %s: it has no effect there.",
				name, groups, devices);
		else
			finding_says(f,
				     "%s is set in %s, but the scheduler of %s is %s: it has no "
				     "effect there.",
				     name, groups, devices, n->elevator ? n->scheduler : "none");
		mend_weight(d, f, n, first);
	}
	finding_groups(f, l);
}

static void check_unread(struct doctor *d, enum setting_file file)
{
	struct group_list unread = {NULL, 0}, spare = {NULL, 0};
	const struct doctor_setting *first = NULL;
	char groups[512];
	struct finding *f;
	unsigned int i;

	for (i = 0; i < d->groups.settings; i++) {
		const struct doctor_setting *s = &d->groups.setting[i];

		if (s->file != file || is_read(d, s))
			continue;
		if (is_weight(file) && counts_elsewhere(d, s)) {
			group_list_add(&spare, s->group);
			continue;
		}
		if (!first)
			first = s;
		group_list_add(&unread, s->group);
	}
	if (first)
		report_unread(d, file, &unread, first);
	if (!spare.nr)
		return;
	f = finding_add(d, WEIGHT_SPARE, "%s", doctor_file_name(file));
	finding_says(f,
		     "%s is set in %s as well, without effect; what counts there is another file "
		     "(systemd's IOWeight= writes both io.weight and io.bfq.weight).",
		     doctor_file_name(file), group_names(d, &spare, groups, sizeof(groups)));
	finding_groups(f, &spare);
}

/* ---- a line for a device where it cannot count ---- */

static void report_misplaced(struct doctor *d, enum finding_id id, const struct doctor_setting *s,
			     struct group_list *l)
{
	const struct doctor_node *to = NULL;
	char groups[512], devices[256], value[256];
	struct finding *f;
	unsigned int n;

	/* The first device below that takes it. */
	for (n = d->stack.nr; n-- > 0;)
		if (d->stack.node[n].acts)
			to = &d->stack.node[n];
	group_names(d, l, groups, sizeof(groups));
	acting_names(d, devices, sizeof(devices));
	f = finding_add(d, id, "%s", doctor_file_name(s->file));
	if (id == SETTING_ON_PARTITION)
		finding_says(f, "%s of %s names %s, a partition: settings hold for whole disks.",
			     doctor_file_name(s->file), groups, s->dev);
	else
		finding_says(f,
			     "%s of %s names %s (%s), which schedules no requests: it has no "
			     "effect.",
			     doctor_file_name(s->file), groups, s->dev,
			     doctor_node_of(&d->stack, s->dev)->name);
	if (to && to->dev[0]) {
		finding_mend(f, "Name the disk below (%s).", devices);
		snprintf(value, sizeof(value), "%s %s", to->dev, s->text);
		finding_write(f, value, "%s%s/%s", cgroup_mount(d), doctor_group_path(d, s->group),
			      doctor_file_name(s->file));
	} else {
		finding_mend(f, "No number can be named for %s; set it for all devices (default).",
			     devices);
	}
	finding_groups(f, l);
}

/* Only what hangs on a queue of requests is lost on a stacked device. */
static bool is_lost(struct doctor *d, const struct doctor_setting *s, bool on_partition)
{
	const struct doctor_node *n;

	if (!s->dev[0])
		return false;
	if (doctor_is_partition(&d->tree, &d->stack, s->dev))
		return on_partition;
	n = doctor_node_of(&d->stack, s->dev);
	return !on_partition && n && !n->acts &&
	       (is_weight(s->file) || is_weir(s->file) || s->file == SET_LATENCY);
}

static void check_misplaced(struct doctor *d, enum setting_file file, bool on_partition)
{
	const struct doctor_setting *first = NULL;
	struct group_list l = {NULL, 0};
	unsigned int i;

	for (i = 0; i < d->groups.settings; i++) {
		const struct doctor_setting *s = &d->groups.setting[i];

		if (s->file != file || !is_lost(d, s, on_partition))
			continue;
		if (!first)
			first = s;
		group_list_add(&l, s->group);
	}
	if (first)
		report_misplaced(d, on_partition ? SETTING_ON_PARTITION : SETTING_ON_STACKED, first,
				 &l);
}

/* ---- others ---- */

static void check_weir_policy(struct doctor *d, enum setting_file file, unsigned int keeps)
{
	const struct weir_policy *p = NULL;
	struct group_list l = {NULL, 0};
	char groups[512];
	const struct doctor_node *n;
	struct finding *f;
	unsigned int i, at;

	for (at = 0; at < d->stack.nr; at++) {
		n = &d->stack.node[at];
		p = n->policy[0] ? weir_policy_find(n->policy) : NULL;
		if (!n->acts || !p || (weir_policy_info(p)->keeps & keeps))
			continue;
		for (i = 0; i < d->groups.settings; i++)
			if (d->groups.setting[i].file == file && names(&d->groups.setting[i], n))
				group_list_add(&l, d->groups.setting[i].group);
		if (!l.nr)
			continue;
		f = finding_add(d, WEIR_POLICY_LACKS, "%s", n->name);
		finding_says(f, "%s is set in %s, but weir runs the policy %s, which keeps no %s.",
			     doctor_file_name(file), group_names(d, &l, groups, sizeof(groups)),
			     n->policy, weir_keeps_name((enum weir_keeps)keeps));
		finding_mend(f, "Choose a policy that does.");
		finding_write(f, "weir", "/sys/block/%s/queue/iosched/policy", n->name);
		finding_groups(f, &l);
	}
}

/* none and kyber look at no priority; what the device makes of one is its own affair. */
static void check_prio(struct doctor *d)
{
	struct group_list l = {NULL, 0};
	const struct doctor_node *blind = NULL;
	char groups[512];
	struct finding *f;
	unsigned int i;

	for (i = d->stack.nr; i-- > 0;) {
		const struct doctor_node *n = &d->stack.node[i];

		if (!n->acts)
			continue;
		if (!strcmp(n->scheduler, "none") || !strcmp(n->scheduler, "kyber") || !n->elevator)
			blind = n;
		else
			return;
	}
	for (i = 0; i < d->groups.settings; i++)
		if (d->groups.setting[i].file == SET_PRIO)
			group_list_add(&l, d->groups.setting[i].group);
	if (!blind || !l.nr)
		return;
	f = finding_add(d, PRIO_UNREAD, "io.prio.class");
	finding_says(f,
		     "io.prio.class is set in %s, but the scheduler of %s is %s, which knows no "
		     "priorities.",
		     group_names(d, &l, groups, sizeof(groups)), blind->name,
		     blind->elevator ? blind->scheduler : "none");
	if (blind->elevator) {
		finding_mend(f, "Choose mq-deadline or bfq.");
		finding_write(f, "mq-deadline", "/sys/block/%s/queue/scheduler", blind->name);
	}
	finding_groups(f, &l);
}

static void check_low(struct doctor *d)
{
	struct group_list l = {NULL, 0};
	char groups[512];
	struct finding *f;
	unsigned int i;

	for (i = 0; i < d->groups.settings; i++) {
		const struct doctor_setting *s = &d->groups.setting[i];
		uint64_t n;

		if (s->file == SET_LOW && doctor_node_of(&d->stack, s->dev) &&
		    !(doctor_key_number(s->text, "idle", &n) &&
		      doctor_key_number(s->text, "latency", &n)))
			group_list_add(&l, s->group);
	}
	if (!l.nr)
		return;
	f = finding_add(d, IO_LOW_INCOMPLETE, "io.low");
	finding_says(f, "io.low of %s lacks idle= or latency=: the kernel ignores its rates then.",
		     group_names(d, &l, groups, sizeof(groups)));
	finding_mend(f, "Set both, in microseconds, beside the rates.");
	finding_groups(f, &l);
}

void check_effect(struct doctor *d)
{
	unsigned int file;

	for (file = 0; file < NR_SETTING_FILES; file++) {
		if (!d->groups.set[file])
			continue;
		if (is_weight((enum setting_file)file) || is_weir((enum setting_file)file))
			check_unread(d, (enum setting_file)file);
		check_misplaced(d, (enum setting_file)file, false);
		check_misplaced(d, (enum setting_file)file, true);
	}
	check_weir_policy(d, SET_WEIR_WEIGHT, WEIR_KEEPS_WEIGHTS);
	check_weir_policy(d, SET_WEIR_LOW, WEIR_KEEPS_FLOORS);
	check_weir_policy(d, SET_WEIR_LATENCY, WEIR_KEEPS_LATENCY);
	check_prio(d);
	check_low(d);
}
