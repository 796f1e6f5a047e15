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

enum { NAME_COLUMNS = 28 };

static const char compare_format[] = "%-28s %10s %8s %9s %11s %9s %9s %9s\n";

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

/* A name that its column can't hold stands on a line of its own, so that no two look alike. */
static const char *row_name(FILE *out, const char *name)
{
	if (strlen(name) <= NAME_COLUMNS)
		return name;
	fprintf(out, "%s\n", name);
	return "";
}

/* device: of all runs; NULL: one each, which then names the row. */
static void print_table(FILE *out, struct lab_sim_result *const *run, const struct figures *f,
			unsigned int nr, const char *device)
{
	char head[256] = "compared";

	char iops[LAB_TEXT_BYTES], rate[LAB_TEXT_BYTES], ratio[LAB_TEXT_BYTES];
	char share[LAB_TEXT_BYTES], p99[LAB_TEXT_BYTES], p999[LAB_TEXT_BYTES], max[LAB_TEXT_BYTES];
	unsigned int i;

	if (device && *device)
		snprintf(head, sizeof(head), "compared on %s", device);
	fprintf(out, compare_format, row_name(out, head), "IOPS", "MB/s", "to first", "share error",
		"worst p99", "p99.9", "max");
	for (i = 0; i < nr; i++) {
		ratio_text(ratio, f[i].iops, f[0].iops);
		ppm_text(share, &f[i]);
		const char *name = row_name(out, device ? run[i]->label : run[i]->device);

		fprintf(out, compare_format, name, lab_format_count(iops, f[i].iops),
			lab_format_rate(rate, f[i].bytes_per_s), ratio, share,
			lab_format_ns(p99, f[i].p99_ns), lab_format_ns(p999, f[i].p999_ns),
			lab_format_ns(max, f[i].max_ns));
	}
}

/* ---- the sentence ---- */

struct words {
	FILE *out;
	char *text;
	size_t bytes;
};

static void say(struct words *w, const char *a, const char *b, const char *c)
{
	fprintf(w->out, "%s%s%s", a, b, c);
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
static bool is_best(uint64_t rate, uint64_t best)
{
	return rate >= best - best / 100;
}

/* More I/Os may be fewer bytes, where sizes differ: then there are two answers. */
static void say_bytes(struct words *w, struct lab_sim_result *const *run, const struct figures *f,
		      uint64_t best, bool *mark, unsigned int nr)
{
	char text[LAB_TEXT_BYTES];
	unsigned int i;

	for (i = 0; i < nr; i++)
		mark[i] = is_best(f[i].bytes_per_s, best);
	say(w, "; ", "", "");
	say_labels(w, run, mark, nr);
	say(w, " moved the most bytes, ", lab_format_rate(text, best), " MB/s");
}

static void say_rate(struct words *w, struct lab_sim_result *const *run, const struct figures *f,
		     bool *mark, unsigned int nr)
{
	uint64_t best = 0, best_bytes = 0;
	char text[LAB_TEXT_BYTES];
	unsigned int i, least = 0;
	bool agree = true;

	for (i = 0; i < nr; i++) {
		best = weir_max64(best, f[i].iops);
		best_bytes = weir_max64(best_bytes, f[i].bytes_per_s);
		if (f[i].iops < f[least].iops)
			least = i;
	}
	for (i = 0; i < nr; i++) {
		mark[i] = is_best(f[i].iops, best);
		agree &= !mark[i] || is_best(f[i].bytes_per_s, best_bytes);
	}
	if (count(mark, nr) == nr) {
		say(w, "All did the same ", agree ? "amount of work" : "number of I/Os",
		    ", within 1 % of ");
		say(w, lab_format_count(text, best), " IOPS", "");
	} else {
		say_labels(w, run, mark, nr);
		say(w, " did the most ", agree ? "work" : "I/Os", ", ");
		say(w, lab_format_count(text, best), " IOPS", "");
		say(w, ", and ", run[least]->label, " the least, ");
		say(w, lab_format_count(text, f[least].iops), "", "");
	}
	if (!agree)
		say_bytes(w, run, f, best_bytes, mark, nr);
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

	/* 0: nothing completed, which is not fast. */
	for (i = 0; i < nr; i++)
		if (f[i].p999_ns)
			best = weir_min64(best, f[i].p999_ns);
	if (best == UINT64_MAX)
		return;
	/* Buckets are 1/64 apart: closer figures are the same. */
	for (i = 0; i < nr; i++)
		mark[i] = f[i].p999_ns && f[i].p999_ns <= best + best / 50;
	say(w, "; the slowest group's p99.9 is shortest with ", "", "");
	say_labels(w, run, mark, nr);
	say(w, ", ", lab_format_ns(text, best), "");
}

static void print_sentence(FILE *out, struct lab_sim_result *const *run, const struct figures *f,
			   unsigned int nr)
{
	struct words w = {.text = NULL};
	bool *mark = calloc(nr, sizeof(*mark));

	w.out = open_memstream(&w.text, &w.bytes);
	if (!mark || !w.out)
		abort();
	say_rate(&w, run, f, mark, nr);
	say_shares(&w, run, f, mark, nr);
	say_latency(&w, run, f, mark, nr);
	say(&w, ".", "", "");
	if (fclose(w.out))
		abort();
	report_wrapped(out, w.text);
	free(w.text);
	free(mark);
}

/* One run: how far from what was promised, and who waited longest. */
static void print_single(FILE *out, const struct figures *f)
{
	char share[LAB_TEXT_BYTES], p999[LAB_TEXT_BYTES], *text = NULL;
	size_t bytes = 0;
	FILE *words;

	if (!f->has_shares)
		return;
	words = open_memstream(&text, &bytes);
	if (!words)
		abort();
	if (f->share_error_ppm < SHOWN_PPM)
		fputs("No group is below its entitlement.", words);
	else
		fprintf(words, "Furthest below its entitlement: %s, by %s.", f->share_group,
			lab_format_share(share, f->share_error_ppm, 1000000));
	if (f->slow_group)
		fprintf(words, " Slowest p99.9: %s, %s.", f->slow_group,
			lab_format_ns(p999, f->p999_ns));
	if (fclose(words))
		abort();
	report_wrapped(out, text);
	free(text);
}

/* Did anything complete? What there is to say of nothing is said above. */
static bool any_work(const struct figures *f, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (f[i].p999_ns)
			return true;
	return false;
}

/* Policies on one device; device is empty if there is no other. */
static void compare_policies(FILE *out, struct lab_sim_result *const *run, const struct figures *f,
			     unsigned int nr, const char *device)
{
	print_table(out, run, f, nr, device);
	fputc('\n', out);
	if (any_work(f, nr))
		print_sentence(out, run, f, nr);
}

/* Runs of one device stand together. Figures of different devices are not set against each other.
 */
void report_compare(FILE *out, struct lab_sim_result *const *run, unsigned int nr)
{
	struct figures *f = calloc(nr, sizeof(*f));
	unsigned int i, from, devices = 0;

	if (!f)
		abort();
	for (i = 0; i < nr; i++) {
		collect(&f[i], run[i]);
		devices += !i || strcmp(run[i]->device, run[i - 1]->device) != 0;
	}
	if (nr == 1) {
		print_single(out, f);
	} else if (devices == nr) {
		print_table(out, run, f, nr, NULL);
	} else {
		for (from = 0; from < nr; from = i) {
			for (i = from + 1; i < nr && !strcmp(run[i]->device, run[from]->device);
			     i++)
				;
			if (from)
				fputc('\n', out);
			compare_policies(out, run + from, f + from, i - from,
					 devices > 1 ? run[from]->device : "");
		}
	}
	free(f);
}
