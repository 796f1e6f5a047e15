/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options of a job: one table says for each its name, what it takes, where that goes and what it
 * means. The parser, its complaints and the tests of the manual are driven by it.
 */
#ifndef LAB_FIO_OPTION_H
#define LAB_FIO_OPTION_H

#include "lab/fio_number.h"
#include "lab/fio_script.h"
#include "lab/job.h"

/* Options in the table, at most: room for "where was it given" in each job. */
#define FIO_OPTIONS_MAX 320
#define FIO_JOBS_MAX 16384 /* with clones */
#define FIO_BS_MAX (UINT64_C(1) << 30)

/* A job while it is read: what lab_job keeps, and what only leads to it. Strings are the pool's. */
struct fio_job {
	struct lab_job job;
	uint32_t numjobs;
	bool new_group, stonewall;
	char *wait_for;
	bool kb_1000;
	bool fill_device;
	bool no_effect;		      /* where values go that are checked and not used */
	uint32_t nr_names;	      /* of files in filename= */
	uint64_t bs[LAB_NR_JOB_DIRS]; /* bs= */
	uint64_t range_min[LAB_NR_JOB_DIRS],
		range_max[LAB_NR_JOB_DIRS]; /* bsrange=; 0: not given */
	uint64_t rate_min[LAB_NR_JOB_DIRS], rate_iops_min[LAB_NR_JOB_DIRS];
	const char *engine_cannot_run;		     /* why, of the last ioengine= */
	const struct fio_line *set[FIO_OPTIONS_MAX]; /* by option: who gave it last, or NULL */
};

enum fio_type {
	FIO_U8,
	FIO_U32,
	FIO_U64,
	FIO_SIZE_PERCENT, /* uint64_t, bytes; or percent, into at2 (uint32_t) */
	FIO_TIME_S,	  /* uint64_t, ns; seconds if no unit is given */
	FIO_TIME_US,
	FIO_BOOL,
	FIO_NOT, /* bool, stored the other way round */
	FIO_WORD_BOOL,
	FIO_TEXT,
	FIO_SIZE_3,    /* uint64_t[3]: read,write,trim */
	FIO_COUNT_3,   /* the same, not bytes */
	FIO_PERCENT_3, /* uint32_t[3] */
	FIO_CUSTOM,    /* set() parses */
	FIO_PLAIN,     /* nothing that a simulated disk could see; not worth a word */
	FIO_NO_EFFECT, /* reported as ignored */
	FIO_NOTED,     /* the same, and since it changes a run, with a note */
	FIO_CANNOT,    /* unless it is 0, the job can't run: help says why */
};

struct fio_word {
	const char *name;
	uint32_t value;
};

struct fio_parser;

struct fio_option {
	const char *name, *alias;
	enum fio_type type;
	size_t at, at2; /* offsets in struct fio_job */
	uint64_t min, max;
	const struct fio_word *words; /* FIO_WORD_BOOL: up to an entry without a name */
	/* FIO_CUSTOM: value is a copy to cut up. 0, or -1 after fio_expected(). */
	int (*set)(struct fio_parser *p, struct fio_job *j, char *value);
	const char *help;
};

extern const struct fio_option fio_options[];
extern const unsigned int fio_nr_options;

/* Index in the table, by name or alias; -1. */
int fio_option_find(const char *name);
/* The option that a misspelt name probably meant, or NULL. */
const char *fio_option_near(const char *name);

/* Reading one run: what all its files share. */
struct fio_parser {
	struct fio_pool *pool;
	struct fio_error err;
	const struct fio_line *at;   /* the option that is being set */
	bool noted[FIO_OPTIONS_MAX]; /* by option: it is in the list of ignored ones */
	bool weight_noted;
	struct lab_jobs *jobs; /* takes ignored options and notes */
	unsigned int nr_unknown;
};

/*
 * The option at p->at does not have the form; says what would be accepted. Returns -1.
 */
int fio_expected(struct fio_parser *p, const char *accept, ...)
	__attribute__((format(printf, 2, 3)));
/* The same for an option that was fine on its own, when seen with the others. */
int fio_conflict(struct fio_parser *p, const struct fio_job *j, const char *option,
		 const char *accept, ...) __attribute__((format(printf, 4, 5)));
void fio_note(struct fio_parser *p, const struct fio_line *at, const char *text, ...)
	__attribute__((format(printf, 3, 4)));

void fio_job_init(struct fio_job *j);
/* Who gave an option, or NULL. */
const struct fio_line *fio_given(const struct fio_job *j, const char *option);
/* Sets p->at on j. 0, or -1 after a complaint. */
int fio_option_apply(struct fio_parser *p, struct fio_job *j);
/* All options have been set: defaults, what contradicts, what can't run. The same. */
int fio_job_finish(struct fio_parser *p, struct fio_job *j);

/* Parsers of single options. */
int fio_set_name(struct fio_parser *p, struct fio_job *j, char *value);
int fio_set_rw(struct fio_parser *p, struct fio_job *j, char *value);
int fio_set_rwmixwrite(struct fio_parser *p, struct fio_job *j, char *value);
int fio_set_bsrange(struct fio_parser *p, struct fio_job *j, char *value);
int fio_set_bssplit(struct fio_parser *p, struct fio_job *j, char *value);
int fio_set_distribution(struct fio_parser *p, struct fio_job *j, char *value);
int fio_set_percentiles(struct fio_parser *p, struct fio_job *j, char *value);
int fio_set_randseed(struct fio_parser *p, struct fio_job *j, char *value);
int fio_set_engine(struct fio_parser *p, struct fio_job *j, char *value);
int fio_set_filename(struct fio_parser *p, struct fio_job *j, char *value);
int fio_set_filesize(struct fio_parser *p, struct fio_job *j, char *value);
int fio_set_startdelay(struct fio_parser *p, struct fio_job *j, char *value);
int fio_set_offset_increment(struct fio_parser *p, struct fio_job *j, char *value);
int fio_set_cgroup(struct fio_parser *p, struct fio_job *j, char *value);
int fio_set_cgroup_weight(struct fio_parser *p, struct fio_job *j, char *value);
int fio_set_zonemode(struct fio_parser *p, struct fio_job *j, char *value);

/* p->at has no effect here: could fio read it? 0, or -1 after a complaint. */
int fio_check_form(struct fio_parser *p, const struct fio_job *j);

/*
 * Cuts a list at each of the separators: the next field (trimmed), or NULL behind the last. Unlike
 * strtok(), empty fields count. *rest is the list at first, and NULL at the end.
 */
char *fio_field(char **rest, const char *separators);

#endif
