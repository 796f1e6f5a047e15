/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * weir reproduce: what five public threads report about I/O schedulers, beside what the lab says.
 *
 * A thread has tables as it published them. A table has runs, each a workload on a modelled device,
 * and columns, each a figure of one of these runs; every policy is a row. Then lines with a verdict
 * are made of the figures: "faithful", a historical policy shows what the thread reports of it; and
 * "better", the weir policy does what it must in the same runs.
 *
 *	thread_NNN.c	workloads, published figures and verdicts of one thread
 *	figures.c	a figure of a run
 *	run.c		tables are run
 *	report.c	tables and verdicts for people; report_json.c the same for programs
 *
 * The published numbers and what is known of the workloads come from the threads themselves; each
 * file says which parts of a workload are assumed.
 */
#ifndef CLI_REPRODUCE_H
#define CLI_REPRODUCE_H

#include "lab/sim.h"

enum {
	REPRO_RUNS_MAX = 8,
	REPRO_COLUMNS_MAX = 10,
	REPRO_ROWS_MAX = 32,
	REPRO_TABLES_MAX = 12,
	REPRO_VERDICTS_MAX = 64,
};

/* A figure of a run. arg: path of a group, where it is about one. */
typedef double repro_figure(const struct lab_sim_result *r, const char *arg);

struct repro_run {
	const char *job;     /* text of a job file, or "builtin:..." */
	const char *section; /* only this one, or NULL */
	const char *rw;	     /* ${RW} of the job file, or NULL */
	const char *depth;   /* ${DEPTH} */
	const char *groups;  /* INI text, or NULL */
	const char *device;
	const char *host; /* as --host, or NULL */
};

struct repro_column {
	const char *title; /* of at most 7 letters; the unit stands in the table's */
	unsigned int run;
	repro_figure *figure;
	const char *arg;
	unsigned int decimals;
};

/* What the thread says. A value below 0: nothing. */
struct repro_published {
	const char *policy; /* a label of `policies` */
	double value[REPRO_COLUMNS_MAX];
};

struct repro_table {
	const char *name, *title;
	const struct repro_run *run;
	unsigned int nr_runs;
	const struct repro_column *column;
	unsigned int nr_columns;
	const char *policies; /* the thread's, as --policy */
	bool others;	      /* and then all others, weir last */
	const struct repro_published *published;
	unsigned int nr_published;
};

/* A table that was run. */
struct repro_row {
	char *label;
	double value[REPRO_COLUMNS_MAX];
};

struct repro_result {
	const struct repro_table *table;
	struct repro_row row[REPRO_ROWS_MAX];
	unsigned int nr_rows;
};

struct repro_verdict {
	char text[128];
	double value, low, high; /* it holds if low <= value <= high */
	bool better;		 /* else faithful */
	/* Why a faithful line does not hold, and where docs/fidelity.md shows it; or NULL. */
	const char *closed_by;
};

struct repro_report;

struct repro_thread {
	const char *id, *title;
	const struct repro_table *const *table; /* ends with NULL */
	void (*judge)(struct repro_report *r);
};

/* All tables of a thread, and what follows from them. */
struct repro_report {
	const struct repro_thread *thread;
	struct repro_result result[REPRO_TABLES_MAX];
	unsigned int nr_results;
	struct repro_verdict verdict[REPRO_VERDICTS_MAX];
	unsigned int nr_verdicts;
};

extern const struct repro_thread repro_thread_000, repro_thread_001, repro_thread_004;

/* ---- figures.c ---- */

repro_figure repro_iops, repro_mb_per_s, repro_mean_ms, repro_max_ms, repro_p99_us, repro_received,
	repro_of_entitled, repro_share_error, repro_wait_bound, repro_merges, repro_device_ios,
	repro_fsyncs;

/* ---- run.c ---- */

/*
 * Runs all tables of the thread, and judges. only: instead of the policies of each table, as
 * --policy; then nothing is judged. False with a line in err.
 */
bool repro_run_thread(const struct repro_thread *thread, const char *only, uint64_t seed,
		      struct lab_progress *progress, struct repro_report *out, char *err,
		      size_t err_bytes);
/* For lab_progress_new(). */
unsigned int repro_count_runs(const struct repro_thread *thread, const char *only);
void repro_free(struct repro_report *r);

/* For judge(): a figure by the names of table, row and column, all of which are there. */
double repro_value(const struct repro_report *r, const char *table, const char *row,
		   const char *column);
/* The row of that policy with its defaults, if the table has it. */
bool repro_has(const struct repro_report *r, const char *table, const char *row);
void repro_faithful(struct repro_report *r, double value, double low, double high,
		    const char *closed_by, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
void repro_better(struct repro_report *r, double value, double low, double high, const char *format,
		  ...) __attribute__((format(printf, 5, 6)));
bool repro_holds(const struct repro_verdict *v);

/* ---- report.c, report_json.c ---- */

void repro_print(FILE *out, const struct repro_report *r);
/* One object with all threads. */
void repro_print_json(FILE *out, const struct repro_report *r, unsigned int nr, uint64_t seed);

#endif
