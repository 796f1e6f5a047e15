// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several policies side by side, and what that means in a sentence. The sentence is made from the
 * figures of the table above it and says nothing that they don't.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/fixed.h"
#include "lab/report.h"

/* Smallest error that a percentage with one decimal shows. */
#define SHOWN_PPM 500

struct figures {
	uint64_t iops, bytes_per_s;
	bool has_shares;
	uint64_t share_error_ppm; /* of the group that is furthest below its entitlement */
	const char *share_group;
	uint64_t p99_ns, p999_ns, max_ns; /* of the group that has it worst */
	const char *slow_group;		  /* of p999_ns */
};

/* Above it is no error: somebody has to take what others leave. */
static void judge_share(struct figures *f, const struct lab_phase_result *p,
			const struct lab_group_result *g)
{
	const struct weir_group_stats *s = &g->stats;
	uint64_t all_ns = lab_device_ns(&p->group[0].stats), got_ns, off_ns, ppm;

	if (!s->entitled_ns || !all_ns || lab_demand_limited(p, g))
		return;
	got_ns = weir_mul_div(lab_device_ns(s), s->in_use_ns, all_ns);
	off_ns = s->entitled_ns - weir_min64(got_ns, s->entitled_ns);
	ppm = weir_mul_div(off_ns, 1000000, s->entitled_ns);
	if (!f->has_shares || ppm > f->share_error_ppm) {
		f->share_error_ppm = ppm;
		f->share_group = g->path;
	}
	f->has_shares = true;
}

static void judge_latency(struct figures *f, const struct lab_group_result *g, struct lab_lat *lat)
{
	uint64_t p999_ns;

	report_latency(g->meter, lat);
	if (!lat->nr)
		return;
	p999_ns = lab_lat_percentile_ns(lat, 99900000);
	f->p99_ns = weir_max64(f->p99_ns, lab_lat_percentile_ns(lat, 99000000));
	f->max_ns = weir_max64(f->max_ns, lat->max_ns);
	if (p999_ns > f->p999_ns) {
		f->p999_ns = p999_ns;
		f->slow_group = g->path;
	}
}

static void collect(struct figures *f, const struct lab_sim_result *r)
{
	const struct lab_phase_result *p = &r->whole;
	struct lab_lat *lat = malloc(sizeof(*lat));
	unsigned int i;

	if (!lat)
		abort();
	memset(f, 0, sizeof(*f));
	f->iops = lab_per_second(lab_meters_ios(p->group[0].meter), p->measured_ns);
	f->bytes_per_s = lab_per_second(lab_meters_bytes(p->group[0].meter), p->measured_ns);
	/* The root is the sum of all; it is looked at if there is nothing else. */
	for (i = p->nr_groups > 1 ? 1 : 0; i < p->nr_groups; i++) {
		/* An inner node is the sum of its leaves. */
		if (lab_group_is_quiet(&p->group[i]) || (i && p->group[i].nr_children))
			continue;
		if (i)
			judge_share(f, p, &p->group[i]);
		judge_latency(f, &p->group[i], lat);
	}
	free(lat);
}

/* ---- the table ---- */

static const char compare_format[] = "%-28.28s %10s %8s %9s %11s %9s %9s %9s\n";

static void ppm_text(char *buf, const struct figures *f)
{
	if (f->has_shares)
		lab_format_share(buf, f->share_error_ppm, 1000000);
	else
		strcpy(buf, "-");
}

static void ratio_text(char *buf, uint64_t part, uint64_t whole)
{
	uint64_t thousandths = whole ? weir_mul_div(part, 1000, whole) : 0;

	if (whole)
		snprintf(buf, LAB_TEXT_BYTES, "%" PRIu64 ".%03" PRIu64, thousandths / 1000,
			 thousandths % 1000);
	else
		strcpy(buf, "-");
}

static void print_table(FILE *out, struct lab_sim_result *const *run, const struct figures *f,
			unsigned int nr)
{
	char iops[LAB_TEXT_BYTES], rate[LAB_TEXT_BYTES], ratio[LAB_TEXT_BYTES];
	char share[LAB_TEXT_BYTES], p99[LAB_TEXT_BYTES], p999[LAB_TEXT_BYTES], max[LAB_TEXT_BYTES];
	unsigned int i;

	fprintf(out, compare_format, "compared", "IOPS", "MB/s", "to first", "share error",
		"worst p99", "p99.9", "max");
	for (i = 0; i < nr; i++) {
		ratio_text(ratio, f[i].iops, f[0].iops);
		ppm_text(share, &f[i]);
		fprintf(out, compare_format, run[i]->label, lab_format_count(iops, f[i].iops),
			lab_format_rate(rate, f[i].bytes_per_s), ratio, share,
			lab_format_ns(p99, f[i].p99_ns), lab_format_ns(p999, f[i].p999_ns),
			lab_format_ns(max, f[i].max_ns));
	}
}

/* ---- the sentence ---- */

struct words {
	char text[1024];
	size_t used;
};

static void say(struct words *w, const char *a, const char *b, const char *c)
{
	if (w->used < sizeof(w->text))
		w->used += (size_t)snprintf(w->text + w->used, sizeof(w->text) - w->used, "%s%s%s",
					    a, b, c);
}

/* "a, b and c": the labels of the runs that are marked. */
static void say_labels(struct words *w, struct lab_sim_result *const *run, const bool *mark,
		       unsigned int nr)
{
	unsigned int i, left = 0, said = 0;

	for (i = 0; i < nr; i++)
		left += mark[i];
	for (i = 0; i < nr; i++) {
		if (!mark[i])
			continue;
		say(w, !said ? "" : left == 1 ? " and " : ", ", run[i]->label, "");
		said++;
		left--;
	}
}

static unsigned int count(const bool *mark, unsigned int nr)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++)
		n += mark[i];
	return n;
}

/* Rates within 1 % of the best are called the same. */
static void say_rate(struct words *w, struct lab_sim_result *const *run, const struct figures *f,
		     bool *mark, unsigned int nr)
{
	char text[LAB_TEXT_BYTES];
	uint64_t best = 0;
	unsigned int i, least = 0;

	for (i = 0; i < nr; i++) {
		best = weir_max64(best, f[i].iops);
		if (f[i].iops < f[least].iops)
			least = i;
	}
	for (i = 0; i < nr; i++)
		mark[i] = f[i].iops >= best - best / 100;
	if (count(mark, nr) == nr) {
		say(w, "All did the same amount of work, within 1 % of ",
		    lab_format_count(text, best), " IOPS");
		return;
	}
	say_labels(w, run, mark, nr);
	say(w, " did the most work, ", lab_format_count(text, best), " IOPS");
	say(w, ", and ", run[least]->label, " the least, ");
	say(w, lab_format_count(text, f[least].iops), "", "");
}

/* Shares within 1 % of each other are called the same. */
static void say_shares(struct words *w, struct lab_sim_result *const *run, const struct figures *f,
		       bool *mark, unsigned int nr)
{
	char text[LAB_TEXT_BYTES];
	uint64_t best = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (f[i].has_shares)
			best = weir_min64(best, f[i].share_error_ppm);
	if (best == UINT64_MAX)
		return;
	for (i = 0; i < nr; i++)
		mark[i] = f[i].has_shares && f[i].share_error_ppm <= best + 10000;
	say(w, "; ", "", "");
	say_labels(w, run, mark, nr);
	say(w, count(mark, nr) > 1 ? " keep" : " keeps", " the shares best, with no group ", "");
	for (i = 0, best = 0; i < nr; i++)
		if (mark[i])
			best = weir_max64(best, f[i].share_error_ppm);
	if (best < SHOWN_PPM)
		say(w, "below its entitlement", "", "");
	else
		say(w, "more than ", lab_format_share(text, best, 1000000),
		    " below its entitlement");
}

static void say_latency(struct words *w, struct lab_sim_result *const *run, const struct figures *f,
			bool *mark, unsigned int nr)
{
	char text[LAB_TEXT_BYTES];
	uint64_t best = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < nr; i++)
		best = weir_min64(best, f[i].p999_ns);
	/* Buckets are 1/64 apart: closer figures are the same. */
	for (i = 0; i < nr; i++)
		mark[i] = f[i].p999_ns <= best + best / 50;
	say(w, "; the slowest group's p99.9 is shortest with ", "", "");
	say_labels(w, run, mark, nr);
	say(w, ", ", lab_format_ns(text, best), "");
}

static void print_sentence(FILE *out, struct lab_sim_result *const *run, const struct figures *f,
			   unsigned int nr)
{
	struct words w = {.used = 0};
	bool *mark = calloc(nr, sizeof(*mark));

	if (!mark)
		abort();
	say_rate(&w, run, f, mark, nr);
	say_shares(&w, run, f, mark, nr);
	say_latency(&w, run, f, mark, nr);
	say(&w, ".", "", "");
	report_wrapped(out, w.text);
	free(mark);
}

/* One run: how far from what was promised, and who waited longest. */
static void print_single(FILE *out, const struct figures *f)
{
	char share[LAB_TEXT_BYTES], p999[LAB_TEXT_BYTES];

	if (!f->has_shares)
		return;
	if (f->share_error_ppm < SHOWN_PPM)
		fprintf(out, "No group is below its entitlement.");
	else
		fprintf(out, "Furthest below its entitlement: %s, by %s.", f->share_group,
			lab_format_share(share, f->share_error_ppm, 1000000));
	fprintf(out, " Slowest p99.9: %s, %s.\n", f->slow_group ? f->slow_group : "-",
		lab_format_ns(p999, f->p999_ns));
}

void report_compare(FILE *out, struct lab_sim_result *const *run, unsigned int nr)
{
	struct figures *f = calloc(nr, sizeof(*f));
	unsigned int i;

	if (!f)
		abort();
	for (i = 0; i < nr; i++)
		collect(&f[i], run[i]);
	if (nr > 1) {
		print_table(out, run, f, nr);
		fputc('\n', out);
		print_sentence(out, run, f, nr);
	} else if (nr) {
		print_single(out, f);
	}
	free(f);
}
