// SPDX-License-Identifier: GPL-2.0-only
/* Setters of the options that say what the I/O looks like: direction, order, sizes, distribution.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab/fio_option.h"

#define MICRO UINT64_C(1000000)

/* ---- rw ---- */

static const struct {
	const char *name;
	enum lab_rw rw;
	bool random;
} rw_words[] = {
	{"read", LAB_RW_READ, false},
	{"write", LAB_RW_WRITE, false},
	{"trim", LAB_RW_TRIM, false},
	{"randread", LAB_RW_RANDREAD, true},
	{"randwrite", LAB_RW_RANDWRITE, true},
	{"randtrim", LAB_RW_RANDTRIM, true},
	{"rw", LAB_RW_RW, false},
	{"readwrite", LAB_RW_RW, false},
	{"randrw", LAB_RW_RANDRW, true},
	{"trimwrite", LAB_RW_TRIMWRITE, false},
	{"randtrimwrite", LAB_RW_RANDTRIMWRITE, true},
};

static int rw_expected(struct fio_parser *p)
{
	return fio_expected(p, "read, write, trim, randread, randwrite, randtrim, rw, readwrite, "
			       "randrw, trimwrite or randtrimwrite is accepted");
}

/* rw=randread:8 draws a new offset every 8 I/Os; rw=write:4k leaves a hole of 4k behind each. */
int fio_set_rw(struct fio_parser *p, struct fio_job *j, char *value)
{
	char *rest = value, *word = fio_field(&rest, ":");
	size_t i, nr = sizeof(rw_words) / sizeof(rw_words[0]);
	uint64_t every = 0;
	int64_t hole = 0;

	for (i = 0; i < nr && strcmp(word, rw_words[i].name) != 0; i++)
		;
	if (i == nr)
		return rw_expected(p);
	if (rest && rw_words[i].random) {
		if (!fio_number(fio_trim(rest), j->kb_1000, &every) || every > UINT32_MAX)
			return fio_expected(p, "a number of I/Os is accepted behind %s:", word);
	} else if (rest) {
		if (!fio_signed_number(fio_trim(rest), j->kb_1000, &hole))
			return fio_expected(p,
					    "a number of bytes is accepted behind %s:, such as "
					    "8k or -8k",
					    word);
	}
	j->job.rw = rw_words[i].rw;
	j->job.rw_every = (uint32_t)every;
	j->job.rw_hole = hole;
	return 0;
}

int fio_set_rwmixwrite(struct fio_parser *p, struct fio_job *j, char *value)
{
	uint64_t percent;

	if (!fio_number(value, j->kb_1000, &percent) || percent > 100)
		return fio_expected(p, "a whole number from 0 to 100 is accepted");
	j->job.rwmixread = (uint32_t)(100 - percent);
	return 0;
}

int fio_set_randseed(struct fio_parser *p, struct fio_job *j, char *value)
{
	if (!fio_number(value, j->kb_1000, &j->job.randseed))
		return fio_expected(p, "a whole number is accepted, 0 or more");
	j->job.has_randseed = true;
	return 0;
}

/* ---- sizes ---- */

static bool block_size(const char *s, const struct fio_job *j, uint64_t *out)
{
	return fio_number(s, j->kb_1000, out) && *out >= 1 && *out <= FIO_BS_MAX;
}

int fio_set_bsrange(struct fio_parser *p, struct fio_job *j, char *value)
{
	uint64_t min[LAB_NR_JOB_DIRS], max[LAB_NR_JOB_DIRS], from = 0, to = 0;
	char *rest = value, *range, *low;
	unsigned int dir;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		range = fio_field(&rest, ",/");
		if (range) {
			low = fio_field(&range, "-:");
			if (!range || !block_size(low, j, &from) ||
			    !block_size(fio_trim(range), j, &to))
				break;
		}
		min[dir] = from < to ? from : to;
		max[dir] = from < to ? to : from;
	}
	if (dir < LAB_NR_JOB_DIRS || rest)
		return fio_expected(p,
				    "up to three ranges are accepted, for reads,writes,trims, such "
				    "as 4k-64k, within 1 to %" PRIu64 " bytes",
				    FIO_BS_MAX);
	memcpy(j->range_min, min, sizeof(min));
	memcpy(j->range_max, max, sizeof(max));
	return 0;
}

/* Sizes without a percentage share what the others leave. The last of them takes the remainder. */
static bool share_the_rest(uint32_t *percent, const bool *blank, unsigned int nr)
{
	unsigned int i, nr_blank = 0, left = 100, share;

	for (i = 0; i < nr; i++) {
		if (blank[i])
			nr_blank++;
		else if (percent[i] > left)
			return false;
		else
			left -= percent[i];
	}
	if (!nr_blank)
		return !left;
	share = left / nr_blank;
	for (i = 0; i < nr; i++) {
		if (!blank[i])
			continue;
		percent[i] = --nr_blank ? share : left;
		left -= percent[i];
	}
	return true;
}

/* One direction of bssplit: size[/[percent]]:... Returns how many, 0 for a bad one, -1 for the sum.
 */
static int split(struct fio_job *j, char *text, struct lab_split *out)
{
	char *rest = text, *entry, *size;
	uint32_t percents[LAB_SPLIT_MAX];
	bool blank[LAB_SPLIT_MAX];
	uint64_t bytes, percent;
	unsigned int nr, i;

	for (nr = 0; (entry = fio_field(&rest, ":")); nr++) {
		if (nr == LAB_SPLIT_MAX)
			return 0;
		size = fio_field(&entry, "/");
		if (!block_size(size, j, &bytes))
			return 0;
		entry = entry ? fio_trim(entry) : NULL;
		blank[nr] = !entry || !*entry;
		percent = 0;
		if (!blank[nr] && (!fio_number(entry, false, &percent) || percent > 100))
			return 0;
		percents[nr] = (uint32_t)percent;
		out[nr].bytes = (uint32_t)bytes;
	}
	if (!share_the_rest(percents, blank, nr))
		return -1;
	for (i = 0; i < nr; i++)
		out[i].percent = percents[i];
	return (int)nr;
}

int fio_set_bssplit(struct fio_parser *p, struct fio_job *j, char *value)
{
	struct lab_split splits[LAB_SPLIT_MAX];
	char *rest = value, *field;
	bool given = false, any = false;
	unsigned int dir;
	int nr = 0;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		field = fio_field(&rest, ",");
		if (field) {
			given = *field;
			nr = given ? split(j, field, splits) : 1;
		}
		any |= given;
		if (nr < 1)
			break;
		if (!given)
			continue;
		memcpy(j->job.split[dir], splits, (size_t)nr * sizeof(splits[0]));
		j->job.nr_splits[dir] = (uint32_t)nr;
	}
	if (nr < 0)
		return fio_expected(p, "percentages that add up to 100 are accepted");
	if (dir < LAB_NR_JOB_DIRS || rest || !any)
		return fio_expected(p,
				    "up to %d entries of size/percent with : between them are "
				    "accepted, such as 4k/60:64k/40; a comma begins the writes, "
				    "then the trims",
				    LAB_SPLIT_MAX);
	return 0;
}

/* ---- random_distribution ---- */

/* access/span:... ; -1 for a bad one, -2 for sums. */
static int zones(struct lab_zone *out, uint32_t *nr_out, char *text)
{
	char *rest = text, *entry, *access;
	uint32_t spans[LAB_ZONES_MAX];
	bool blank[LAB_ZONES_MAX], any_blank = false;
	uint64_t percent, span;
	unsigned int nr, i, access_sum = 0, span_sum = 0;

	for (nr = 0; (entry = fio_field(&rest, ":")); nr++) {
		if (nr == LAB_ZONES_MAX)
			return -1;
		access = fio_field(&entry, "/");
		if (!fio_number(access, false, &percent) || percent > 100)
			return -1;
		entry = entry ? fio_trim(entry) : NULL;
		blank[nr] = !entry || !*entry;
		any_blank |= blank[nr];
		span = 0;
		if (!blank[nr] && (!fio_number(entry, false, &span) || span < 1 || span > 100))
			return -1;
		spans[nr] = (uint32_t)span;
		span_sum += (unsigned int)span;
		out[nr].access_percent = (uint32_t)percent;
		access_sum += (unsigned int)percent;
	}
	if (access_sum != 100 || span_sum > 100 || (any_blank && !share_the_rest(spans, blank, nr)))
		return -2;
	for (i = 0; i < nr; i++) {
		/* An access that goes to no part of the file is nowhere. */
		if (!spans[i] && out[i].access_percent)
			return -2;
		out[i].span_percent = spans[i];
	}
	*nr_out = nr;
	return 0;
}

static int set_zones(struct fio_parser *p, struct fio_job *j, char *text)
{
	struct lab_job *job = &j->job;
	unsigned int dir;
	int ret = 0;

	for (dir = 0; dir < LAB_NR_JOB_DIRS && !ret; dir++) {
		char *field = fio_field(&text, ",");

		if (field) {
			ret = zones(job->zone[dir], &job->nr_zones[dir], field);
		} else {
			memcpy(job->zone[dir], job->zone[dir - 1], sizeof(job->zone[dir]));
			job->nr_zones[dir] = job->nr_zones[dir - 1];
		}
	}
	if (ret == -2)
		return fio_expected(p, "access percentages that add up to 100 are accepted, over "
				       "spans that add up to 100 at most");
	if (ret || text)
		return fio_expected(p,
				    "zoned: is followed by up to %d entries of access/span in "
				    "percent, such as zoned:60/10:30/20:10/70; a comma begins the "
				    "writes, then the trims",
				    LAB_ZONES_MAX);
	return 0;
}

struct dist_word {
	const char *name;
	enum lab_dist dist;
	uint64_t min_micro, max_micro, default_micro, refused_micro;
	const char *accept;
};

static const struct dist_word dist_words[] = {
	{"random", LAB_DIST_RANDOM, 0, 0, 0, UINT64_MAX, "nothing is accepted behind random"},
	{"zipf", LAB_DIST_ZIPF, 0, 100 * MICRO, 1100000, MICRO,
	 "zipf:theta[:center] is accepted, theta from 0 to 100 except 1, center from 0 to 1"},
	{"pareto", LAB_DIST_PARETO, 1, MICRO - 1, 200000, UINT64_MAX,
	 "pareto:h[:center] is accepted, h between 0 and 1, center from 0 to 1"},
	{"normal", LAB_DIST_NORMAL, 0, 100 * MICRO - 1, 0, UINT64_MAX,
	 "normal:deviation[:center] is accepted, deviation in percent below 100, center from 0 to "
	 "1"},
};

/* rest: what stands behind the name and a colon, or NULL. */
static int set_curve(struct fio_parser *p, struct fio_job *j, const struct dist_word *w, char *rest)
{
	char *number = fio_field(&rest, ":"), *center = fio_field(&rest, ":");
	uint64_t value = w->default_micro, center_micro = UINT32_MAX;
	unsigned int dir;

	if (rest || (number && w->dist == LAB_DIST_RANDOM))
		return fio_expected(p, "%s", w->accept);
	if (number && (!fio_micro(number, &value) || value < w->min_micro || value > w->max_micro ||
		       value == w->refused_micro))
		return fio_expected(p, "%s", w->accept);
	if (center && (!fio_micro(center, &center_micro) || center_micro > MICRO))
		return fio_expected(p, "%s", w->accept);
	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		j->job.dist[dir] = w->dist;
		j->job.dist_theta_micro[dir] = (uint32_t)value;
		j->job.dist_center_micro[dir] = (uint32_t)center_micro;
	}
	return 0;
}

int fio_set_distribution(struct fio_parser *p, struct fio_job *j, char *value)
{
	char *rest = value, *word = fio_field(&rest, ":");
	unsigned int dir;
	size_t i;

	for (i = 0; i < sizeof(dist_words) / sizeof(dist_words[0]); i++)
		if (!strcmp(word, dist_words[i].name))
			return set_curve(p, j, &dist_words[i], rest);
	if (!strcmp(word, "zoned")) {
		for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++)
			j->job.dist[dir] = LAB_DIST_ZONED;
		return set_zones(p, j, rest ? rest : word + strlen(word));
	}
	if (strcmp(word, "zoned_abs") != 0 && strcmp(word, "sequence") != 0)
		return fio_expected(p, "random, zipf, pareto, normal, zoned, zoned_abs or sequence "
				       "is accepted");
	if (!j->job.cannot_run)
		j->job.cannot_run = *word == 'z' ? "random_distribution=zoned_abs is not in the "
						   "lab; zoned, in percent, is"
						 : "random_distribution=sequence is not in the lab";
	return 0;
}

/* ---- percentiles ---- */

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

int fio_set_percentiles(struct fio_parser *p, struct fio_job *j, char *value)
{
	char *rest = value, *field;
	uint64_t micro;
	unsigned int nr = 0;

	while ((field = fio_field(&rest, ":"))) {
		if (nr == LAB_PERCENTILES_MAX || !fio_micro(field, &micro) || micro > 100 * MICRO)
			return fio_expected(
				p,
				"up to %d numbers from 0 to 100 with : between them are "
				"accepted, such as 50:99:99.9",
				LAB_PERCENTILES_MAX);
		j->job.percentile_micro[nr++] = (uint32_t)micro;
	}
	qsort(j->job.percentile_micro, nr, sizeof(j->job.percentile_micro[0]), by_value);
	j->job.nr_percentiles = nr;
	return 0;
}
