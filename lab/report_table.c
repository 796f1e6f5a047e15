// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables for people: per policy and phase one row a group, then what needs words. Everything fits
 * into 100 columns.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/fixed.h"
#include "lab/report.h"

enum {
	NAME_COLUMNS = 14,
	IOPS_COLUMNS = 13,
	ROWS_MAX = 60, /* groups in a table, lines of one kind below it; --json has them all */
	NAMES_MAX = 20,
};

static const char row_format[] = "%-14s %8s %8s %13s %6s %6s %6s %6s %6s %6s %s";

void report_latency(struct lab_meter *const *meter, struct lab_lat *out)
{
	unsigned int dir;

	lab_lat_init(out);
	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++)
		if (meter[dir])
			lab_lat_merge(out, &meter[dir]->lat);
}

void report_wrapped(FILE *out, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column && column + 1 + word > REPORT_COLUMNS) {
			fputc('\n', out);
			column = 0;
		}
		column += (size_t)fprintf(out, "%s%.*s", column ? " " : "", (int)word, text);
		text += word + (text[word] == ' ');
	}
	fputc('\n', out);
}

/* The last part of the path, a blank in front per level, cut at the front if it is too long. */
static void row_name(char *buf, size_t bytes, const char *path)
{
	const char *last = strrchr(path, '/'), *at;
	unsigned int level = 0;
	size_t room, length;

	if (!*path) {
		snprintf(buf, bytes, "total");
		return;
	}
	for (at = path; *at; at++)
		level += *at == '/';
	if (level > 4)
		level = 4;
	last = last ? last + 1 : path;
	length = strlen(last);
	room = NAME_COLUMNS - level;
	if (length <= room)
		snprintf(buf, bytes, "%*s%s", (int)level, "", last);
	else
		snprintf(buf, bytes, "%*s..%s", (int)level, "", last + length - (room - 2));
}

/* "reads/writes"; trims count as writes, as in all limits and shares. Short numbers if need be. */
static void iops_text(char *buf, size_t bytes, struct lab_meter *const *meter, uint64_t span_ns)
{
	const struct lab_meter *r = meter[LAB_DIR_READ], *w = meter[LAB_DIR_WRITE];
	const struct lab_meter *t = meter[LAB_DIR_TRIM];
	char *(*format)(char *, uint64_t) = lab_format_count;
	char read[LAB_TEXT_BYTES] = "-", write[LAB_TEXT_BYTES] = "-";
	uint64_t others = (w ? w->ios : 0) + (t ? t->ios : 0);
	int tries;

	for (tries = 0; tries < 2; tries++) {
		if (r)
			format(read, lab_per_second(r->ios, span_ns));
		if (w || t)
			format(write, lab_per_second(others, span_ns));
		if (snprintf(buf, bytes, "%s/%s", read, write) <= IOPS_COLUMNS)
			return;
		format = lab_format_short;
	}
}

static void wait_text(char *buf, size_t bytes, const struct weir_group_stats *s)
{
	unsigned int cause = lab_dominant_wait(s);
	uint64_t percent;

	if (cause == WEIR_NR_WAITS) {
		snprintf(buf, bytes, "-");
		return;
	}
	percent = (weir_mul_div(s->wait_ns[cause], 200, s->backlogged_ns) + 1) / 2;
	if (percent >= 100)
		snprintf(buf, bytes, "%s", weir_wait_cause_name((enum weir_wait_cause)cause));
	else
		snprintf(buf, bytes, "%s %" PRIu64 "%%",
			 weir_wait_cause_name((enum weir_wait_cause)cause), percent);
}

struct columns {
	char name[64], entitled[LAB_TEXT_BYTES], received[LAB_TEXT_BYTES], iops[80];
	char rate[LAB_TEXT_BYTES], mean[LAB_TEXT_BYTES], p50[LAB_TEXT_BYTES], p99[LAB_TEXT_BYTES];
	char p999[LAB_TEXT_BYTES], max[LAB_TEXT_BYTES], wait[32];
};

static void latency_columns(struct columns *c, const struct lab_lat *lat)
{
	if (!lat->nr) {
		strcpy(c->mean, "-");
		strcpy(c->p50, "-");
		strcpy(c->p99, "-");
		strcpy(c->p999, "-");
		strcpy(c->max, "-");
		return;
	}
	lab_format_ns(c->mean, lat->sum_ns / lat->nr);
	lab_format_ns(c->p50, lab_lat_percentile_ns(lat, 50000000));
	lab_format_ns(c->p99, lab_lat_percentile_ns(lat, 99000000));
	lab_format_ns(c->p999, lab_lat_percentile_ns(lat, 99900000));
	lab_format_ns(c->max, lat->max_ns);
}

/* Columns at the end may be empty: no blanks for them. */
static void print_columns(FILE *out, const struct columns *c)
{
	char line[512];
	int bytes;

	bytes = snprintf(line, sizeof(line), row_format, c->name, c->entitled, c->received, c->iops,
			 c->rate, c->mean, c->p50, c->p99, c->p999, c->max, c->wait);
	while (bytes > 0 && line[bytes - 1] == ' ')
		bytes--;
	fprintf(out, "%.*s\n", bytes, line);
}

static void group_row(FILE *out, const struct lab_phase_result *p, const struct lab_group_result *g)
{
	const struct weir_group_stats *root = &p->group[0].stats;
	struct columns c;
	struct lab_lat *lat = malloc(sizeof(*lat));

	if (!lat)
		abort();
	report_latency(g->meter, lat);
	row_name(c.name, sizeof(c.name), g->path);
	lab_format_share(c.entitled, g->stats.entitled_ns, g->stats.in_use_ns);
	lab_format_share(c.received, lab_device_ns(&g->stats), lab_device_ns(root));
	iops_text(c.iops, sizeof(c.iops), g->meter, p->measured_ns);
	lab_format_rate(c.rate, lab_per_second(lab_meters_bytes(g->meter), p->measured_ns));
	latency_columns(&c, lat);
	wait_text(c.wait, sizeof(c.wait), &g->stats);
	print_columns(out, &c);
	free(lat);
}

static void group_rows(FILE *out, const struct lab_phase_result *p)
{
	const struct columns heads = {"group", "entitled", "received",	"IOPS r/w",
				      "MB/s",  "mean",	   "p50",	"p99",
				      "p99.9", "max",	   "waited for"};
	unsigned int i, shown = 0, left = 0;

	print_columns(out, &heads);
	for (i = 1; i < p->nr_groups; i++) {
		if (lab_group_is_quiet(&p->group[i]))
			continue;
		if (shown++ < ROWS_MAX)
			group_row(out, p, &p->group[i]);
		else
			left++;
	}
	if (left)
		fprintf(out, "(%u more groups: --json has them)\n", left);
	group_row(out, p, &p->group[0]);
}

/* What ROWS_MAX has left out of nr. */
static void more_line(FILE *out, unsigned int nr, const char *what)
{
	if (nr > ROWS_MAX)
		fprintf(out, "(%u more %s: --json has them)\n", nr - ROWS_MAX, what);
}

/* ---- jobs, where the groups do not tell them apart ---- */

static bool in_phase(const struct lab_job_result *j, int phase)
{
	return phase < 0 || j->phase == phase;
}

static const char *group_of(const struct lab_job_result *j)
{
	return j->job->cgroup ? j->job->cgroup : "";
}

/* Do two entries of the phase share a group? */
static bool jobs_are_of_interest(const struct lab_sim_result *r, int phase)
{
	unsigned int i;
	const struct lab_job_result *before = NULL;

	for (i = 0; i < r->nr_jobs; i++) {
		if (!in_phase(&r->job[i], phase))
			continue;
		if (before && !strcmp(group_of(before), group_of(&r->job[i])))
			return true;
		before = &r->job[i];
	}
	return false;
}

static void job_row(FILE *out, const struct lab_job_result *j)
{
	struct columns c = {.entitled = "", .received = "", .wait = ""};
	struct lab_lat *lat = malloc(sizeof(*lat));

	if (!lat)
		abort();
	report_latency(j->meter, lat);
	snprintf(c.name, sizeof(c.name), "%.14s", j->job->name);
	iops_text(c.iops, sizeof(c.iops), j->meter, j->measured_ns);
	lab_format_rate(c.rate, lab_per_second(lab_meters_bytes(j->meter), j->measured_ns));
	latency_columns(&c, lat);
	print_columns(out, &c);
	free(lat);
}

static void job_rows(FILE *out, const struct lab_sim_result *r, int phase)
{
	const struct columns heads = {"job", "",    "",	     "IOPS r/w", "MB/s", "mean",
				      "p50", "p99", "p99.9", "max",	 ""};
	unsigned int i, shown = 0;

	if (!jobs_are_of_interest(r, phase))
		return;
	print_columns(out, &heads);
	for (i = 0; i < r->nr_jobs; i++)
		if (in_phase(&r->job[i], phase) && shown++ < ROWS_MAX)
			job_row(out, &r->job[i]);
	more_line(out, shown, "jobs");
}

/* ---- what needs words ---- */

static void sync_lines(FILE *out, const struct lab_sim_result *r, int phase)
{
	char mean[LAB_TEXT_BYTES], p99[LAB_TEXT_BYTES], max[LAB_TEXT_BYTES], rate[LAB_TEXT_BYTES];
	unsigned int i, shown = 0;

	for (i = 0; i < r->nr_jobs; i++) {
		const struct lab_job_result *j = &r->job[i];

		if (!in_phase(j, phase) || !j->sync || !j->sync->ios || shown++ >= ROWS_MAX)
			continue;
		fprintf(out, "%s: %s fsync/s, mean %s, p99 %s, max %s\n", j->job->name,
			lab_format_count(rate, lab_per_second(j->sync->ios, j->measured_ns)),
			lab_format_ns(mean, j->sync->lat.sum_ns / j->sync->lat.nr),
			lab_format_ns(p99, lab_lat_percentile_ns(&j->sync->lat, 99000000)),
			lab_format_ns(max, j->sync->lat.max_ns));
	}
	more_line(out, shown, "jobs that call fsync");
}

static bool has_floor(const struct weir_group_attr *a)
{
	return a->low.bps[WEIR_READ] || a->low.bps[WEIR_WRITE] || a->low.iops[WEIR_READ] ||
	       a->low.iops[WEIR_WRITE];
}

/* "1.20 MB/s and 337 IOPS", whichever there is. */
static void deficit_text(char *buf, size_t bytes, uint64_t bytes_per_s, uint64_t ios_per_s)
{
	char rate[LAB_TEXT_BYTES], ios[LAB_TEXT_BYTES];

	lab_format_rate(rate, bytes_per_s);
	lab_format_count(ios, ios_per_s);
	snprintf(buf, bytes, "%s%s%s%s%s", bytes_per_s ? rate : "", bytes_per_s ? " MB/s" : "",
		 bytes_per_s && ios_per_s ? " and " : "", ios_per_s ? ios : "",
		 ios_per_s ? " IOPS" : "");
}

static void floor_line(FILE *out, const struct lab_sim_result *r, const struct lab_phase_result *p,
		       const struct lab_group_result *g)
{
	const struct weir_policy_info *info = weir_policy_info(weir_policy_find(r->policy));
	bool met = lab_floor_met(g, p->measured_ns);
	const struct weir_group_stats *s = &g->stats;
	char device[64], demand[64];
	uint64_t span_ns = p->measured_ns;

	deficit_text(device, sizeof(device), lab_per_second(s->floor_deficit_device_bytes, span_ns),
		     lab_per_second(s->floor_deficit_device_ios, span_ns));
	deficit_text(demand, sizeof(demand), lab_per_second(s->floor_deficit_demand_bytes, span_ns),
		     lab_per_second(s->floor_deficit_demand_ios, span_ns));
	fprintf(out, "%s: floor %s", g->path, met ? "met" : "missed");
	if (*device && !met && info->keeps & WEIR_KEEPS_FLOORS)
		fprintf(out, ", %s did not fit the device", device);
	else if (*device && !met)
		fprintf(out, " by %s, which %s does not enforce", device, info->name);
	if (*demand)
		fprintf(out, "; %s were not asked for", demand);
	fputc('\n', out);
}

static void target_line(FILE *out, const struct lab_group_result *g)
{
	const struct weir_group_stats *s = &g->stats;
	char target[LAB_TEXT_BYTES];

	lab_format_ns(target, g->attr.latency_target_ns);
	if (!s->latency_periods && !lab_target_met(s))
		fprintf(out, "%s: target of %s missed, nothing completed", g->path, target);
	else
		fprintf(out, "%s: p90 above its target of %s in %" PRIu64 " of %" PRIu64 " periods",
			g->path, target, s->latency_missed, s->latency_periods);
	if (g->blocker && !strcmp(g->blocker, g->path))
		fputs("; it waits for its own share or ceiling", out);
	else if (g->blocker)
		fprintf(out, "; in the way: %s", *g->blocker ? g->blocker : "the root group");
	fputc('\n', out);
}

/* Is a ceiling the reason why it got less than its share? */
static bool is_at_ceiling(const struct lab_group_result *g)
{
	return lab_dominant_wait(&g->stats) == WEIR_WAIT_CEILING;
}

/* Groups that got less than their share because a ceiling held them, or they did not ask for it. */
static void demand_line(FILE *out, const struct lab_phase_result *p, bool ceiling, const char *what)
{
	unsigned int i, nr = 0;
	size_t bytes = 0;
	char *text = NULL;
	FILE *words = open_memstream(&text, &bytes);

	if (!words)
		abort();
	for (i = 1; i < p->nr_groups; i++) {
		const struct lab_group_result *g = &p->group[i];

		if (lab_group_is_quiet(g) || !lab_demand_limited(p, g) ||
		    is_at_ceiling(g) != ceiling)
			continue;
		if (nr++ < NAMES_MAX)
			fprintf(words, "%s%s", nr == 1 ? what : ", ", g->path);
	}
	if (nr > NAMES_MAX)
		fprintf(words, " and %u more", nr - NAMES_MAX);
	if (fclose(words))
		abort();
	if (nr)
		report_wrapped(out, text);
	free(text);
}

static void promise_lines(FILE *out, const struct lab_sim_result *r,
			  const struct lab_phase_result *p)
{
	unsigned int i, floors = 0, targets = 0;

	for (i = 0; i < p->nr_groups; i++) {
		const struct lab_group_result *g = &p->group[i];

		if (has_floor(&g->attr) && floors++ < ROWS_MAX)
			floor_line(out, r, p, g);
		if (g->attr.latency_target_ns && targets++ < ROWS_MAX)
			target_line(out, g);
	}
	more_line(out, floors, "floors");
	more_line(out, targets, "latency targets");
}

static void print_phase(FILE *out, const struct lab_sim_result *r, const struct lab_phase_result *p,
			int phase)
{
	group_rows(out, p);
	if (!p->measured_ns)
		fputs("Nothing was measured: the jobs had ended before their ramp was over.\n",
		      out);
	job_rows(out, r, phase);
	sync_lines(out, r, phase);
	demand_line(out, p, true, "held to less than their share by a ceiling: ");
	demand_line(out, p, false, "asked for less than their share: ");
	promise_lines(out, r, p);
}

/* "(test1 and 3 more)": whose phase it is. */
static void phase_jobs(char *buf, size_t bytes, const struct lab_sim_result *r, int phase)
{
	const char *first = NULL;
	unsigned int i, nr = 0;

	for (i = 0; i < r->nr_jobs; i++) {
		if (!in_phase(&r->job[i], phase))
			continue;
		if (!nr++)
			first = r->job[i].job->name;
	}
	if (nr > 1)
		snprintf(buf, bytes, "%.24s and %u more", first, nr - 1);
	else
		snprintf(buf, bytes, "%.24s", first ? first : "");
}

static void cache_line(FILE *out, const struct lab_sim_result *r)
{
	const struct lab_cache_stats *c = &r->cache;
	char read[LAB_TEXT_BYTES], written[LAB_TEXT_BYTES], held[LAB_TEXT_BYTES];

	if (!r->has_cache)
		return;
	fprintf(out,
		"page cache: %s MB read, %s MB written, %" PRIu64 " flusher wake-ups, %" PRIu64
		" commits, writers held back %s\n",
		lab_format_rate(read, c->read_bytes), lab_format_rate(written, c->written_bytes),
		c->flusher_wakeups, c->commits, lab_format_ns(held, c->throttled_ns));
}

static void note_line(FILE *out, const char *note)
{
	char text[1100];

	snprintf(text, sizeof(text), "note: %s", note);
	report_wrapped(out, text);
}

static void print_run(FILE *out, const struct lab_sim_result *r)
{
	char span[LAB_TEXT_BYTES], jobs[48];
	unsigned int i;

	if (r->nr_phases <= 1)
		fprintf(out, "%s on %s, %s measured, seed %" PRIu64 "\n", r->label, r->device,
			lab_format_ns(span, r->whole.measured_ns), r->seed);
	for (i = 0; i < r->nr_notes; i++)
		note_line(out, r->note[i]);
	if (r->nr_phases <= 1)
		print_phase(out, r, &r->whole, -1);
	for (i = 0; r->nr_phases > 1 && i < r->nr_phases; i++) {
		phase_jobs(jobs, sizeof(jobs), r, (int)i);
		fprintf(out, "%s%s on %s, phase %u of %u (%s), %s measured, seed %" PRIu64 "\n",
			i ? "\n" : "", r->label, r->device, i + 1, r->nr_phases, jobs,
			lab_format_ns(span, r->phase[i].measured_ns), r->seed);
		print_phase(out, r, &r->phase[i], (int)i);
	}
	cache_line(out, r);
	fputc('\n', out);
}

static void ignored_line(FILE *out, const struct lab_jobs *jobs)
{
	size_t bytes = 64, used;
	unsigned int i;
	char *text;

	for (i = 0; i < jobs->nr_notes; i++)
		note_line(out, jobs->note[i]);
	for (i = 0; i < jobs->nr_ignored; i++)
		bytes += strlen(jobs->ignored[i]) + 2;
	text = jobs->nr_ignored ? malloc(bytes) : NULL;
	if (text) {
		used = (size_t)snprintf(text, bytes, "without effect in the lab: ");
		for (i = 0; i < jobs->nr_ignored; i++)
			used += (size_t)snprintf(text + used, bytes - used, "%s%s", i ? ", " : "",
						 jobs->ignored[i]);
		report_wrapped(out, text);
		free(text);
	}
	if (jobs->nr_notes || jobs->nr_ignored)
		fputc('\n', out);
}

void lab_report_table(FILE *out, struct lab_sim_result *const *run, unsigned int nr,
		      const struct lab_jobs *jobs)
{
	unsigned int i;

	ignored_line(out, jobs);
	for (i = 0; i < nr; i++)
		print_run(out, run[i]);
	report_compare(out, run, nr);
}
