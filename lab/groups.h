/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a run says about its groups: from cgroup= and cgroup_weight= of the jobs, and from
 * --groups FILE.ini with a section per group path and the names and grammar of cgroup v2.
 */
#ifndef LAB_GROUPS_H
#define LAB_GROUPS_H

#include <stdio.h>

#include <weir/group.h>

#include "lab/job.h"

struct lab_group_spec {
	char *path; /* "a/b"; "" is the root */
	struct weir_group_attr attr;
	bool weight_set;	 /* by a job or the INI */
	const char *weight_file; /* where, for the message when two places disagree */
	int weight_line;
};

/* Parents before children, the root first. */
struct lab_groups {
	struct lab_group_spec *group;
	unsigned int nr;
	unsigned int *by_path; /* indices sorted by path, for lab_groups_find() */
	struct fio_pool *pool; /* storage of all of the above */
};

/*
 * Groups of the jobs, then those of the INI file (path may be NULL) over them. Missing parents are
 * made with weight 100. Two places that give one group different weights are an error.
 */
struct lab_groups *lab_groups_build(const struct lab_jobs *jobs, const char *ini_path, char *err,
				    size_t err_bytes);
/* The same with the INI text in memory (may be NULL), for tests and fuzzing. */
struct lab_groups *lab_groups_build_text(const struct lab_jobs *jobs, const char *ini,
					 const char *ini_name, char *err, size_t err_bytes);
void lab_groups_free(struct lab_groups *groups);
/* Index of a path, or -1. */
int lab_groups_find(const struct lab_groups *groups, const char *path);

/*
 * "rbps=1048576 wiops=max", an optional MAJ:MIN before it. floor: max is not accepted, 0 is none.
 * On error -1, with what would be accepted in err.
 */
int lab_parse_rates(const char *text, bool floor, struct weir_rates *out, char *err,
		    size_t err_bytes);

#endif
