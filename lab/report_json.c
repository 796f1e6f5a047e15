// SPDX-License-Identifier: GPL-2.0-only
/*
 * The JSON report: one object with an entry per policy and device in "runs". docs/json.md describes
 * every field.
 */
#include "lab/report_json.h"

#include "core/fixed.h"
#include "lab/sim.h"

/* Of printing; values have been rounded to fewer digits before. */
#define PRECISION 15

/* ---- groups ---- */

static json_t *mean_max(uint64_t nr, uint64_t sum_ns, uint64_t max_ns)
{
	json_t *o = json_object();

	report_set(o, "mean", report_ratio(sum_ns, nr));
	report_set(o, "max", report_integer(max_ns));
	return o;
}

static json_t *deficit(uint64_t bytes, uint64_t ios, uint64_t span_ns)
{
	json_t *o = json_object();

	report_set(o, "bytes_per_s", report_integer(lab_per_second(bytes, span_ns)));
	report_set(o, "ios_per_s", report_per_second(ios, span_ns));
	return o;
}

static json_t *floor_json(const struct lab_group_result *g, uint64_t span_ns)
{
	const struct weir_group_stats *s = &g->stats;
	const struct weir_rates *low = &g->attr.low;
	json_t *o;

	if (!low->bps[WEIR_READ] && !low->bps[WEIR_WRITE] && !low->iops[WEIR_READ] &&
	    !low->iops[WEIR_WRITE])
		return json_null();
	o = json_object();
	report_set(o, "met", json_boolean(lab_floor_met(g, span_ns)));
	report_set(o, "deficit_device",
		   deficit(s->floor_deficit_device_bytes, s->floor_deficit_device_ios, span_ns));
	report_set(o, "deficit_demand",
		   deficit(s->floor_deficit_demand_bytes, s->floor_deficit_demand_ios, span_ns));
	return o;
}

static json_t *target_json(const struct lab_group_result *g)
{
	const struct weir_group_stats *s = &g->stats;
	json_t *o;

	if (!g->attr.latency_target_ns)
		return json_null();
	o = json_object();
	report_set(o, "target_us", report_integer(g->attr.latency_target_ns / WEIR_NS_PER_US));
	/* The target is about nine in ten requests; it is met in nine of ten periods, too. */
	report_set(o, "met", json_boolean(lab_target_met(s)));
	report_set(o, "periods", report_integer(s->latency_periods));
	report_set(o, "missed", report_integer(s->latency_missed));
	report_set(o, "blocker", g->blocker ? report_text(g->blocker) : json_null());
	return o;
}

static json_t *group_json(const struct lab_phase_result *p, const struct lab_group_result *g)
{
	const struct weir_group_stats *s = &g->stats;
	json_t *o = json_object(), *waits = json_object();
	unsigned int cause;

	report_set(o, "path", report_text(g->path));
	report_set(o, "weight", report_integer(g->attr.weight));
	report_set(o, "entitled", report_ratio(s->entitled_ns, s->in_use_ns));
	report_set(o, "received",
		   report_ratio(lab_device_ns(s), lab_device_ns(&p->group[0].stats)));
	report_set(o, "demand_limited", json_boolean(lab_demand_limited(p, g)));
	report_set(o, "read", report_direction(g->meter[LAB_DIR_READ], p->measured_ns, NULL));
	report_set(o, "write", report_direction(g->meter[LAB_DIR_WRITE], p->measured_ns, NULL));
	if (g->meter[LAB_DIR_TRIM])
		report_set(o, "trim",
			   report_direction(g->meter[LAB_DIR_TRIM], p->measured_ns, NULL));
	report_set(o, "queue_wait_ns", mean_max(g->wait_nr, g->wait_sum_ns, g->wait_max_ns));
	report_set(o, "service_ns", mean_max(g->service_nr, g->service_sum_ns, g->service_max_ns));
	report_set(o, "device_ns", report_integer(lab_device_ns(s)));
	report_set(o, "backlogged_ns", report_integer(s->backlogged_ns));
	for (cause = 0; cause < WEIR_NR_WAITS; cause++)
		report_set(waits, weir_wait_cause_name((enum weir_wait_cause)cause),
			   report_integer(s->wait_ns[cause]));
	report_set(o, "wait_ns", waits);
	report_set(o, "floor", floor_json(g, p->measured_ns));
	report_set(o, "latency_target", target_json(g));
	return o;
}

static json_t *groups_json(const struct lab_phase_result *p)
{
	json_t *a = json_array();
	unsigned int i;

	for (i = 0; i < p->nr_groups; i++)
		report_push(a, group_json(p, &p->group[i]));
	return a;
}

static json_t *total_json(const struct lab_phase_result *p)
{
	struct lab_meter *const *meter = p->group[0].meter;
	json_t *o = json_object();

	report_set(o, "iops", report_per_second(lab_meters_ios(meter), p->measured_ns));
	report_set(o, "bw_bytes",
		   report_integer(lab_per_second(lab_meters_bytes(meter), p->measured_ns)));
	report_set(o, "device_ios", report_integer(p->host.commands));
	report_set(o, "merges", report_integer(lab_merges(p)));
	report_set(o, "runtime", report_integer(p->measured_ns / WEIR_NS_PER_MS));
	report_set(o, "in_use_ns", report_integer(p->group[0].stats.in_use_ns));
	return o;
}

/* ---- the whole ---- */

static json_t *phases_json(const struct lab_sim_result *r)
{
	json_t *a = json_array(), *o;
	unsigned int i;

	for (i = 0; i < r->nr_phases; i++) {
		o = json_object();
		report_set(o, "groups", groups_json(&r->phase[i]));
		report_set(o, "total", total_json(&r->phase[i]));
		report_push(a, o);
	}
	return a;
}

static json_t *cache_json(const struct lab_cache_stats *c)
{
	json_t *o = json_object();

	report_set(o, "read_bytes", report_integer(c->read_bytes));
	report_set(o, "read_ahead_bytes", report_integer(c->read_ahead_bytes));
	report_set(o, "written_bytes", report_integer(c->written_bytes));
	report_set(o, "hit_pages", report_integer(c->hit_pages));
	report_set(o, "flusher_wakeups", report_integer(c->flusher_wakeups));
	report_set(o, "commits", report_integer(c->commits));
	report_set(o, "throttled_ns", report_integer(c->throttled_ns));
	return o;
}

static json_t *strings(char *const *line, unsigned int nr)
{
	json_t *a = json_array();
	unsigned int i;

	for (i = 0; i < nr; i++)
		report_push(a, report_text(line[i]));
	return a;
}

static json_t *run_json(const struct lab_sim_result *r)
{
	json_t *o = json_object(), *jobs = json_array();
	unsigned int i;

	report_set(o, "policy", report_text(r->policy));
	report_set(o, "label", report_text(r->label));
	report_set(o, "device", report_text(r->device));
	report_set(o, "seed", report_integer(r->seed));
	if (r->nr_notes)
		report_set(o, "notes", strings(r->note, r->nr_notes));
	for (i = 0; i < r->nr_jobs; i++)
		report_push(jobs, report_job_json(&r->job[i]));
	report_set(o, "jobs", jobs);
	report_set(o, "groups", groups_json(&r->whole));
	report_set(o, "total", total_json(&r->whole));
	if (r->nr_phases > 1)
		report_set(o, "phases", phases_json(r));
	if (r->has_cache)
		report_set(o, "page_cache", cache_json(&r->cache));
	return o;
}

void lab_report_json(FILE *out, struct lab_sim_result *const *run, unsigned int nr,
		     const struct lab_jobs *jobs)
{
	json_t *root = json_object(), *runs = json_array();
	unsigned int i;

	report_set(root, "weir version", report_text(WEIR_VERSION));
	if (jobs->nr_ignored)
		report_set(root, "ignored", strings(jobs->ignored, jobs->nr_ignored));
	if (jobs->nr_notes)
		report_set(root, "notes", strings(jobs->note, jobs->nr_notes));
	for (i = 0; i < nr; i++)
		report_push(runs, run_json(run[i]));
	report_set(root, "runs", runs);
	if (json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(PRECISION)))
		fputs("weir: cannot write JSON\n", stderr);
	fputc('\n', out);
	json_decref(root);
}
