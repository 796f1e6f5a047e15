// SPDX-License-Identifier: GPL-2.0-only
/* Tables are run, row by row: every policy on each of a table's workloads. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/reproduce/reproduce.h"

/* ---- the rows: the thread's policies, all others, weir last ---- */

static bool is_named(const struct lab_policies *p, const struct weir_policy *policy)
{
	unsigned int n;

	for (n = 0; n < p->nr; n++)
		if (p->choice[n].policy == policy)
			return true;
	return false;
}

static bool add_others(struct lab_policies *p, char *err, size_t err_bytes)
{
	const struct weir_policy *policy, *weir = weir_policy_find("weir");
	unsigned int n;

	for (n = 0; (policy = weir_policy_at(n)); n++)
		if (policy != weir && !is_named(p, policy) &&
		    !lab_policies_parse(weir_policy_info(policy)->name, p, err, err_bytes))
			return false;
	return is_named(p, weir) || lab_policies_parse("weir", p, err, err_bytes);
}

static bool rows_of(const struct repro_table *t, const char *only, struct lab_policies *out,
		    char *err, size_t err_bytes)
{
	if (only)
		return lab_policies_parse(only, out, err, err_bytes);
	return lab_policies_parse(t->policies, out, err, err_bytes) &&
	       (!t->others || add_others(out, err, err_bytes));
}

unsigned int repro_count_runs(const struct repro_thread *thread, const char *only)
{
	unsigned int n, sum = 0;
	char err[256];

	for (n = 0; thread->table[n]; n++) {
		struct lab_policies p = {0};

		if (rows_of(thread->table[n], only, &p, err, sizeof(err)))
			sum += p.nr * thread->table[n]->nr_runs;
		lab_policies_free(&p);
	}
	return sum;
}

/* ---- a run ---- */

struct workload {
	struct lab_jobs *jobs;
	struct lab_groups *groups;
	struct lab_builtin builtin;
	struct lab_settings settings;
	bool is_builtin;
};

/* Job files take them from the environment, as fio does. */
static void set_variable(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static bool load(const struct repro_run *run, struct workload *w, char *err, size_t err_bytes)
{
	const char *section[] = {run->section};
	struct lab_jobs_options opt = {.sections = section, .nr_sections = 1};

	w->is_builtin = !strncmp(run->job, LAB_BUILTIN_PREFIX, strlen(LAB_BUILTIN_PREFIX));
	set_variable("RW", run->rw);
	set_variable("DEPTH", run->depth);
	if (w->is_builtin)
		w->jobs = lab_builtin_jobs(run->job, &w->builtin, err, err_bytes);
	else
		w->jobs = lab_jobs_parse(run->job, strlen(run->job), "job",
					 run->section ? &opt : NULL, err, err_bytes);
	if (!w->jobs)
		return false;
	w->groups = lab_groups_build_text(w->jobs, run->groups, "groups", err, err_bytes);
	return w->groups &&
	       (!run->host || lab_settings_parse(run->host, &w->settings, err, err_bytes));
}

static void unload(struct workload *w)
{
	lab_groups_free(w->groups);
	lab_jobs_free(w->jobs);
}

/* Fills in the columns that are about that run. */
static bool run_one(const struct repro_table *t, unsigned int n, const struct lab_policy_choice *p,
		    uint64_t seed, struct lab_progress *progress, struct repro_row *row, char *err,
		    size_t err_bytes)
{
	struct workload w = {0};
	struct lab_sim_spec spec = {
		.device = t->run[n].device, .policy = p, .seed = seed, .progress = progress};
	struct lab_sim_result *r = NULL;
	bool stuck;
	unsigned int c;

	if (load(&t->run[n], &w, err, err_bytes)) {
		spec.jobs = w.jobs;
		spec.groups = w.groups;
		spec.builtin = w.is_builtin ? &w.builtin : NULL;
		spec.settings = &w.settings;
		lab_progress_run(progress, p->label, spec.device);
		r = lab_sim_run(&spec, &stuck, err, err_bytes);
	}
	for (c = 0; r && c < t->nr_columns; c++)
		if (t->column[c].run == n)
			row->value[c] = t->column[c].figure(r, t->column[c].arg);
	lab_sim_result_free(r);
	unload(&w);
	return r != NULL;
}

static bool run_table(const struct repro_table *t, const char *only, uint64_t seed,
		      struct lab_progress *progress, struct repro_result *out, char *err,
		      size_t err_bytes)
{
	struct lab_policies p = {0};
	bool good = rows_of(t, only, &p, err, err_bytes);
	unsigned int i, n;

	out->table = t;
	if (good && p.nr > REPRO_ROWS_MAX) {
		snprintf(err, err_bytes, "--policy: %u policies: accepted are %d at once", p.nr,
			 REPRO_ROWS_MAX);
		good = false;
	}
	for (i = 0; good && i < p.nr; i++) {
		out->row[i].label = strdup(p.choice[i].label);
		out->nr_rows++;
		for (n = 0; good && n < t->nr_runs; n++)
			good = run_one(t, n, &p.choice[i], seed, progress, &out->row[i], err,
				       err_bytes);
	}
	lab_policies_free(&p);
	return good;
}

bool repro_run_thread(const struct repro_thread *thread, const char *only, uint64_t seed,
		      struct lab_progress *progress, struct repro_report *out, char *err,
		      size_t err_bytes)
{
	unsigned int n;

	*out = (struct repro_report){.thread = thread};
	for (n = 0; thread->table[n]; n++) {
		out->nr_results++;
		if (!run_table(thread->table[n], only, seed, progress, &out->result[n], err,
			       err_bytes))
			return false;
	}
	if (!only)
		thread->judge(out);
	return true;
}

void repro_free(struct repro_report *r)
{
	unsigned int n, i;

	for (n = 0; n < r->nr_results; n++)
		for (i = 0; i < r->result[n].nr_rows; i++)
			free(r->result[n].row[i].label);
	r->nr_results = 0;
}

/* ---- for the verdicts ---- */

static const struct repro_row *find_row(const struct repro_report *r, const char *table,
					const char *row, const struct repro_table **t)
{
	unsigned int n, i;

	for (n = 0; n < r->nr_results; n++) {
		*t = r->result[n].table;
		if (strcmp((*t)->name, table) != 0)
			continue;
		for (i = 0; i < r->result[n].nr_rows; i++)
			if (!strcmp(r->result[n].row[i].label, row))
				return &r->result[n].row[i];
	}
	return NULL;
}

bool repro_has(const struct repro_report *r, const char *table, const char *row)
{
	const struct repro_table *t;

	return find_row(r, table, row, &t) != NULL;
}

double repro_value(const struct repro_report *r, const char *table, const char *row,
		   const char *column)
{
	const struct repro_table *t = NULL;
	const struct repro_row *found = find_row(r, table, row, &t);
	unsigned int c;

	for (c = 0; found && c < t->nr_columns; c++)
		if (!strcmp(t->column[c].title, column))
			return found->value[c];
	fprintf(stderr, "weir reproduce: no table %s, row %s, column %s\n", table, row, column);
	abort();
}

bool repro_holds(const struct repro_verdict *v)
{
	return v->value >= v->low && v->value <= v->high;
}

static void add(struct repro_report *r, const struct repro_verdict *verdict, const char *format,
		va_list args)
{
	struct repro_verdict *v = &r->verdict[r->nr_verdicts];

	if (r->nr_verdicts == REPRO_VERDICTS_MAX)
		abort();
	r->nr_verdicts++;
	*v = *verdict;
	vsnprintf(v->text, sizeof(v->text), format, args);
}

void repro_faithful(struct repro_report *r, double value, double low, double high,
		    const char *closed_by, const char *format, ...)
{
	struct repro_verdict v = {.value = value, .low = low, .high = high, .closed_by = closed_by};
	va_list args;

	va_start(args, format);
	add(r, &v, format, args);
	va_end(args);
}

void repro_better(struct repro_report *r, double value, double low, double high, const char *format,
		  ...)
{
	struct repro_verdict v = {.value = value, .low = low, .high = high, .better = true};
	va_list args;

	va_start(args, format);
	add(r, &v, format, args);
	va_end(args);
}
