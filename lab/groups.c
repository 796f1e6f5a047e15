// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tree of groups of a run: nodes in the order in which somebody first named them, parents made
 * where nobody did, and an index by path.
 */
#include "lab/groups.h"

#include <string.h>

#include "lab/groups_build.h"

/* Where path is in the index, or would be. */
static unsigned int place_of(const struct lab_groups *groups, const char *path, bool *found)
{
	unsigned int low = 0, high = groups->nr, mid;
	int order;

	*found = false;
	while (low < high) {
		mid = low + (high - low) / 2;
		order = strcmp(path, groups->group[groups->by_path[mid]].path);
		if (!order) {
			*found = true;
			return mid;
		}
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

int lab_groups_find(const struct lab_groups *groups, const char *path)
{
	bool found;
	unsigned int place = place_of(groups, path, &found);

	return found ? (int)groups->by_path[place] : -1;
}

static int add_group(struct group_builder *b, const char *path)
{
	struct lab_groups *groups = b->groups;
	unsigned int nr = groups->nr, place;
	struct lab_group_spec *g;
	bool found;

	place = place_of(groups, path, &found);
	groups->group = fio_pool_grow(b->pool, groups->group, nr, sizeof(*groups->group));
	groups->by_path = fio_pool_grow(b->pool, groups->by_path, nr, sizeof(*groups->by_path));
	b->said = fio_pool_grow(b->pool, b->said, nr, sizeof(*b->said));
	memmove(&groups->by_path[place + 1], &groups->by_path[place],
		(nr - place) * sizeof(*groups->by_path));
	groups->by_path[place] = nr;
	g = &groups->group[nr];
	g->path = fio_pool_strdup(b->pool, path);
	weir_group_attr_init(&g->attr);
	groups->nr++;
	return (int)nr;
}

int group_need(struct group_builder *b, const char *path)
{
	char *copy = fio_pool_strdup(b->pool, path), *slash;
	int index = lab_groups_find(b->groups, path);

	if (index >= 0)
		return index;
	/* Parents first: each prefix that ends before a slash. */
	for (slash = strchr(copy, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (lab_groups_find(b->groups, copy) < 0)
			add_group(b, copy);
		*slash = '/';
	}
	if (b->groups->nr >= GROUPS_MAX)
		return -1;
	return add_group(b, path);
}

static int weight_conflict(struct group_builder *b, const struct lab_job *job,
			   const struct lab_group_spec *g)
{
	char weight[48];

	snprintf(weight, sizeof(weight), "cgroup_weight=%u", job->cgroup_weight);
	return fio_fail(&b->err, job->file, job->weight_line, weight,
			"one weight a group is accepted, and %s:%d gives \"%s\" %u", g->weight_file,
			g->weight_line, g->path, g->attr.weight);
}

static int add_job(struct group_builder *b, const struct lab_job *job)
{
	struct lab_group_spec *g;
	int index;

	if (!job->cgroup)
		return 0;
	index = group_need(b, job->cgroup);
	if (index < 0)
		return fio_fail(&b->err, job->file, job->cgroup_line, job->cgroup,
				"at most %d groups are accepted", GROUPS_MAX);
	if (!job->has_weight)
		return 0;
	g = &b->groups->group[index];
	if (g->weight_set && g->attr.weight != job->cgroup_weight)
		return weight_conflict(b, job, g);
	if (g->weight_set)
		return 0;
	g->weight_set = true;
	g->attr.weight = job->cgroup_weight;
	g->weight_file = fio_pool_strdup(b->pool, job->file);
	g->weight_line = job->weight_line;
	b->said[index][GROUP_WEIGHT] = (struct group_place){g->weight_file, g->weight_line};
	return 0;
}

static struct lab_groups *build(const struct lab_jobs *jobs, const char *ini_path, const char *ini,
				const char *ini_name, char *err, size_t err_bytes)
{
	struct fio_pool *pool = fio_pool_new();
	struct group_builder b = {.pool = pool};
	size_t bytes = ini ? strlen(ini) : 0;
	unsigned int i;
	int ret = 0;

	b.groups = fio_pool_alloc(pool, sizeof(*b.groups));
	b.groups->pool = pool;
	fio_error_init(&b.err, err, err_bytes);
	add_group(&b, "");
	for (i = 0; jobs && i < jobs->nr && ret >= 0; i++)
		ret = add_job(&b, jobs->job[i]);
	if (ret >= 0 && ini_path) {
		ini = fio_text_read(pool, ini_path, &bytes, &b.err);
		ret = ini ? 0 : -1;
	}
	if (ret >= 0 && ini)
		ret = group_read_ini(&b, ini, bytes, ini_path ? ini_path : ini_name);
	if (ret < 0) {
		fio_pool_free(pool);
		return NULL;
	}
	return b.groups;
}

struct lab_groups *lab_groups_build(const struct lab_jobs *jobs, const char *ini_path, char *err,
				    size_t err_bytes)
{
	return build(jobs, ini_path, NULL, NULL, err, err_bytes);
}

struct lab_groups *lab_groups_build_text(const struct lab_jobs *jobs, const char *ini,
					 const char *ini_name, char *err, size_t err_bytes)
{
	return build(jobs, NULL, ini, ini_name, err, err_bytes);
}

void lab_groups_free(struct lab_groups *groups)
{
	if (groups)
		fio_pool_free(groups->pool);
}
