// SPDX-License-Identifier: GPL-2.0-only
/* What report.c prints, as one JSON object: weir-reproduce(1) describes it. */
#include <math.h>
#include <string.h>

#include "cli/reproduce/reproduce.h"
#include "lab/report_json.h"

/* Of printing; values have been rounded to fewer digits before. */
#define PRECISION 15

static json_t *number(double value)
{
	return isfinite(value) ? report_real(value) : json_null();
}

static json_t *cells(const struct repro_table *t, const double *value)
{
	json_t *o = json_object();
	unsigned int c;

	for (c = 0; c < t->nr_columns; c++)
		report_set(o, t->column[c].title, value[c] < 0 ? json_null() : number(value[c]));
	return o;
}

static json_t *row_json(const struct repro_table *t, const struct repro_row *row)
{
	json_t *o = json_object(), *published = NULL;
	unsigned int n;

	for (n = 0; n < t->nr_published; n++)
		if (!strcmp(t->published[n].policy, row->label))
			published = cells(t, t->published[n].value);
	report_set(o, "policy", report_text(row->label));
	report_set(o, "published", published ? published : json_null());
	report_set(o, "simulated", cells(t, row->value));
	return o;
}

static json_t *table_json(const struct repro_result *r)
{
	json_t *o = json_object(), *rows = json_array();
	unsigned int n;

	for (n = 0; n < r->nr_rows; n++)
		report_push(rows, row_json(r->table, &r->row[n]));
	report_set(o, "name", report_text(r->table->name));
	report_set(o, "title", report_text(r->table->title));
	report_set(o, "rows", rows);
	return o;
}

static json_t *verdict_json(const struct repro_verdict *v)
{
	json_t *o = json_object();

	report_set(o, "kind", report_text(v->better ? "better" : "faithful"));
	report_set(o, "text", report_text(v->text));
	report_set(o, "value", number(v->value));
	report_set(o, "low", number(v->low));
	report_set(o, "high", number(v->high));
	report_set(o, "holds", json_boolean(repro_holds(v)));
	report_set(o, "closed_by",
		   !repro_holds(v) && v->closed_by ? report_text(v->closed_by) : json_null());
	return o;
}

static json_t *thread_json(const struct repro_report *r)
{
	json_t *o = json_object(), *tables = json_array(), *verdicts = json_array();
	unsigned int n;

	for (n = 0; n < r->nr_results; n++)
		report_push(tables, table_json(&r->result[n]));
	for (n = 0; n < r->nr_verdicts; n++)
		report_push(verdicts, verdict_json(&r->verdict[n]));
	report_set(o, "thread", report_text(r->thread->id));
	report_set(o, "title", report_text(r->thread->title));
	report_set(o, "tables", tables);
	report_set(o, "verdicts", verdicts);
	return o;
}

void repro_print_json(FILE *out, const struct repro_report *r, unsigned int nr, uint64_t seed)
{
	json_t *o = json_object(), *threads = json_array();
	unsigned int n;

	for (n = 0; n < nr; n++)
		report_push(threads, thread_json(&r[n]));
	report_set(o, "weir version", report_text(WEIR_VERSION));
	report_set(o, "seed", report_integer(seed));
	report_set(o, "threads", threads);
	json_dumpf(o, out, JSON_INDENT(2) | JSON_REAL_PRECISION(PRECISION));
	fputc('\n', out);
	json_decref(o);
}
