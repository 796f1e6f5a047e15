/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the doctor can find, and what it did find.
 *
 * Each finding has a name that stays what it is, for programs that read the JSON. Its severity belongs
 * to the name: an error is something that was set and has no effect. The table is in findings.c and in
 * weir-doctor(1); a test compares the two.
 */
#ifndef CLI_DOCTOR_FINDINGS_H
#define CLI_DOCTOR_FINDINGS_H

#include "cli/doctor/facts.h"

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE, NR_SEVERITIES };

enum finding_id {
	/* errors */
	IO_WEIGHT_UNREAD,
	BFQ_WEIGHT_UNREAD,
	WEIR_SETTING_UNREAD,
	WEIR_POLICY_LACKS,
	SETTING_ON_STACKED,
	SETTING_ON_PARTITION,
	PRIO_UNREAD,
	IO_LOW_INCOMPLETE,
	/* warnings */
	CGROUP_NONE,
	CGROUP_V1,
	CGROUP_HYBRID,
	IO_NOT_ENABLED,
	WEIGHT_ALONE,
	WEIGHTS_RESCALED,
	TWO_CONTROLLERS,
	LEAVES_DIFFER,
	FEW_REQUESTS,
	WBT_ACTIVE,
	BFQ_LOW_LATENCY,
	IOCOST_MODEL,
	IOCOST_VRATE,
	WRITEBACK_TO_ROOT,
	WRITEBACK_NO_MEMORY,
	WEIR_OTHER_KERNEL,
	WEIR_REFUSED,
	NOT_READ,
	UNEXPECTED,
	/* notes */
	PARTITION,
	STACKED,
	MULTIPATH,
	LOOP_FILE,
	MD_PARITY,
	NO_ELEVATOR,
	IO_NOT_BELOW,
	WEIGHTS_EQUAL,
	WEIGHTS_IDLE,
	WEIGHT_SPARE,
	BFQ_IDLES,
	IOCOST_AUTO,
	IOCOST_NO_TARGET,
	NO_MERGES,
	WBT_DEFAULT,
	ROTATIONAL_GUESS,
	KERNEL_LACKS,
	ROOT_TASKS,
	ROOT_IO,
	PART_OF_HOST,
	WEIR_NOT_CHOSEN,
	WEIR_NOT_LOADED,
	WEIR_NOT_BUILT,
	NR_FINDING_IDS
};

struct finding {
	enum finding_id id;
	char *subject;	     /* a device, a file, a cgroup */
	char *says;	     /* one sentence */
	char *mend;	     /* one sentence, or NULL */
	char *command;	     /* to type, or NULL */
	unsigned int *group; /* cgroups that it is about */
	unsigned int groups;
};

struct doctor {
	struct doctor_tree tree;
	struct doctor_stack stack;
	struct doctor_host host;
	struct doctor_groups groups;
	struct finding *finding;
	unsigned int findings, count[NR_SEVERITIES];
};

const char *finding_name(enum finding_id id);
const char *finding_help(enum finding_id id);
enum severity finding_severity(enum finding_id id);
const char *severity_name(enum severity severity);

/*
 * A new finding, good until the next one. Texts are as for printf.
 */
__attribute__((format(printf, 3, 4))) struct finding *finding_add(struct doctor *d,
								  enum finding_id id,
								  const char *subject, ...);
__attribute__((format(printf, 2, 3))) void finding_says(struct finding *f, const char *format, ...);
__attribute__((format(printf, 2, 3))) void finding_mend(struct finding *f, const char *format, ...);
__attribute__((format(printf, 2, 3))) void finding_command(struct finding *f, const char *format,
							   ...);
/* "echo value > path", each in quotes if it must be: names of cgroups are made by others. */
__attribute__((format(printf, 3, 4))) void finding_write(struct finding *f, const char *value,
							 const char *path, ...);
/* As one word of a shell; to be freed. */
char *finding_quoted(const char *word);

/* Cgroups that a finding will be about. */
struct group_list {
	unsigned int *group, nr;
};

void group_list_add(struct group_list *l, unsigned int group);
/* Hands the list over to the finding, and empties it. */
void finding_groups(struct finding *f, struct group_list *l);
/* "/a, /b, /c and 7 more" into out, which it returns. */
const char *group_names(const struct doctor *d, const struct group_list *l, char *out,
			size_t bytes);

void findings_sort(struct doctor *d);
void findings_free(struct doctor *d);

/* ---- the examinations: each adds what it finds ---- */

void check_stack(struct doctor *d);   /* check_stack.c: what DEV stands on */
void check_queue(struct doctor *d);   /* check_queue.c: elevators and their settings */
void check_iocost(struct doctor *d);  /* check_iocost.c: the cost controller */
void check_cgroups(struct doctor *d); /* check_cgroups.c: hierarchy, root, write-back */
void check_effect(struct doctor *d);  /* check_effect.c: settings that nobody reads */
void check_shares(struct doctor *d);  /* check_shares.c: weights among siblings */
void check_module(struct doctor *d);  /* check_module.c: weir itself */
void check_reading(struct doctor *d); /* check_module.c: what could not be read */

/* ---- shared by them: in_force.c ---- */

/* Weights of this file are acted on at the node. Files that hold none: false. */
bool weights_in_force(const struct doctor_node *n, enum setting_file file);
/* Some weight is set that counts at the node. */
bool any_weight_counts(const struct doctor *d, const struct doctor_node *n);
/* A device whose number can be written to a cgroup's files for the node. */
const char *node_number(const struct doctor_node *n);
/* The weight file that is in force at the node, or NR_SETTING_FILES. */
enum setting_file weights_of(const struct doctor_node *n);
/* "io.max", or what version 1 has for it. */
const char *ceilings_name(const struct doctor *d);
/* Where cgroups are, "/sys/fs/cgroup" if nowhere. */
const char *cgroup_mount(const struct doctor *d);
/* For paths of a cgroup: "" is the root. */
const char *doctor_group_path(const struct doctor *d, unsigned int group);

#endif
