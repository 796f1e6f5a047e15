/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run of the lab: jobs on a modelled device under one policy, in virtual time.
 *
 *	sim.c		the run: phases, windows, end
 *	sim_open.c	device, block layer, page cache, groups
 *	sim_layout.c	where each job's file lies
 *	sim_collect.c	results
 *	sim_policies.c	--policy
 *	sim_settings.c	--host
 *	sim_builtin.c	workloads that fio cannot express
 *	sim_units.c	values with units
 *
 * Jobs of one stonewall group form a phase; phases run one after another. The window of a phase is
 * from the end of the longest ramp among its jobs (counted from the phase's start) to the end of
 * its last job, open on the left and closed on the right. Statistics of groups and device begin
 * afresh with each window.
 */
#ifndef LAB_SIM_H
#define LAB_SIM_H

#include <stdio.h>

#include "lab/groups.h"
#include "lab/host.h"
#include "lab/job.h"
#include "lab/pagecache.h"
#include "lab/result.h"

/* ---- --policy: sim_policies.c ---- */

struct lab_policy_choice {
	const struct weir_policy *policy;
	uint64_t tunable[WEIR_TUNABLES_MAX];
	char *label; /* as typed */
};

struct lab_policies {
	struct lab_policy_choice *choice;
	unsigned int nr;
};

/*
 * NAME[:tunable=value]...[,NAME...], or "all". Adds to what is in *out. False, with a line in err,
 * for what is not accepted.
 */
bool lab_policies_parse(const char *spec, struct lab_policies *out, char *err, size_t err_bytes);
void lab_policies_free(struct lab_policies *p);

/* ---- --host: sim_settings.c ---- */

enum lab_setting_kind {
	LAB_SETTING_NUMBER,
	LAB_SETTING_WORD, /* one of a list; the value is its index */
};

struct lab_setting {
	const char *name;
	enum lab_setting_kind kind;
	enum weir_unit unit;
	uint64_t min, max;
	bool or_zero;	   /* 0 is accepted beside min..max */
	const char *words; /* "root|dirtier" */
	const char *def;   /* for people */
	const char *help;
	void (*apply)(uint64_t value, struct lab_host_config *host, struct lab_cache_config *cache);
};

#define LAB_SETTINGS_MAX 24

struct lab_settings {
	bool given[LAB_SETTINGS_MAX];
	uint64_t value[LAB_SETTINGS_MAX];
};

/* n-th setting, or NULL behind the last. */
const struct lab_setting *lab_setting_at(unsigned int n);
/* key=value[,key=value]... over what is in *out. */
bool lab_settings_parse(const char *spec, struct lab_settings *out, char *err, size_t err_bytes);
/* Do they fit each other, once they are applied to *cache? False with a line in err. */
bool lab_settings_check(const struct lab_settings *s, const struct lab_cache_config *cache,
			char *err, size_t err_bytes);
void lab_settings_apply(const struct lab_settings *s, struct lab_host_config *host,
			struct lab_cache_config *cache);

/* ---- workloads that are built in: sim_builtin.c ---- */

struct lab_builtin {
	const char *name;
	uint64_t seed; /* 0: that of the run */
	uint64_t pause_ns;
};

#define LAB_BUILTIN_PREFIX "builtin:"

/* "builtin:NAME[:key=value]...": jobs and what is special about them. NULL with a line in err. */
struct lab_jobs *lab_builtin_jobs(const char *spec, struct lab_builtin *out, char *err,
				  size_t err_bytes);
/* A line of help for each, for the manual and for messages. NULL behind the last. */
const char *lab_builtin_help(unsigned int n);

/* ---- the run: sim.c ---- */

struct lab_progress;

struct lab_sim_spec {
	const struct lab_jobs *jobs;
	const struct lab_groups *groups;
	const struct lab_builtin *builtin; /* NULL: ordinary jobs */
	const char *device;
	const struct lab_policy_choice *policy;
	const struct lab_settings *settings; /* NULL: defaults */
	uint64_t seed;
	const char *record;	       /* file for the flight recording, or NULL */
	struct lab_progress *progress; /* or NULL */
};

/*
 * Runs it. The result points into jobs and groups. NULL, with a line in err, if the run can't be
 * had: no such device, files larger than it, a job that the lab can't run. *stuck: not the input is
 * wrong, the policy stopped serving.
 */
struct lab_sim_result *lab_sim_run(const struct lab_sim_spec *spec, bool *stuck, char *err,
				   size_t err_bytes);

/* ---- reports ---- */

/* Tables for people. jobs has what was ignored. False: out of memory. */
void lab_report_table(FILE *out, struct lab_sim_result *const *run, unsigned int nr,
		      const struct lab_jobs *jobs);
/* One JSON object. */
void lab_report_json(FILE *out, struct lab_sim_result *const *run, unsigned int nr,
		     const struct lab_jobs *jobs);

/* ---- progress.c: a line on a terminal, none anywhere else ---- */

struct lab_progress *lab_progress_new(FILE *terminal, unsigned int nr_runs);
/* The next run begins. */
void lab_progress_run(struct lab_progress *p, const char *policy, const char *device);
/* Of one phase: virtual time so far, and its end if known (0 if not). */
void lab_progress_at(struct lab_progress *p, unsigned int phase, unsigned int nr_phases,
		     uint64_t at_ns, uint64_t end_ns);
/* Wipes the line. NULL is nothing to do for all of these. */
void lab_progress_free(struct lab_progress *p);

#endif
