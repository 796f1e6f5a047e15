// SPDX-License-Identifier: GPL-2.0-only
/* The report for programs: weir-doctor(1) has the fields. */
#include <stdio.h>

#include <jansson.h>
#include <weir/weir.h>

#include "cli/doctor/report.h"
#include "lab/report_json.h"

static json_t *text_or_null(const char *s)
{
	return s && *s ? report_text(s) : json_null();
}

static json_t *integer_or_null(bool known, uint64_t n)
{
	return known ? report_integer(n) : json_null();
}

static json_t *node_json(const struct doctor_stack *s, const struct doctor_node *n)
{
	static const char *const kinds[] = {
		[NODE_DISK] = "disk", [NODE_PARTITION] = "partition",
		[NODE_DM] = "dm",     [NODE_MD] = "md",
		[NODE_LOOP] = "loop", [NODE_NVME_HEAD] = "nvme multipath",
	};
	json_t *o = json_object();

	report_set(o, "name", report_text(n->name));
	report_set(o, "dev", text_or_null(n->dev));
	report_set(o, "kind", report_text(kinds[n->kind]));
	report_set(o, "what", text_or_null(n->what));
	report_set(o, "under", n->above < 0 ? json_null() : report_text(s->node[n->above].name));
	report_set(o, "schedules", json_boolean(n->acts));
	report_set(o, "scheduler", text_or_null(n->scheduler));
	report_set(o, "schedulers", text_or_null(n->choices));
	report_set(o, "policy", text_or_null(n->policy));
	report_set(o, "nr_requests", integer_or_null(n->mq, n->nr_requests));
	report_set(o, "rotational", integer_or_null(n->has_rotational, n->rotational));
	report_set(o, "wbt_lat_usec", integer_or_null(n->has_wbt, n->wbt_us));
	report_set(o, "write_cache", text_or_null(n->write_cache));
	report_set(o, "nomerges", integer_or_null(n->mq, n->nomerges));
	report_set(o, "rq_affinity", integer_or_null(n->mq, n->rq_affinity));
	report_set(o, "model", text_or_null(n->model));
	report_set(o, "iocost", json_boolean(n->iocost));
	return o;
}

static json_t *cgroups_json(const struct doctor *d)
{
	static const char *const kinds[] = {
		[CGROUPS_NONE] = "none",
		[CGROUPS_V2] = "v2",
		[CGROUPS_V1] = "v1",
		[CGROUPS_HYBRID] = "hybrid",
	};
	const struct doctor_groups *g = &d->groups;
	json_t *o = json_object(), *files = json_object();
	unsigned int i;

	report_set(o, "hierarchy", report_text(kinds[d->host.cgroups]));
	report_set(o, "mount",
		   d->host.cgroups == CGROUPS_NONE ? json_null() : report_text(cgroup_mount(d)));
	report_set(o, "cgroups", report_integer(g->nr ? g->nr - 1 : 0));
	report_set(o, "with_io", report_integer(g->with_io));
	for (i = 0; i < NR_SETTING_FILES; i++)
		if (g->has[i])
			report_set(files, doctor_file_name((enum setting_file)i),
				   report_integer(g->set[i]));
	report_set(o, "lines_set", files);
	return o;
}

static json_t *finding_json(const struct doctor *d, const struct finding *f)
{
	json_t *o = json_object(), *groups = json_array();
	unsigned int i;

	report_set(o, "severity", report_text(severity_name(finding_severity(f->id))));
	report_set(o, "id", report_text(finding_name(f->id)));
	report_set(o, "subject", report_text(f->subject));
	report_set(o, "says", text_or_null(f->says));
	report_set(o, "mend", text_or_null(f->mend));
	report_set(o, "command", text_or_null(f->command));
	for (i = 0; i < f->groups; i++)
		report_push(groups, report_text(d->groups.group[f->group[i]].path));
	report_set(o, "cgroups", groups);
	return o;
}

void doctor_print_json(const struct doctor *d)
{
	json_t *o = json_object(), *stack = json_array(), *findings = json_array();
	json_t *count = json_object();
	unsigned int i;

	report_set(o, "weir version", report_text(WEIR_VERSION));
	report_set(o, "device", report_text(d->stack.node[0].name));
	for (i = 0; i < d->stack.nr; i++)
		report_push(stack, node_json(&d->stack, &d->stack.node[i]));
	report_set(o, "stack", stack);
	report_set(o, "kernel", text_or_null(d->host.release));
	report_set(o, "weir_loaded", json_boolean(d->host.weir_loaded));
	report_set(o, "cgroups", cgroups_json(d));
	for (i = 0; i < d->findings; i++)
		report_push(findings, finding_json(d, &d->finding[i]));
	report_set(o, "findings", findings);
	for (i = 0; i < NR_SEVERITIES; i++)
		report_set(count, severity_name((enum severity)i), report_integer(d->count[i]));
	report_set(o, "count", count);
	json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
}
