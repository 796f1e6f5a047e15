// SPDX-License-Identifier: GPL-2.0-only
/* Tables and verdicts for people, within 100 columns. */
#include <math.h>
#include <string.h>

#include "cli/reproduce/reproduce.h"
#include "lab/report.h"

enum {
	NAME_COLUMNS = 20,
	CELL_COLUMNS = 8,
	TEXT_COLUMNS = 68,
};

static void print_cells(FILE *out, const struct repro_table *t, const double *value)
{
	unsigned int c;

	for (c = 0; c < t->nr_columns; c++) {
		if (value[c] < 0)
			fprintf(out, " %*s", CELL_COLUMNS - 1, "-");
		else
			fprintf(out, " %*.*f", CELL_COLUMNS - 1, (int)t->column[c].decimals,
				value[c]);
	}
	fputc('\n', out);
}

static const struct repro_published *published_of(const struct repro_table *t, const char *label)
{
	unsigned int n;

	for (n = 0; n < t->nr_published; n++)
		if (!strcmp(t->published[n].policy, label))
			return &t->published[n];
	return NULL;
}

/* A policy with its published figures takes a line for its name and one for each. */
static void print_row(FILE *out, const struct repro_table *t, const struct repro_row *row)
{
	const struct repro_published *p = published_of(t, row->label);
	const char *name = row->label;

	if (p || strlen(row->label) > NAME_COLUMNS) {
		fprintf(out, "%s\n", row->label);
		if (p) {
			fprintf(out, "%-*s", NAME_COLUMNS, "  published");
			print_cells(out, t, p->value);
		}
		name = "  simulated";
	}
	fprintf(out, "%-*s", NAME_COLUMNS, name);
	print_cells(out, t, row->value);
}

static void print_table(FILE *out, const struct repro_result *r)
{
	const struct repro_table *t = r->table;
	char title[512];
	unsigned int n;

	snprintf(title, sizeof(title), "%s  %s", t->name, t->title);
	report_wrapped(out, title);
	fprintf(out, "%-*s", NAME_COLUMNS, "policy");
	for (n = 0; n < t->nr_columns; n++)
		fprintf(out, " %*s", CELL_COLUMNS - 1, t->column[n].title);
	fputc('\n', out);
	for (n = 0; n < r->nr_rows; n++)
		print_row(out, t, &r->row[n]);
	fputc('\n', out);
}

static const char *mark(const struct repro_verdict *v)
{
	if (repro_holds(v))
		return "holds";
	return v->closed_by ? "closed" : "MISSED";
}

static void print_verdict(FILE *out, const struct repro_verdict *v)
{
	fprintf(out, "%-6s  %-8s  %-*s %9.3f\n", mark(v), v->better ? "better" : "faithful",
		TEXT_COLUMNS, v->text, v->value);
	if (!repro_holds(v) && v->closed_by)
		fprintf(out, "                  why: docs/fidelity.md, %s\n", v->closed_by);
}

void repro_print(FILE *out, const struct repro_report *r)
{
	unsigned int n;

	fprintf(out, "Thread %s: %s\n\n", r->thread->id, r->thread->title);
	for (n = 0; n < r->nr_results; n++)
		print_table(out, &r->result[n]);
	for (n = 0; n < r->nr_verdicts; n++)
		print_verdict(out, &r->verdict[n]);
	if (r->nr_verdicts)
		fputc('\n', out);
}
