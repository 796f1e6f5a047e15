// SPDX-License-Identifier: GPL-2.0-only
/*
 * The JSON report: one object with an entry per policy and device in "runs". Jobs have fio's names
 * and units, so that fio's tools read them; docs/json.md describes every field.
 *
 * Numbers with a fraction are rounded to a fixed number of decimals before they are printed, so
 * that no compiler's last bit shows.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/fixed.h"
#include "lab/sim.h"

#define PRECISION 15

static void set(json_t *o, const char *name, json_t *value)
{
	if (!o || !value || json_object_set_new(o, name, value)) {
		fputs("weir: out of memory for JSON\n", stderr);
		abort();
	}
}

static void push(json_t *array, json_t *value)
{
	if (!array || !value || json_array_append_new(array, value)) {
		fputs("weir: out of memory for JSON\n", stderr);
		abort();
	}
}

static json_t *integer(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

/* JSON is UTF-8; names of jobs and files need not be. What isn't comes out as question marks. */
static json_t *text(const char *s)
{
	json_t *o = json_string(s);
	char *copy, *at;

	if (o)
		return o;
	copy = strdup(s);
	for (at = copy; at && *at; at++)
		if ((unsigned char)*at >= 0x80)
			*at = '?';
	o = copy ? json_string(copy) : NULL;
	free(copy);
	return o;
}

/* Six decimals, like fio's %f, rounded half up. Beyond 2^53 / 10^6 there are fewer digits anyway.
 */
static json_t *real(double x)
{
	const double scale = 1000000;

	if (x > 9e9 || x < 0)
		return json_real(x);
	return json_real((double)(uint64_t)(x * scale + 0.5) / scale);
}

static json_t *ratio(uint64_t part, uint64_t whole)
{
	return real(whole ? (double)part / (double)whole : 0);
}

/* n per second of the span, with its fraction. */
static json_t *per_second(uint64_t n, uint64_t span_ns)
{
	return real(span_ns ? (double)n * 1e9 / (double)span_ns : 0);
}

/* ---- fio's direction object ---- */

static const uint32_t default_percentiles[] = {
	1000000,  5000000,  10000000, 20000000, 30000000, 40000000, 50000000, 60000000, 70000000,
	80000000, 90000000, 95000000, 99000000, 99500000, 99900000, 99950000, 99990000,
};

static json_t *percentiles(const struct lab_lat *lat, const struct lab_job *job)
{
	const uint32_t *list = default_percentiles;
	size_t i, nr = sizeof(default_percentiles) / sizeof(default_percentiles[0]);
	json_t *o = json_object();
	char name[32];

	if (job && job->nr_percentiles) {
		list = job->percentile_micro;
		nr = job->nr_percentiles;
	}
	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%u.%06u", list[i] / 1000000, list[i] % 1000000);
		set(o, name, integer(lab_lat_percentile_ns(lat, list[i])));
	}
	return o;
}

static json_t *bins(const struct lab_lat *lat)
{
	json_t *o = json_object();
	char name[32];
	unsigned int i;

	for (i = 0; i < LAB_HIST_BUCKETS; i++) {
		if (!lat->bucket[i])
			continue;
		snprintf(name, sizeof(name), "%llu", (unsigned long long)lab_hist_value_ns(i));
		set(o, name, integer(lat->bucket[i]));
	}
	return o;
}

static json_t *moments(const struct lab_lat *lat)
{
	json_t *o = json_object();

	set(o, "min", integer(lat && lat->nr ? lat->min_ns : 0));
	set(o, "max", integer(lat ? lat->max_ns : 0));
	set(o, "mean", real(lat ? lab_lat_mean_ns(lat) : 0));
	set(o, "stddev", real(lat ? lab_lat_stddev_ns(lat) : 0));
	set(o, "N", integer(lat ? lat->nr : 0));
	return o;
}

/* Submission takes no time in the lab: as many samples as completions, all of them 0. */
static json_t *submission(const struct lab_lat *lat)
{
	json_t *o = moments(NULL);

	set(o, "N", integer(lat ? lat->nr : 0));
	return o;
}

static json_t *completion(const struct lab_lat *lat, const struct lab_job *job)
{
	json_t *o = moments(lat);

	if (lat && lat->nr) {
		set(o, "percentile", percentiles(lat, job));
		/* Of groups there may be thousands. */
		if (job)
			set(o, "bins", bins(lat));
	}
	return o;
}

/* Deviation of samples, in the unit of the samples over `unit`. */
static double deviation(const struct lab_samples *s, double unit)
{
	struct lab_lat lat;

	if (s->nr < 2)
		return 0;
	lat.nr = s->nr;
	lat.sum_ns = s->sum;
	lat.sum_squares = s->sum_squares;
	return lab_lat_stddev_ns(&lat) / unit;
}

static void add_samples(json_t *o, const struct lab_samples *bw, const struct lab_samples *iops)
{
	set(o, "bw_min", integer(bw && bw->nr ? bw->min / 1024 : 0));
	set(o, "bw_max", integer(bw ? bw->max / 1024 : 0));
	set(o, "bw_mean", real(bw && bw->nr ? (double)bw->sum / (double)bw->nr / 1024 : 0));
	set(o, "bw_dev", real(bw ? deviation(bw, 1024) : 0));
	set(o, "bw_samples", integer(bw ? bw->nr : 0));
	set(o, "iops_min", integer(iops && iops->nr ? iops->min : 0));
	set(o, "iops_max", integer(iops ? iops->max : 0));
	set(o, "iops_mean", real(iops && iops->nr ? (double)iops->sum / (double)iops->nr : 0));
	set(o, "iops_stddev", real(iops ? deviation(iops, 1) : 0));
	set(o, "iops_samples", integer(iops ? iops->nr : 0));
}

static json_t *direction(const struct lab_meter *m, uint64_t span_ns, const struct lab_job *job)
{
	json_t *o = json_object();
	uint64_t bytes = m ? m->bytes : 0, ios = m ? m->ios : 0;
	const struct lab_lat *lat = m ? &m->lat : NULL;

	set(o, "io_bytes", integer(bytes));
	set(o, "io_kbytes", integer(bytes / 1024));
	set(o, "bw_bytes", integer(lab_per_second(bytes, span_ns)));
	set(o, "bw", integer(lab_per_second(bytes, span_ns) / 1024));
	set(o, "iops", per_second(ios, span_ns));
	set(o, "runtime", integer(m ? span_ns / WEIR_NS_PER_MS : 0));
	set(o, "total_ios", integer(ios));
	set(o, "short_ios", integer(0));
	set(o, "drop_ios", integer(0));
	set(o, "slat_ns", submission(lat));
	set(o, "clat_ns", completion(lat, job));
	set(o, "lat_ns", moments(lat));
	return o;
}

/* ---- jobs ---- */

static const char *rw_name(enum lab_rw rw)
{
	static const char *const names[] = {
		[LAB_RW_READ] = "read",
		[LAB_RW_WRITE] = "write",
		[LAB_RW_TRIM] = "trim",
		[LAB_RW_RANDREAD] = "randread",
		[LAB_RW_RANDWRITE] = "randwrite",
		[LAB_RW_RANDTRIM] = "randtrim",
		[LAB_RW_RW] = "rw",
		[LAB_RW_RANDRW] = "randrw",
		[LAB_RW_TRIMWRITE] = "trimwrite",
		[LAB_RW_RANDTRIMWRITE] = "randtrimwrite",
	};

	return names[rw];
}

static void option(json_t *o, const char *name, uint64_t value)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	set(o, name, text(digits));
}

/* The options that tools look at; strings, as in fio. */
static json_t *job_options(const struct lab_job_result *r)
{
	const struct lab_job *job = r->job;
	enum lab_job_dir dir = lab_job_does(job, LAB_DIR_READ)	  ? LAB_DIR_READ
			       : lab_job_does(job, LAB_DIR_WRITE) ? LAB_DIR_WRITE
								  : LAB_DIR_TRIM;
	json_t *o = json_object();

	set(o, "name", text(job->name));
	set(o, "rw", text(rw_name(job->rw)));
	option(o, "bs", job->bs_min[dir]);
	option(o, "iodepth", job->iodepth);
	option(o, "direct", job->direct);
	option(o, "numjobs", r->nr_jobs);
	if (job->filename)
		set(o, "filename", text(job->filename));
	if (job->size)
		option(o, "size", job->size);
	if (job->runtime_ns)
		option(o, "runtime", job->runtime_ns / WEIR_NS_PER_S);
	if (job->ramp_ns)
		option(o, "ramp_time", job->ramp_ns / WEIR_NS_PER_S);
	if (job->cgroup)
		set(o, "cgroup", text(job->cgroup));
	if (job->has_weight)
		option(o, "cgroup_weight", job->cgroup_weight);
	return o;
}

static json_t *depth_levels(const struct lab_job_result *r)
{
	static const char *const names[LAB_DEPTH_LEVELS] = {"1", "2", "4", "8", "16", "32", ">=64"};
	json_t *o = json_object();
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < LAB_DEPTH_LEVELS; i++)
		sum += r->depth_level[i];
	for (i = 0; i < LAB_DEPTH_LEVELS; i++)
		set(o, names[i], ratio(r->depth_level[i] * 100, sum));
	return o;
}

static uint64_t count_between(const struct lab_lat *lat, uint64_t from_ns, uint64_t below_ns)
{
	uint64_t nr = 0;
	unsigned int i;

	for (i = 0; i < LAB_HIST_BUCKETS; i++)
		if (lab_hist_value_ns(i) >= from_ns && lab_hist_value_ns(i) < below_ns)
			nr += lat->bucket[i];
	return nr;
}

/* fio's rough distribution: percent of all completions that are below a bound and not below the
 * one before it. Nanoseconds go up to 1000 of them, then come microseconds, then milliseconds. */
static json_t *latency_percent(const struct lab_lat *lat, uint64_t unit_ns)
{
	static const unsigned int bounds[] = {2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000};
	bool last = unit_ns == WEIR_NS_PER_MS;
	uint64_t from_ns = unit_ns > 1 ? unit_ns : 0;
	unsigned int i, nr = last ? 11 : 10;
	json_t *o = json_object();
	char name[16];

	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%u", bounds[i]);
		set(o, name,
		    ratio(count_between(lat, from_ns, bounds[i] * unit_ns) * 100, lat->nr));
		from_ns = bounds[i] * unit_ns;
	}
	if (last)
		set(o, ">=2000", ratio(count_between(lat, from_ns, UINT64_MAX) * 100, lat->nr));
	return o;
}

static void add_latency_percent(json_t *o, const struct lab_job_result *r)
{
	struct lab_lat *lat = malloc(sizeof(*lat));
	unsigned int dir;

	if (!lat)
		abort();
	lab_lat_init(lat);
	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++)
		if (r->meter[dir])
			lab_lat_merge(lat, &r->meter[dir]->lat);
	set(o, "latency_ns", latency_percent(lat, 1));
	set(o, "latency_us", latency_percent(lat, WEIR_NS_PER_US));
	set(o, "latency_ms", latency_percent(lat, WEIR_NS_PER_MS));
	free(lat);
}

static json_t *job_json(const struct lab_job_result *r)
{
	static const char *const names[] = {"read", "write", "trim"};
	json_t *o = json_object(), *d, *sync = json_object();
	unsigned int dir;

	set(o, "jobname", text(r->job->name));
	set(o, "groupid", integer((uint64_t)r->phase));
	set(o, "job_start", integer(r->start_ns == UINT64_MAX ? 0 : r->start_ns / WEIR_NS_PER_MS));
	set(o, "error", integer(0));
	set(o, "eta", integer(0));
	set(o, "elapsed", integer((r->end_ns + WEIR_NS_PER_S - 1) / WEIR_NS_PER_S));
	set(o, "job options", job_options(r));
	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		d = direction(r->meter[dir], r->measured_ns, r->job);
		if (r->meter[dir])
			add_samples(d, &r->bytes_per_s[dir], &r->ios_per_s[dir]);
		else
			add_samples(d, NULL, NULL);
		set(o, names[dir], d);
	}
	set(sync, "total_ios", integer(r->sync ? r->sync->ios : 0));
	set(sync, "lat_ns", completion(r->sync ? &r->sync->lat : NULL, r->job));
	set(o, "sync", sync);
	set(o, "job_runtime", integer(r->measured_ns / WEIR_NS_PER_MS));
	/* Jobs use no CPU time in the lab. */
	set(o, "usr_cpu", real(0));
	set(o, "sys_cpu", real(0));
	set(o, "ctx", integer(0));
	set(o, "majf", integer(0));
	set(o, "minf", integer(0));
	set(o, "iodepth_level", depth_levels(r));
	add_latency_percent(o, r);
	return o;
}

/* ---- groups ---- */

static json_t *mean_max(uint64_t nr, uint64_t sum_ns, uint64_t max_ns)
{
	json_t *o = json_object();

	set(o, "mean", ratio(sum_ns, nr));
	set(o, "max", integer(max_ns));
	return o;
}

static json_t *deficit(uint64_t bytes, uint64_t ios, uint64_t span_ns)
{
	json_t *o = json_object();

	set(o, "bytes_per_s", integer(lab_per_second(bytes, span_ns)));
	set(o, "ios_per_s", per_second(ios, span_ns));
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
	set(o, "met", json_boolean(!s->floor_deficit_device_bytes && !s->floor_deficit_device_ios));
	set(o, "deficit_device",
	    deficit(s->floor_deficit_device_bytes, s->floor_deficit_device_ios, span_ns));
	set(o, "deficit_demand",
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
	set(o, "target_us", integer(g->attr.latency_target_ns / WEIR_NS_PER_US));
	/* The target is about nine in ten requests; it is met in nine of ten periods, too. */
	set(o, "met", json_boolean(s->latency_missed * 10 <= s->latency_periods));
	set(o, "periods", integer(s->latency_periods));
	set(o, "missed", integer(s->latency_missed));
	set(o, "blocker", g->blocker ? text(g->blocker) : json_null());
	return o;
}

static json_t *group_json(const struct lab_phase_result *p, const struct lab_group_result *g)
{
	const struct weir_group_stats *s = &g->stats;
	json_t *o = json_object(), *waits = json_object();
	unsigned int cause;

	set(o, "path", text(g->path));
	set(o, "weight", integer(g->attr.weight));
	set(o, "entitled", ratio(s->entitled_ns, s->in_use_ns));
	set(o, "received", ratio(lab_device_ns(s), lab_device_ns(&p->group[0].stats)));
	set(o, "demand_limited", json_boolean(lab_demand_limited(p, g)));
	set(o, "read", direction(g->meter[LAB_DIR_READ], p->measured_ns, NULL));
	set(o, "write", direction(g->meter[LAB_DIR_WRITE], p->measured_ns, NULL));
	if (g->meter[LAB_DIR_TRIM])
		set(o, "trim", direction(g->meter[LAB_DIR_TRIM], p->measured_ns, NULL));
	set(o, "queue_wait_ns", mean_max(g->wait_nr, g->wait_sum_ns, g->wait_max_ns));
	set(o, "service_ns", mean_max(g->service_nr, g->service_sum_ns, g->service_max_ns));
	set(o, "device_ns", integer(lab_device_ns(s)));
	set(o, "backlogged_ns", integer(s->backlogged_ns));
	for (cause = 0; cause < WEIR_NR_WAITS; cause++)
		set(waits, weir_wait_cause_name((enum weir_wait_cause)cause),
		    integer(s->wait_ns[cause]));
	set(o, "wait_ns", waits);
	set(o, "floor", floor_json(g, p->measured_ns));
	set(o, "latency_target", target_json(g));
	return o;
}

static json_t *groups_json(const struct lab_phase_result *p)
{
	json_t *a = json_array();
	unsigned int i;

	for (i = 0; i < p->nr_groups; i++)
		push(a, group_json(p, &p->group[i]));
	return a;
}

static json_t *total_json(const struct lab_phase_result *p)
{
	struct lab_meter *const *meter = p->group[0].meter;
	json_t *o = json_object();

	set(o, "iops", per_second(lab_meters_ios(meter), p->measured_ns));
	set(o, "bw_bytes", integer(lab_per_second(lab_meters_bytes(meter), p->measured_ns)));
	set(o, "device_ios", integer(p->host.commands));
	set(o, "merges", integer(lab_merges(p)));
	set(o, "runtime", integer(p->measured_ns / WEIR_NS_PER_MS));
	set(o, "in_use_ns", integer(p->group[0].stats.in_use_ns));
	return o;
}

/* ---- the whole ---- */

static json_t *phases_json(const struct lab_sim_result *r)
{
	json_t *a = json_array(), *o;
	unsigned int i;

	for (i = 0; i < r->nr_phases; i++) {
		o = json_object();
		set(o, "groups", groups_json(&r->phase[i]));
		set(o, "total", total_json(&r->phase[i]));
		push(a, o);
	}
	return a;
}

static json_t *cache_json(const struct lab_cache_stats *c)
{
	json_t *o = json_object();

	set(o, "read_bytes", integer(c->read_bytes));
	set(o, "read_ahead_bytes", integer(c->read_ahead_bytes));
	set(o, "written_bytes", integer(c->written_bytes));
	set(o, "hit_pages", integer(c->hit_pages));
	set(o, "flusher_wakeups", integer(c->flusher_wakeups));
	set(o, "commits", integer(c->commits));
	set(o, "throttled_ns", integer(c->throttled_ns));
	return o;
}

static json_t *strings(char *const *line, unsigned int nr)
{
	json_t *a = json_array();
	unsigned int i;

	for (i = 0; i < nr; i++)
		push(a, text(line[i]));
	return a;
}

static json_t *run_json(const struct lab_sim_result *r)
{
	json_t *o = json_object(), *jobs = json_array();
	unsigned int i;

	set(o, "policy", text(r->policy));
	set(o, "label", text(r->label));
	set(o, "device", text(r->device));
	set(o, "seed", integer(r->seed));
	if (r->nr_notes)
		set(o, "notes", strings(r->note, r->nr_notes));
	for (i = 0; i < r->nr_jobs; i++)
		push(jobs, job_json(&r->job[i]));
	set(o, "jobs", jobs);
	set(o, "groups", groups_json(&r->whole));
	set(o, "total", total_json(&r->whole));
	if (r->nr_phases > 1)
		set(o, "phases", phases_json(r));
	if (r->has_cache)
		set(o, "page_cache", cache_json(&r->cache));
	return o;
}

void lab_report_json(FILE *out, struct lab_sim_result *const *run, unsigned int nr,
		     const struct lab_jobs *jobs)
{
	json_t *root = json_object(), *runs = json_array();
	unsigned int i;

	set(root, "weir version", text(WEIR_VERSION));
	if (jobs->nr_ignored)
		set(root, "ignored", strings(jobs->ignored, jobs->nr_ignored));
	if (jobs->nr_notes)
		set(root, "notes", strings(jobs->note, jobs->nr_notes));
	for (i = 0; i < nr; i++)
		push(runs, run_json(run[i]));
	set(root, "runs", runs);
	if (json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(PRECISION)))
		fputs("weir: cannot write JSON\n", stderr);
	fputc('\n', out);
	json_decref(root);
}
