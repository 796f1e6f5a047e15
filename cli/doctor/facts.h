/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the doctor knows before it judges: the device with all that it stands on, the host, and the
 * cgroups with what is set in them.
 *
 *	stack.c		the devices below DEV, and where an elevator acts
 *	mounts.c	where cgroups are mounted, and which file systems are on the device
 *	host.c		kernel, modules, what keeps a module out
 *	groups.c	the tree of cgroups
 *	settings.c	the lines in their files
 */
#ifndef CLI_DOCTOR_FACTS_H
#define CLI_DOCTOR_FACTS_H

#include "cli/doctor/tree.h"

/* More than that is a loop, or nothing that a person can look at. */
#define STACK_NODES_MAX 128

enum node_kind {
	NODE_DISK,
	NODE_PARTITION,
	NODE_DM,
	NODE_MD,
	NODE_LOOP,
	NODE_NVME_HEAD, /* one name space over several paths */
};

struct doctor_node {
	char name[64], dev[24]; /* kernel's name; "8:0", empty for a hidden path of multipath */
	enum node_kind kind;
	int above;	   /* the first node that stands on it; -1: it is DEV */
	bool below;	   /* it stands on others that are in the stack */
	bool acts;	   /* requests are scheduled here, or would be */
	char what[128];	   /* name and kind of a mapping, level of an array, backing file */
	bool mq, elevator; /* has a queue of requests; an elevator can be chosen */
	char scheduler[32], choices[256], model[80], write_cache[32];
	bool has_wbt, has_rotational;
	uint64_t nr_requests, wbt_us, rotational, nomerges, rq_affinity;
	/* Of the elevator that is active */
	char policy[32];
	uint64_t low_latency, slice_idle_ms;
	/* io.cost.qos and io.cost.model of the root cgroup; texts are empty without a line. */
	bool iocost;
	char qos[256], cost_model[256];
};

struct doctor_stack {
	struct doctor_node *node; /* the first is DEV; each before those that it stands on */
	unsigned int nr;
};

/* A file system on DEV, on a part of it, or on what stands on it. */
struct doctor_mount {
	char *where, *type, *options;
};

enum cgroup_kind {
	CGROUPS_NONE,	/* the block I/O controller is nowhere */
	CGROUPS_V2,	/* in the unified hierarchy */
	CGROUPS_V1,	/* in a hierarchy of its own, the only kind that is mounted */
	CGROUPS_HYBRID, /* the same, and a unified hierarchy without it */
};

struct doctor_host {
	char release[128];
	bool systemd;
	/* weir */
	bool weir_loaded;
	char *weir_module, *weir_other; /* its file for this kernel; only for that other kernel */
	char lockdown[64];		/* of "none [integrity] confidentiality" the chosen one */
	bool signed_only, modules_disabled;
	/* cgroups */
	enum cgroup_kind cgroups;
	char *v2, *v1; /* mount points */
	struct doctor_mount *mount;
	unsigned int mounts;
	/* Processes of the root cgroup that are not the kernel's own; names of the first. */
	unsigned int root_tasks;
	char root_names[128];
};

enum setting_file {
	SET_IO_WEIGHT,
	SET_BFQ_WEIGHT,
	SET_WEIR_WEIGHT,
	SET_MAX,
	SET_LATENCY,
	SET_LOW,
	SET_PRIO,
	SET_WEIR_MAX,
	SET_WEIR_LOW,
	SET_WEIR_LATENCY,
	SET_V1_WEIGHT,
	SET_V1_DEVICE_WEIGHT,
	SET_V1_READ_BPS,
	SET_V1_WRITE_BPS,
	SET_V1_READ_IOPS,
	SET_V1_WRITE_IOPS,
	NR_SETTING_FILES
};

/* One line that is not what the kernel begins with. */
struct doctor_setting {
	unsigned int group;
	enum setting_file file;
	char dev[24];	 /* empty: for all devices */
	uint64_t weight; /* of weight files */
	char text[192];	 /* behind the device */
};

struct doctor_group {
	char *path; /* "/" is the root */
	int parent;
	unsigned int children;
	bool io, memory;	  /* it has the files of these controllers */
	bool io_below, mem_below; /* cgroup.subtree_control */
	int populated;		  /* -1: not known */
	/* On the nodes where requests are scheduled; of io.stat, whole subtree. */
	uint64_t bytes, ios;
};

struct doctor_groups {
	struct doctor_group *group; /* the root first, parents before children */
	unsigned int nr, with_io, with_memory;
	struct doctor_setting *setting;
	unsigned int settings, set[NR_SETTING_FILES];
	bool has[NR_SETTING_FILES]; /* some cgroup has such a file */
	bool controller;	    /* the root lists io among its controllers */
	bool part;		    /* the root is a cgroup of a larger tree: in a container */
	uint64_t vrate_percent100;  /* of iocost, in 1/100 %; 0: not known */
};

/*
 * DEV as typed to the kernel's name of it. False with an error line in err, which says what would be
 * accepted.
 */
bool doctor_find_device(struct doctor_tree *t, const char *typed, char *name, size_t name_bytes,
			char *err, size_t err_bytes);

void doctor_stack_read(struct doctor_tree *t, struct doctor_stack *s, const char *name);
void doctor_stack_free(struct doctor_stack *s);
/* The node with this number, or NULL. */
struct doctor_node *doctor_node_of(const struct doctor_stack *s, const char *dev);
/* The number is that of a partition of one of the nodes. */
bool doctor_is_partition(struct doctor_tree *t, const struct doctor_stack *s, const char *dev);

void doctor_mounts_read(struct doctor_tree *t, struct doctor_host *h, const struct doctor_stack *s);
void doctor_host_read(struct doctor_tree *t, struct doctor_host *h);
void doctor_host_free(struct doctor_host *h);

/* After the mounts. Fills in what the root says of iocost in the nodes as well. */
void doctor_groups_read(struct doctor_tree *t, struct doctor_groups *g, const struct doctor_host *h,
			struct doctor_stack *s);
void doctor_groups_free(struct doctor_groups *g);

/* settings.c, for groups.c: the text of one file of a group, NULL if there is none. */
void doctor_settings_add(struct doctor_tree *t, struct doctor_groups *g, unsigned int group,
			 enum setting_file file, const char *text, const char *path);
const char *doctor_file_name(enum setting_file file);
bool doctor_file_is_v1(enum setting_file file);
/* The number after "key=", or false. */
bool doctor_key_number(const char *text, const char *key, uint64_t *out);
/* The same of a number with a fraction of two digits, in hundredths. */
bool doctor_key_percent100(const char *text, const char *key, uint64_t *out);
/* "8:0" at the beginning of the line to dev; what is behind it, or NULL. */
const char *doctor_line_dev(const char *line, char *dev, size_t dev_bytes);

#endif
