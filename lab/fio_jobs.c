// SPDX-License-Identifier: GPL-2.0-only
/*
 * From sections to jobs: what [global] gives to the sections below it, clones, and the numbers that
 * say who runs with whom and who is reported with whom.
 *
 * Order of starts. Sections run together until one has stonewall; that one begins a new wall, and
 * so does each further file. wait_for=X is weaker than a wall: the job waits for X peers. The lab
 * knows only numbers, of which one runs after the other, so a waiting section gets the number
 * behind that of X, inside its wall. That is exact if X is peers at its number, as in a chain of
 * sections; otherwise the job would wait for X's neighbours too, and is marked as not to be run.
 */
#include "lab/job.h"

#include <string.h>

#include "lab/fio_option.h"

struct section {
	const struct fio_line *at;
	const char *name;	/* of its jobs */
	unsigned int first, nr; /* jobs */
	unsigned int wall, level;
};

struct reader {
	struct fio_parser p;
	struct fio_script script;
	const struct lab_jobs_options *opt; /* NULL: all sections */
	struct section *section;
	unsigned int nr_sections;
	unsigned int wall; /* of the section that is read */
	unsigned int jobs_in_wall;
	int fio_group, report_group; /* fio's groupid, and our number */
	int last_fio_group;
};

static bool is_wanted(struct reader *r, const char *name)
{
	const struct lab_jobs_options *opt = r->opt;
	bool wanted = false;
	unsigned int i;

	if (!opt)
		return true;
	for (i = 0; i < opt->nr_sections; i++)
		wanted |= !strcmp(opt->sections[i], name);
	return wanted;
}

/*
 * kb_base goes first, as in fio: it says what k means in the whole section, also in the lines above
 * it.
 */
static int apply_lines(struct reader *r, struct fio_job *j, unsigned int from, unsigned int to)
{
	struct fio_parser *p = &r->p;
	unsigned int i, pass;

	for (pass = 0; pass < 2; pass++) {
		for (i = from; i < to; i++) {
			p->at = &r->script.line[i];
			if (!strcmp(p->at->name, "kb_base") == (pass == 0) &&
			    fio_option_apply(p, j) < 0)
				return -1;
		}
	}
	return 0;
}

/* ---- who runs after whom ---- */

static int find_waitee(struct reader *r, struct section *s, const struct fio_job *j)
{
	struct fio_parser *p = &r->p;
	const struct section *x;
	unsigned int i;

	if (!strcmp(j->wait_for, j->job.name))
		return fio_conflict(p, j, "wait_for",
				    "another job is accepted: this is the job "
				    "itself");
	for (i = 0; i < r->nr_sections; i++) {
		x = &r->section[i];
		if (!strcmp(x->name, j->wait_for))
			break;
	}
	if (i == r->nr_sections)
		return fio_conflict(p, j, "wait_for", "the name of a job above is accepted");
	if (x->wall < s->wall)
		return 0; /* has ended anyway */
	s->level = x->level + 1;
	return 0;
}

/* After the last section: numbers for all jobs, and which of them can't be had. */
static void number_jobs(struct reader *r)
{
	struct lab_jobs *jobs = r->p.jobs;
	unsigned int *peers = fio_pool_alloc(r->p.pool, (r->nr_sections + 1) * sizeof(*peers));
	unsigned int from, to, i, k, deepest, base = 0;

	for (from = 0; from < r->nr_sections; from = to) {
		deepest = 0;
		for (to = from; to < r->nr_sections && r->section[to].wall == r->section[from].wall;
		     to++) {
			peers[r->section[to].level]++;
			if (r->section[to].level > deepest)
				deepest = r->section[to].level;
		}
		for (i = from; i < to; i++) {
			struct section *s = &r->section[i];

			for (k = s->first; k < s->first + s->nr; k++) {
				jobs->job[k]->stonewall_group = (int)(base + s->level);
				if (s->level && peers[s->level - 1] > 1 &&
				    !jobs->job[k]->cannot_run)
					jobs->job[k]->cannot_run =
						"wait_for= names a job that runs beside others: "
						"the lab can only wait for all of them";
			}
		}
		memset(peers, 0, (deepest + 1) * sizeof(*peers));
		base += deepest + 1;
	}
}

/* ---- jobs ---- */

/* fio's numbering: a wall and new_group begin a group of reports, and only the first clone does. */
static void begin_group(struct reader *r, const struct fio_job *j)
{
	if (j->stonewall && r->jobs_in_wall) {
		r->wall++;
		r->jobs_in_wall = 0;
	}
	if ((j->stonewall || j->new_group) && r->p.jobs->nr)
		r->fio_group++;
}

static int add_clones(struct reader *r, const struct fio_job *j)
{
	struct lab_jobs *jobs = r->p.jobs;
	struct lab_job *job;
	uint32_t clone;

	if (jobs->nr + j->numjobs > FIO_JOBS_MAX)
		return fio_conflict(&r->p, j, "numjobs", "at most %d jobs in all are accepted",
				    FIO_JOBS_MAX);
	for (clone = 0; clone < j->numjobs; clone++) {
		job = fio_pool_alloc(r->p.pool, sizeof(*job));
		*job = j->job;
		job->clone = clone;
		/* One report for neighbours of one group, if the later of them asks for it. */
		if (jobs->nr && (!job->group_reporting || r->fio_group != r->last_fio_group))
			r->report_group++;
		r->last_fio_group = r->fio_group;
		job->report_group = r->report_group;
		jobs->job = fio_pool_grow(r->p.pool, jobs->job, jobs->nr, sizeof(*jobs->job));
		jobs->job[jobs->nr++] = job;
	}
	r->jobs_in_wall += j->numjobs;
	return 0;
}

static int read_section(struct reader *r, const struct fio_job *globals, unsigned int from,
			unsigned int to, bool first_of_file)
{
	const struct fio_line *at = &r->script.line[from];
	struct fio_job j = *globals;
	struct section s = {.at = at};

	if (!is_wanted(r, at->name))
		return 0;
	j.job.name = at->name;
	j.job.file = (char *)at->file;
	j.job.line = at->line;
	if (apply_lines(r, &j, from + 1, to) < 0 || fio_job_finish(&r->p, &j) < 0)
		return -1;
	j.stonewall |= first_of_file;
	begin_group(r, &j);
	s.name = j.job.name;
	s.wall = r->wall;
	s.first = r->p.jobs->nr;
	s.nr = j.numjobs;
	if (j.wait_for && find_waitee(r, &s, &j) < 0)
		return -1;
	if (add_clones(r, &j) < 0)
		return -1;
	r->section = fio_pool_grow(r->p.pool, r->section, r->nr_sections, sizeof(*r->section));
	r->section[r->nr_sections++] = s;
	return 0;
}

/* How many job sections there were, or -1. */
static int read_script(struct reader *r)
{
	const struct fio_script *s = &r->script;
	const struct fio_line *at;
	unsigned int from, to, before = r->p.jobs->nr;
	struct fio_job globals;
	int nr = 0, ret;

	fio_job_init(&globals);
	for (from = 0; from < s->nr; from = to) {
		at = &s->line[from];
		for (to = from + 1; to < s->nr && !s->line[to].section; to++)
			;
		if (!strncmp(at->name, "global", strlen("global"))) {
			ret = apply_lines(r, &globals, from + 1, to);
		} else {
			ret = read_section(r, &globals, from, to, r->p.jobs->nr == before);
			nr++;
		}
		if (ret < 0)
			return -1;
	}
	return nr;
}

/* ---- the outside ---- */

static struct reader *reader_new(const struct lab_jobs_options *opt, char *err, size_t err_bytes)
{
	struct fio_pool *pool = fio_pool_new();
	struct reader *r = fio_pool_alloc(pool, sizeof(*r));

	r->p.pool = pool;
	r->p.jobs = fio_pool_alloc(pool, sizeof(*r->p.jobs));
	r->p.jobs->pool = pool;
	fio_error_init(&r->p.err, err, err_bytes);
	r->opt = opt && opt->nr_sections ? opt : NULL;
	return r;
}

/* Takes one file's script over. */
static int add_script(struct reader *r, const char *name)
{
	int nr = read_script(r);

	if (!nr)
		return fio_fail(
			&r->p.err, name, 0, NULL,
			"there is no job in it: a [section] is accepted whose name does not "
			"begin with global");
	return nr;
}

static int check_wanted(struct reader *r, const char *file)
{
	unsigned int i, k;

	for (i = 0; r->opt && i < r->opt->nr_sections; i++) {
		for (k = 0; k < r->nr_sections; k++)
			if (!strcmp(r->section[k].at->name, r->opt->sections[i]))
				break;
		if (k == r->nr_sections)
			return fio_fail(&r->p.err, file, 0, r->opt->sections[i],
					"the name of a job section is accepted");
	}
	return 0;
}

/* The jobs, or NULL if something failed on the way. */
static struct lab_jobs *reader_end(struct reader *r, int ret, const char *file)
{
	struct fio_pool *pool = r->p.pool;

	if (ret >= 0)
		ret = check_wanted(r, file);
	if (ret < 0) {
		fio_pool_free(pool);
		return NULL;
	}
	number_jobs(r);
	return r->p.jobs;
}

struct lab_jobs *lab_jobs_read(const char *const *paths, unsigned int nr_paths,
			       const struct lab_jobs_options *opt, char *err, size_t err_bytes)
{
	struct reader *r = reader_new(opt, err, err_bytes);
	unsigned int i;
	int ret = 0;

	for (i = 0; i < nr_paths && ret >= 0; i++) {
		r->script = (struct fio_script){.pool = r->p.pool};
		ret = fio_script_read(&r->script, paths[i], &r->p.err);
		if (ret >= 0)
			ret = add_script(r, paths[i]);
	}
	return reader_end(r, ret, nr_paths ? paths[nr_paths - 1] : "");
}

struct lab_jobs *lab_jobs_parse(const char *text, size_t bytes, const char *name,
				const struct lab_jobs_options *opt, char *err, size_t err_bytes)
{
	struct reader *r = reader_new(opt, err, err_bytes);
	int ret;

	r->script = (struct fio_script){.pool = r->p.pool};
	ret = fio_script_text(&r->script, text, bytes, name, &r->p.err);
	if (ret >= 0)
		ret = add_script(r, name);
	return reader_end(r, ret, name);
}

void lab_jobs_free(struct lab_jobs *jobs)
{
	if (jobs)
		fio_pool_free(jobs->pool);
}
