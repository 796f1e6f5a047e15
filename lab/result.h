/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a run of the lab found: raw counts and sums, from which the table and the JSON are made.
 * Shares, rates and means are computed by who prints.
 */
#ifndef LAB_RESULT_H
#define LAB_RESULT_H

#include <weir/weir.h>

#include "lab/host.h"
#include "lab/job.h"
#include "lab/pagecache.h"
#include "lab/worker.h"

/* Samples of a rate, one per half second, for the bw_* and iops_* of fio's JSON. */
#define LAB_SAMPLE_NS UINT64_C(500000000)

struct lab_samples {
	uint64_t nr, min, max, sum;
	lab_u128 sum_squares;
};

/* Jobs that report together: one, or clones and neighbours under group_reporting. */
struct lab_job_result {
	const struct lab_job *job; /* the first of them */
	unsigned int nr_jobs;
	int phase;	      /* stonewall group, counted from 0 */
	uint64_t start_ns;    /* of the first */
	uint64_t end_ns;      /* of the last */
	uint64_t measured_ns; /* longest of them; 0: all ended before their ramp was over */
	struct lab_meter *meter[LAB_NR_JOB_DIRS]; /* NULL: the direction is not used */
	struct lab_meter *sync;			  /* NULL: no fsync */
	struct lab_samples bytes_per_s[LAB_NR_JOB_DIRS], ios_per_s[LAB_NR_JOB_DIRS];
	uint64_t depth_level[LAB_DEPTH_LEVELS];
};

struct lab_group_result {
	const char *path;    /* "" is the root */
	unsigned int parent; /* its index; the root's is its own */
	unsigned int nr_children;
	struct weir_group_attr attr;
	struct weir_group_stats stats;			     /* of the subtree */
	uint64_t wait_nr, wait_sum_ns, wait_max_ns;	     /* insert to dispatch */
	uint64_t service_nr, service_sum_ns, service_max_ns; /* dispatch to completion */
	struct lab_meter *meter[LAB_NR_JOB_DIRS]; /* clients of the subtree; NULL: none */
	const char *blocker; /* path of who stands in the way of its latency target, or NULL */
};

/* One stonewall phase, or the whole run. */
struct lab_phase_result {
	uint64_t start_ns;    /* its jobs were started */
	uint64_t measured_ns; /* from the end of the longest ramp to the end of the last job */
	struct lab_group_result *group; /* parents before children, the root first */
	unsigned int nr_groups;
	struct lab_host_stats host;
};

struct lab_sim_result {
	const char *policy, *label;
	char *device;
	uint64_t seed;
	struct lab_job_result *job;
	unsigned int nr_jobs;
	struct lab_phase_result whole;
	struct lab_phase_result *phase; /* nr_phases > 1: each; else NULL */
	unsigned int nr_phases;
	bool has_cache;
	struct lab_cache_stats cache; /* at the end, of the whole run with its ramps */
	uint64_t virtual_ns;	      /* length of the run */
	char **note;		      /* what the policy and the core had to say */
	unsigned int nr_notes;
};

void lab_sim_result_free(struct lab_sim_result *r);

/* ---- figures that both reports need ---- */

/* Reads, writes and trims of a group or of the whole. */
uint64_t lab_meters_ios(struct lab_meter *const *meter);
uint64_t lab_meters_bytes(struct lab_meter *const *meter);
/* n per second over the span; 0 for an empty span. */
uint64_t lab_per_second(uint64_t n, uint64_t span_ns);
/*
 * Was the floor met, as far as it was up to the device? It was if at most one percent of it is
 * missing over the span: windows of 100 ms do not hold a whole number of requests.
 */
bool lab_floor_met(const struct lab_group_result *g, uint64_t span_ns);
/* In at most one of ten periods it was not. A group that waits, and gets nothing, has no periods.
 */
bool lab_target_met(const struct weir_group_stats *s);
uint64_t lab_device_ns(const struct weir_group_stats *s);
/* Requests that another one absorbed, in the core and in plugs. */
uint64_t lab_merges(const struct lab_phase_result *p);
/* It got less than its entitlement, because it did not ask for it. */
bool lab_demand_limited(const struct lab_phase_result *p, const struct lab_group_result *g);
/* The cause for which the group waited longest, or WEIR_NR_WAITS if it did not wait. */
unsigned int lab_dominant_wait(const struct weir_group_stats *s);
/* Does anything in the subtree have its own requests or clients? The tables leave out what is idle.
 */
bool lab_group_is_quiet(const struct lab_group_result *g);

#endif
