// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any text as a groups file, over the groups of two jobs: either a tree that keeps the promises of
 * lab/groups.h and whose attributes the core takes, or one line that says what is wrong.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/groups.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                 \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                        \
		}                                                                       \
	} while (0)

static const char job_text[] =
	"[a]\nsize=1m\ncgroup=a\ncgroup_weight=5\n[b]\nsize=1m\ncgroup=a/b\n";

static void check_groups(const struct lab_groups *groups)
{
	unsigned int i;

	MUST(groups->nr >= 3 && !*groups->group[0].path);
	for (i = 1; i < groups->nr; i++) {
		const struct lab_group_spec *g = &groups->group[i];
		char *parent = strdup(g->path);
		char *slash = strrchr(parent, '/');

		MUST(*g->path && *g->path != '/' && !strstr(g->path, "//"));
		MUST(lab_groups_find(groups, g->path) == (int)i);
		/* Parents before children. */
		*(slash ? slash : parent) = '\0';
		MUST(lab_groups_find(groups, parent) >= 0);
		MUST(lab_groups_find(groups, parent) < (int)i);
		free(parent);
		MUST(!weir_group_attr_check(&g->attr));
		MUST(!g->weight_set || (g->weight_file && g->weight_line >= 1));
	}
	MUST(groups->group[lab_groups_find(groups, "a")].attr.weight == 5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lab_groups *groups;
	struct lab_jobs *jobs;
	char err[500] = "", *ini = malloc(size + 1);
	size_t i;

	if (!ini)
		return 0;
	memcpy(ini, data, size);
	ini[size] = '\0';
	jobs = lab_jobs_parse(job_text, strlen(job_text), "jobs", NULL, err, sizeof(err));
	MUST(jobs);
	groups = lab_groups_build_text(jobs, ini, "fuzz", err, sizeof(err));
	if (groups)
		check_groups(groups);
	else
		MUST(*err);
	for (i = 0; err[i]; i++)
		MUST(err[i] >= ' ' && err[i] <= '~');
	lab_groups_free(groups);
	lab_jobs_free(jobs);
	free(ini);
	return 0;
}
