// SPDX-License-Identifier: GPL-2.0-only
/* Jobs and directions of the JSON report, with the names and units of fio's. */
#include <stdlib.h>
#include <string.h>

#include "core/fixed.h"
#include "lab/report_json.h"

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
		report_set(o, name, report_integer(lab_lat_percentile_ns(lat, list[i])));
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
		report_set(o, name, report_integer(lat->bucket[i]));
	}
	return o;
}

static json_t *moments(const struct lab_lat *lat)
{
	json_t *o = json_object();

	report_set(o, "min", report_integer(lat && lat->nr ? lat->min_ns : 0));
	report_set(o, "max", report_integer(lat ? lat->max_ns : 0));
	report_set(o, "mean", report_real(lat ? lab_lat_mean_ns(lat) : 0));
	report_set(o, "stddev", report_real(lat ? lab_lat_stddev_ns(lat) : 0));
	report_set(o, "N", report_integer(lat ? lat->nr : 0));
	return o;
}

/* Submission takes no time in the lab: as many samples as completions, all of them 0. */
static json_t *submission(const struct lab_lat *lat)
{
	json_t *o = moments(NULL);

	report_set(o, "N", report_integer(lat ? lat->nr : 0));
	return o;
}

static json_t *completion(const struct lab_lat *lat, const struct lab_job *job)
{
	json_t *o = moments(lat);

	if (lat && lat->nr) {
		report_set(o, "percentile", percentiles(lat, job));
		/* Of groups there may be thousands. */
		if (job)
			report_set(o, "bins", bins(lat));
	}
	return o;
}

/* Deviation of samples, in `unit` of what they are in. */
static double deviation(const struct lab_samples *s, double unit)
{
	return lab_stddev(s->nr, s->sum, s->sum_squares) / unit;
}

static void add_samples(json_t *o, const struct lab_samples *bw, const struct lab_samples *iops)
{
	report_set(o, "bw_min", report_integer(bw && bw->nr ? bw->min / 1024 : 0));
	report_set(o, "bw_max", report_integer(bw ? bw->max / 1024 : 0));
	report_set(o, "bw_mean",
		   report_real(bw && bw->nr ? (double)bw->sum / (double)bw->nr / 1024 : 0));
	report_set(o, "bw_dev", report_real(bw ? deviation(bw, 1024) : 0));
	report_set(o, "bw_samples", report_integer(bw ? bw->nr : 0));
	report_set(o, "iops_min", report_integer(iops && iops->nr ? iops->min : 0));
	report_set(o, "iops_max", report_integer(iops ? iops->max : 0));
	report_set(o, "iops_mean",
		   report_real(iops && iops->nr ? (double)iops->sum / (double)iops->nr : 0));
	report_set(o, "iops_stddev", report_real(iops ? deviation(iops, 1) : 0));
	report_set(o, "iops_samples", report_integer(iops ? iops->nr : 0));
}

json_t *report_direction(const struct lab_meter *m, uint64_t span_ns, const struct lab_job *job)
{
	json_t *o = json_object();
	uint64_t bytes = m ? m->bytes : 0, ios = m ? m->ios : 0;
	const struct lab_lat *lat = m ? &m->lat : NULL;

	report_set(o, "io_bytes", report_integer(bytes));
	report_set(o, "io_kbytes", report_integer(bytes / 1024));
	report_set(o, "bw_bytes", report_integer(lab_per_second(bytes, span_ns)));
	report_set(o, "bw", report_integer(lab_per_second(bytes, span_ns) / 1024));
	report_set(o, "iops", report_per_second(ios, span_ns));
	report_set(o, "runtime", report_integer(m ? span_ns / WEIR_NS_PER_MS : 0));
	report_set(o, "total_ios", report_integer(ios));
	report_set(o, "short_ios", report_integer(0));
	report_set(o, "drop_ios", report_integer(0));
	report_set(o, "slat_ns", submission(lat));
	report_set(o, "clat_ns", completion(lat, job));
	report_set(o, "lat_ns", moments(lat));
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
	report_set(o, name, report_text(digits));
}

/* The options that tools look at; strings, as in fio. */
static json_t *job_options(const struct lab_job_result *r)
{
	const struct lab_job *job = r->job;
	enum lab_job_dir dir = lab_job_does(job, LAB_DIR_READ)	  ? LAB_DIR_READ
			       : lab_job_does(job, LAB_DIR_WRITE) ? LAB_DIR_WRITE
								  : LAB_DIR_TRIM;
	json_t *o = json_object();

	report_set(o, "name", report_text(job->name));
	report_set(o, "rw", report_text(rw_name(job->rw)));
	option(o, "bs", job->bs_min[dir]);
	option(o, "iodepth", job->iodepth);
	option(o, "direct", job->direct);
	option(o, "numjobs", r->nr_jobs);
	if (job->filename)
		report_set(o, "filename", report_text(job->filename));
	if (job->size)
		option(o, "size", job->size);
	if (job->runtime_ns)
		option(o, "runtime", job->runtime_ns / WEIR_NS_PER_S);
	if (job->ramp_ns)
		option(o, "ramp_time", job->ramp_ns / WEIR_NS_PER_S);
	if (job->cgroup)
		report_set(o, "cgroup", report_text(job->cgroup));
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
		report_set(o, names[i], report_ratio(r->depth_level[i] * 100, sum));
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
		report_set(o, name,
			   report_ratio(count_between(lat, from_ns, bounds[i] * unit_ns) * 100,
					lat->nr));
		from_ns = bounds[i] * unit_ns;
	}
	if (last)
		report_set(o, ">=2000",
			   report_ratio(count_between(lat, from_ns, UINT64_MAX) * 100, lat->nr));
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
	report_set(o, "latency_ns", latency_percent(lat, 1));
	report_set(o, "latency_us", latency_percent(lat, WEIR_NS_PER_US));
	report_set(o, "latency_ms", latency_percent(lat, WEIR_NS_PER_MS));
	free(lat);
}

json_t *report_job_json(const struct lab_job_result *r)
{
	static const char *const names[] = {"read", "write", "trim"};
	json_t *o = json_object(), *d, *sync = json_object();
	unsigned int dir;

	report_set(o, "jobname", report_text(r->job->name));
	report_set(o, "groupid", report_integer((uint64_t)r->phase));
	report_set(o, "job_start",
		   report_integer(r->start_ns == UINT64_MAX ? 0 : r->start_ns / WEIR_NS_PER_MS));
	report_set(o, "error", report_integer(0));
	report_set(o, "eta", report_integer(0));
	report_set(o, "elapsed", report_integer((r->end_ns + WEIR_NS_PER_S - 1) / WEIR_NS_PER_S));
	report_set(o, "job options", job_options(r));
	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		d = report_direction(r->meter[dir], r->measured_ns, r->job);
		if (r->meter[dir])
			add_samples(d, &r->bytes_per_s[dir], &r->ios_per_s[dir]);
		else
			add_samples(d, NULL, NULL);
		report_set(o, names[dir], d);
	}
	report_set(sync, "total_ios", report_integer(r->sync ? r->sync->ios : 0));
	report_set(sync, "lat_ns", completion(r->sync ? &r->sync->lat : NULL, r->job));
	report_set(o, "sync", sync);
	report_set(o, "job_runtime", report_integer(r->measured_ns / WEIR_NS_PER_MS));
	/* Jobs use no CPU time in the lab. */
	report_set(o, "usr_cpu", report_real(0));
	report_set(o, "sys_cpu", report_real(0));
	report_set(o, "ctx", report_integer(0));
	report_set(o, "majf", report_integer(0));
	report_set(o, "minf", report_integer(0));
	report_set(o, "iodepth_level", depth_levels(r));
	add_latency_percent(o, r);
	return o;
}
