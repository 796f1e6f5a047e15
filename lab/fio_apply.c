// SPDX-License-Identifier: GPL-2.0-only
/*
 * Setting options: what the table says becomes a value in the job, or a complaint that tells what
 * the table accepts.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lab/fio_option.h"

/* A text with more distinct unknown options than fio has known ones is no job file. */
#define UNKNOWN_MAX 1024

/* Room for a phrase that lists some words. */
#define PHRASE_BYTES 512

int fio_option_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < fio_nr_options; i++)
		if (!strcmp(name, fio_options[i].name) ||
		    (fio_options[i].alias && !strcmp(name, fio_options[i].alias)))
			return (int)i;
	return -1;
}

char *fio_field(char **rest, const char *separators)
{
	char *field = *rest, *end;

	if (!field)
		return NULL;
	end = strpbrk(field, separators);
	*rest = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return fio_trim(field);
}

/* ---- complaints and notes ---- */

static int complain(struct fio_parser *p, const struct fio_line *at, const char *accept)
{
	const char *shown = at->raw ? at->raw : "";
	size_t bytes = strlen(at->name) + strlen(shown) + 2;
	char *quoted = fio_pool_alloc(p->pool, bytes);
	bool empty = at->value && !*at->value && *shown;

	snprintf(quoted, bytes, "%s%s%s", at->name, at->value ? "=" : "", shown);
	return fio_fail(&p->err, at->file, at->line, quoted, "%s%s", accept,
			empty ? "; the variable is not set" : "");
}

int fio_expected(struct fio_parser *p, const char *accept, ...)
{
	char text[PHRASE_BYTES + 64];
	va_list args;

	va_start(args, accept);
	vsnprintf(text, sizeof(text), accept, args);
	va_end(args);
	return complain(p, p->at, text);
}

const struct fio_line *fio_given(const struct fio_job *j, const char *option)
{
	int index = fio_option_find(option);

	return index < 0 ? NULL : j->set[index];
}

int fio_conflict(struct fio_parser *p, const struct fio_job *j, const char *option,
		 const char *accept, ...)
{
	const struct fio_line *at = fio_given(j, option);
	char text[PHRASE_BYTES];
	va_list args;

	va_start(args, accept);
	vsnprintf(text, sizeof(text), accept, args);
	va_end(args);
	if (!at)
		return fio_fail(&p->err, j->job.file, j->job.line, j->job.name, "%s", text);
	return complain(p, at, text);
}

void fio_note(struct fio_parser *p, const struct fio_line *at, const char *text, ...)
{
	struct lab_jobs *jobs = p->jobs;
	char line[PHRASE_BYTES];
	int used = snprintf(line, sizeof(line), "%.200s:%d: ", at->file, at->line);
	va_list args;

	va_start(args, text);
	vsnprintf(line + used, sizeof(line) - (size_t)used, text, args);
	va_end(args);
	jobs->note = fio_pool_grow(p->pool, jobs->note, jobs->nr_notes, sizeof(*jobs->note));
	jobs->note[jobs->nr_notes++] = fio_pool_strdup(p->pool, line);
}

static void add_ignored(struct fio_parser *p)
{
	struct lab_jobs *jobs = p->jobs;
	size_t bytes = strlen(p->at->file) + strlen(p->at->name) + 32;
	char *line = fio_pool_alloc(p->pool, bytes);

	snprintf(line, bytes, "%s:%d: %s", p->at->file, p->at->line, p->at->name);
	jobs->ignored = fio_pool_grow(p->pool, jobs->ignored, jobs->nr_ignored,
				      sizeof(*jobs->ignored));
	jobs->ignored[jobs->nr_ignored++] = line;
}

/*
 * Is b what a typing error makes of a: one letter more, less, other, or two swapped? Longer names
 * may have two such errors.
 */
static bool is_near(const char *a, const char *b, unsigned int errors)
{
	for (; *a && *a == *b; a++, b++)
		;
	if (!*a && !*b)
		return true;
	if (!errors)
		return false;
	errors--;
	if (*a && is_near(a + 1, b, errors))
		return true;
	if (*b && is_near(a, b + 1, errors))
		return true;
	if (*a && *b && is_near(a + 1, b + 1, errors))
		return true;
	return *a && *b && a[0] == b[1] && a[1] == b[0] && is_near(a + 2, b + 2, errors);
}

const char *fio_option_near(const char *name)
{
	unsigned int errors, allowed = strlen(name) >= 8 ? 2 : 1, i;

	for (errors = 1; errors <= allowed; errors++)
		for (i = 0; i < fio_nr_options; i++)
			if (is_near(name, fio_options[i].name, errors))
				return fio_options[i].name;
	return NULL;
}

static int unknown(struct fio_parser *p)
{
	const struct lab_jobs *jobs = p->jobs;
	const char *near, *seen;
	unsigned int i;

	for (i = 0; i < jobs->nr_ignored; i++) {
		seen = strrchr(jobs->ignored[i], ' ');
		if (!strcmp(seen + 1, p->at->name))
			return 0;
	}
	if (++p->nr_unknown > UNKNOWN_MAX)
		return fio_expected(p,
				    "this is the %dth name that is no option of fio: job files "
				    "are accepted",
				    UNKNOWN_MAX + 1);
	add_ignored(p);
	near = fio_option_near(p->at->name);
	if (near)
		fio_note(p, p->at, "%s is not an option of fio: is %s meant?", p->at->name, near);
	return 0;
}

/* ---- values by type ---- */

/* " from 1 to 7", " of at least 1", or nothing: the largest size is no range that anybody misses.
 */
static const char *range_phrase(const struct fio_option *o, char *room, size_t bytes)
{
	if (o->max != FIO_SIZE_MAX)
		snprintf(room, bytes, " from %" PRIu64 " to %" PRIu64, o->min, o->max);
	else if (o->min)
		snprintf(room, bytes, " of at least %" PRIu64, o->min);
	else
		room[0] = '\0';
	return room;
}

static int expected_number(struct fio_parser *p, const struct fio_option *o)
{
	char range[64];

	return fio_expected(p, "a whole number%s is accepted",
			    range_phrase(o, range, sizeof(range)));
}

static int expected_size(struct fio_parser *p, const struct fio_option *o)
{
	char range[64];

	return fio_expected(p, "a size%s is accepted, such as 4096, 64k or 1g, or 1%% to 100%%",
			    range_phrase(o, range, sizeof(range)));
}

static int expected_three(struct fio_parser *p, const struct fio_option *o)
{
	bool size = o->type == FIO_SIZE_3;
	char range[64];

	return fio_expected(p, "up to three %s%s are accepted, for reads,writes,trims, such as %s",
			    size ? "sizes" : "numbers", range_phrase(o, range, sizeof(range)),
			    size ? "4096 or 64k,8k" : "50 or 80,20");
}

static bool in_range(const struct fio_option *o, uint64_t value)
{
	return value >= o->min && value <= o->max;
}

static int set_number(struct fio_parser *p, struct fio_job *j, const struct fio_option *o,
		      const char *value)
{
	char *field = (char *)j + o->at;
	uint64_t number;

	if (!fio_number(value, j->kb_1000, &number) || !in_range(o, number))
		return expected_number(p, o);
	if (o->type == FIO_U8)
		*(uint8_t *)field = (uint8_t)number;
	else if (o->type == FIO_U32)
		*(uint32_t *)field = (uint32_t)number;
	else
		*(uint64_t *)field = number;
	return 0;
}

static int set_size_percent(struct fio_parser *p, struct fio_job *j, const struct fio_option *o,
			    char *value)
{
	uint64_t *bytes = (uint64_t *)((char *)j + o->at), number;
	uint32_t *percent = (uint32_t *)((char *)j + o->at2);
	size_t nr = strlen(value);
	char unit = nr ? value[nr - 1] : '\0';

	if (unit == '%' || unit == 'z' || unit == 'Z')
		value[nr - 1] = '\0';
	if (unit == '%') {
		if (!fio_number(value, j->kb_1000, &number) || number < 1 || number > 100)
			return expected_size(p, o);
		*percent = (uint32_t)number;
		*bytes = 0;
		return 0;
	}
	if (!fio_number(value, j->kb_1000, &number) || !in_range(o, number))
		return expected_size(p, o);
	if (unit == 'z' || unit == 'Z')
		j->job.cannot_run = "a size is given in zones, and zoned devices are not modelled";
	*bytes = unit == 'z' || unit == 'Z' ? 0 : number;
	*percent = 0;
	return 0;
}

static int set_time(struct fio_parser *p, struct fio_job *j, const struct fio_option *o,
		    const char *value)
{
	bool seconds = o->type == FIO_TIME_S;
	uint64_t *field = (uint64_t *)((char *)j + o->at);

	if (!fio_time(value, seconds ? 1000000000 : 1000, field))
		return fio_expected(p,
				    "a time is accepted, such as 500us, 20ms, 10s or 2m; without a "
				    "unit it is %s",
				    seconds ? "seconds" : "microseconds");
	return 0;
}

static int set_bool(struct fio_parser *p, struct fio_job *j, const struct fio_option *o,
		    const char *value)
{
	uint64_t number = 1;

	if (p->at->value && (!fio_number(value, false, &number) || number > 1))
		return fio_expected(p, "0 or 1 is accepted");
	*(bool *)((char *)j + o->at) = (o->type == FIO_NOT) != (number == 1);
	return 0;
}

static int set_word(struct fio_parser *p, struct fio_job *j, const struct fio_option *o,
		    const char *value)
{
	const struct fio_word *w;
	char list[PHRASE_BYTES] = "";
	size_t used = 0;

	for (w = o->words; w->name; w++) {
		if (!strcmp(w->name, value)) {
			*(bool *)((char *)j + o->at) = w->value;
			return 0;
		}
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
					 !used	     ? ""
					 : w[1].name ? ", "
						     : " or ",
					 w->name);
	}
	return fio_expected(p, "%s is accepted", list);
}

/*
 * Up to three values, for reads, writes and trims. An empty one leaves what was set before, a
 * missing one does as the one before it.
 */
static int set_three(struct fio_parser *p, struct fio_job *j, const struct fio_option *o,
		     char *value)
{
	bool given[LAB_NR_JOB_DIRS], present = false, any = false;
	uint64_t numbers[LAB_NR_JOB_DIRS], number = 0;
	bool percent = o->type == FIO_PERCENT_3;
	char *rest = value, *field;
	unsigned int dir;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		field = fio_field(&rest, ",");
		if (field) {
			present = *field;
			if (present &&
			    (!fio_number(field, j->kb_1000, &number) || !in_range(o, number)))
				break;
		}
		any |= present;
		given[dir] = present;
		numbers[dir] = number;
	}
	if (dir < LAB_NR_JOB_DIRS || rest || !any)
		return expected_three(p, o);
	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		if (given[dir] && percent)
			((uint32_t *)((char *)j + o->at))[dir] = (uint32_t)numbers[dir];
		else if (given[dir])
			((uint64_t *)((char *)j + o->at))[dir] = numbers[dir];
	}
	return 0;
}

static int set_text(struct fio_parser *p, struct fio_job *j, const struct fio_option *o,
		    char *value)
{
	if (!*value)
		return fio_expected(p, "a name is accepted");
	*(char **)((char *)j + o->at) = value;
	return 0;
}

/* ---- one option ---- */

static bool is_off(const char *value)
{
	return value && (!strcmp(value, "0") || !strcasecmp(value, "none"));
}

static int set_unused(struct fio_parser *p, struct fio_job *j, const struct fio_option *o,
		      unsigned int index)
{
	if (o->type != FIO_NO_EFFECT && is_off(p->at->value))
		return 0;
	if (o->type == FIO_CANNOT) {
		if (!j->job.cannot_run)
			j->job.cannot_run = o->help;
		return 0;
	}
	if (p->noted[index])
		return 0;
	p->noted[index] = true;
	add_ignored(p);
	if (o->type == FIO_NOTED)
		fio_note(p, p->at, "%s has no effect here: %s", o->name, o->help);
	return 0;
}

static int set_value(struct fio_parser *p, struct fio_job *j, const struct fio_option *o,
		     char *value)
{
	switch (o->type) {
	case FIO_U8:
	case FIO_U32:
	case FIO_U64:
		return set_number(p, j, o, value);
	case FIO_SIZE_PERCENT:
		return set_size_percent(p, j, o, value);
	case FIO_TIME_S:
	case FIO_TIME_US:
		return set_time(p, j, o, value);
	case FIO_BOOL:
	case FIO_NOT:
		return set_bool(p, j, o, value);
	case FIO_WORD_BOOL:
		return set_word(p, j, o, value);
	case FIO_TEXT:
		return set_text(p, j, o, value);
	case FIO_SIZE_3:
	case FIO_COUNT_3:
	case FIO_PERCENT_3:
		return set_three(p, j, o, value);
	case FIO_CUSTOM:
		return o->set(p, j, value);
	default:
		return 0;
	}
}

int fio_option_apply(struct fio_parser *p, struct fio_job *j)
{
	int index = fio_option_find(p->at->name);
	const struct fio_option *o;
	int ret = 0;

	if (index < 0)
		return unknown(p);
	o = &fio_options[index];
	if (o->type >= FIO_PLAIN && fio_check_form(p, j) < 0)
		return -1;
	if (o->type >= FIO_NO_EFFECT)
		return set_unused(p, j, o, (unsigned int)index);
	if (o->type != FIO_PLAIN) {
		/* Setters cut their value up; complaints quote it whole. */
		ret = set_value(p, j, o,
				fio_pool_strdup(p->pool, p->at->value ? p->at->value : ""));
	}
	j->set[index] = p->at;
	return ret;
}
