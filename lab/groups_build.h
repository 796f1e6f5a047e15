/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside the groups of a run: what building the tree and reading the INI file share.
 */
#ifndef LAB_GROUPS_BUILD_H
#define LAB_GROUPS_BUILD_H

#include "lab/fio_text.h"
#include "lab/groups.h"

#define GROUPS_MAX 65536
#define GROUP_NAME_MAX 255 /* of one component, as in a cgroup file system */

/* What may be said about a group, and where it was. */
enum group_key {
	GROUP_WEIGHT,
	GROUP_OWN_WEIGHT,
	GROUP_MAX,
	GROUP_LOW,
	GROUP_LATENCY,
	NR_GROUP_KEYS,
};

struct group_place {
	const char *file; /* NULL: not said */
	int line;
};

struct group_builder {
	struct fio_pool *pool;
	struct fio_error err;
	struct lab_groups *groups;
	struct group_place (*said)[NR_GROUP_KEYS]; /* by group */
};

/*
 * A path without its leading slash; "" is the root. Returns NULL, or what would be accepted, for
 * a path that no file system would take or that is nested too deep.
 */
const char *group_path(struct fio_pool *pool, const char *text, char **out);

/* Behind MAJ:MIN and the blanks after it; behind the blanks alone if there is no device. */
const char *group_skip_device(const char *text);
/* Digits only, and no overflow. */
bool group_number(const char *text, size_t bytes, uint64_t *out);

/* Index of a group, made with its parents if it is new. path is normalised. -1: too many. */
int group_need(struct group_builder *b, const char *path);

/* Reads an INI text over the groups. 0, or -1 after fio_fail(). */
int group_read_ini(struct group_builder *b, const char *ini, size_t bytes, const char *name);

#endif
