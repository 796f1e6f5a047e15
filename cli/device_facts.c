// SPDX-License-Identifier: GPL-2.0-only
/*
 * One device: physics in a few lines, options, profile, and the table of what it yields.
 *
 * The table has two lines per load: throughput (MB/s of 10^6 bytes for sequential loads, IOPS for
 * random ones) and the 99th percentile. A depth beyond the device's own is a dash: more commands
 * than that never are in the device.
 */
#include "cli/device_facts.h"

#include <stdio.h>
#include <string.h>

#include "lab/dev_profile.h"
#include "lab/report_json.h"

static const struct {
	const char *model, *text;
} physics[] = {
	{"hdd",
	 "One arm: seek curve, true angle of the platters, 16 zones (1491 to 760 sectors a "
	 "track),\n"
	 "read-ahead into 16 segments of 512 KiB, write cache emptied nearest first, own ordering "
	 "of\n"
	 "the queue by positioning time with ageing. A flush runs alone and empties the cache.\n"},
	{"ssd", "Dies behind channels, a controller, and a SATA link that carries whole commands "
		"one after\n"
		"another in the order in which their data are ready. Writes end in a buffer; "
		"programs empty\n"
		"it, and reads wait for a die that programs. A flush runs alone and empties the "
		"buffer.\n"},
	{"pcie-flash",
	 "Dies behind channels and a controller that takes 15.65 us a command and 3.15 us a page, "
	 "which\n"
	 "is what binds the card. Garbage collection goes on (aged=1). Stalls: each die is out of\n"
	 "service once in stall_every_ms on average, for stall_min_us to stall_max_us.\n"},
	{"nvme",
	 "128 dies behind 8 channels; reads suspend programs. The controller binds small commands, "
	 "the\n"
	 "link large ones. Writes end in a protected buffer, so a flush has nothing to do.\n"},
	{"profile",
	 "A server whose work is the linear cost model, and a pipeline that makes up the idle "
	 "latency;\n"
	 "one in 32 of the commands that find it busy is late, as the measured percentiles say.\n"},
	{"null", "Every command takes the same time, and any number goes at once.\n"},
};

static const struct {
	const char *name, *rw, *unit;
	uint32_t read_percent, bytes;
	bool random;
} loads[TABLE_LOADS] = {
	{"128 KiB seq read", "read", "MB/s", 100, 128 << 10, false},
	{"4 KiB random read", "randread", "IOPS", 100, 4 << 10, true},
	{"128 KiB seq write", "write", "MB/s", 0, 128 << 10, false},
	{"4 KiB random write", "randwrite", "IOPS", 0, 4 << 10, true},
};

static const uint32_t depths[TABLE_DEPTHS] = {1, 4, 16, 32, 64, 128, 256};

static void measure_cell(const char *spec, unsigned int load_nr, unsigned int depth_nr,
			 struct lab_result *out)
{
	struct lab_engine *e = lab_engine_new();
	struct lab_device *d;
	struct lab_load load;
	char err[512];

	d = lab_device_open(spec, e, 1, err, sizeof(err));
	if (d) {
		/* A depth that the device has no room for, and the one before that filled it. */
		if (!depth_nr || depths[depth_nr - 1] < d->info.queue_depth) {
			lab_load_init(&load, &d->info, loads[load_nr].read_percent,
				      loads[load_nr].random, loads[load_nr].bytes,
				      depths[depth_nr]);
			lab_measure(d, &load, out);
		}
		d->destroy(d);
	}
	lab_engine_free(e);
}

void device_table_measure(struct device_table *t, const char *spec)
{
	unsigned int i, k;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < TABLE_LOADS; i++)
		for (k = 0; k < TABLE_DEPTHS; k++)
			measure_cell(spec, i, k, &t->cell[i][k]);
}

/* ---- text ---- */

static void print_options(const struct lab_device_model *m)
{
	const struct lab_device_option *o;
	char range[48];

	printf("\n%-14s %-8s %8s  %s\n", "option", "unit", "default", "range");
	for (o = m->options; o->name; o++) {
		snprintf(range, sizeof(range), "%llu..%llu", (unsigned long long)o->min,
			 (unsigned long long)o->max);
		printf("%-14s %-8s %8llu  %-12s %s\n", o->name, o->unit, (unsigned long long)o->def,
		       range, o->help);
	}
}

static void print_profile(const struct weir_profile *p)
{
	printf("\nprofile         rbps=%llu rseqiops=%llu rrandiops=%llu\n"
	       "                wbps=%llu wseqiops=%llu wrandiops=%llu\n",
	       (unsigned long long)p->rbps, (unsigned long long)p->rseqiops,
	       (unsigned long long)p->rrandiops, (unsigned long long)p->wbps,
	       (unsigned long long)p->wseqiops, (unsigned long long)p->wrandiops);
	printf("                idle 4 KiB random read %.1f us, flush %.1f us%s\n"
	       "                knee at %.1f us of device time in flight\n",
	       (double)p->latency_ns / 1e3, (double)p->flush_ns / 1e3,
	       p->rotational ? ", rotational" : "", (double)p->knee_ns / 1e3);
}

/* In whole microseconds, and at least one where it is known. */
static unsigned long long us_of(uint64_t ns)
{
	return ns && ns < 1000 ? 1 : (ns + 500) / 1000;
}

void device_print_profile_line(const struct weir_profile *p)
{
	printf("rbps=%llu rseqiops=%llu rrandiops=%llu wbps=%llu wseqiops=%llu wrandiops=%llu",
	       (unsigned long long)p->rbps, (unsigned long long)p->rseqiops,
	       (unsigned long long)p->rrandiops, (unsigned long long)p->wbps,
	       (unsigned long long)p->wseqiops, (unsigned long long)p->wrandiops);
	if (p->latency_ns)
		printf(" latency_us=%llu", us_of(p->latency_ns));
	if (p->flush_ns)
		printf(" flush_us=%llu", us_of(p->flush_ns));
	if (p->rotational)
		fputs(" rotational=1", stdout);
	putchar('\n');
}

static void print_row(const char *name, const char *unit, const struct lab_result *r, bool p99,
		      bool bytes)
{
	unsigned int k;

	printf("%-20s %-6s", name, unit);
	for (k = 0; k < TABLE_DEPTHS; k++) {
		if (!r[k].ios)
			printf(" %9s", "-");
		else if (p99)
			printf(" %9.1f", (double)r[k].p99_ns / 1e3);
		else if (bytes)
			printf(" %9.1f", (double)lab_result_bytes_per_s(&r[k]) / 1e6);
		else
			printf(" %9llu", (unsigned long long)lab_result_iops(&r[k]));
	}
	putchar('\n');
}

static void print_table(const struct device_table *t)
{
	unsigned int i, k;

	printf("\n%-20s %-6s", "measured", "depth");
	for (k = 0; k < TABLE_DEPTHS; k++)
		printf(" %9u", depths[k]);
	putchar('\n');
	for (i = 0; i < TABLE_LOADS; i++) {
		print_row(loads[i].name, loads[i].unit, t->cell[i], false, !loads[i].random);
		print_row("", "p99 us", t->cell[i], true, false);
	}
}

/* A built-in profile's full name; else what the model is. */
static const char *title(const char *spec, const struct lab_device_model *m)
{
	const struct dev_profile_builtin *b;
	const char *name = spec + strcspn(spec, ":");
	unsigned int n;

	for (n = 0; *name && !strcmp(m->name, "profile") && (b = dev_profile_builtin_at(n)); n++)
		if (strlen(b->name) == strcspn(name + 1, ":") &&
		    !strncmp(b->name, name + 1, strlen(b->name)))
			return b->model;
	return m->help;
}

void device_print(const char *spec, const struct lab_device_model *m,
		  const struct lab_device_info *info, const struct device_table *t)
{
	unsigned int i;

	printf("%s: %s\n\n", spec, title(spec, m));
	for (i = 0; i < sizeof(physics) / sizeof(physics[0]); i++)
		if (!strcmp(physics[i].model, m->name))
			fputs(physics[i].text, stdout);
	printf("\ncapacity        %.1f GB, %llu sectors\n"
	       "queue depth     %u commands of up to %u KiB\n",
	       (double)info->sectors * 512 / 1e9, (unsigned long long)info->sectors,
	       info->queue_depth, info->max_sectors / 2);
	print_options(m);
	print_profile(&info->profile);
	print_table(t);
}

/* ---- JSON ---- */

json_t *device_options_json(const struct lab_device_model *m)
{
	const struct lab_device_option *o;
	json_t *list = json_array();

	for (o = m->options; o->name; o++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:I, s:I, s:s}", "name",
						      o->name, "unit", o->unit, "default",
						      (json_int_t)o->def, "min", (json_int_t)o->min,
						      "max", (json_int_t)o->max, "help", o->help));
	return list;
}

static json_t *profile_json(const struct weir_profile *p)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "rbps",
			 (json_int_t)p->rbps, "rseqiops", (json_int_t)p->rseqiops, "rrandiops",
			 (json_int_t)p->rrandiops, "wbps", (json_int_t)p->wbps, "wseqiops",
			 (json_int_t)p->wseqiops, "wrandiops", (json_int_t)p->wrandiops,
			 "latency_ns", (json_int_t)p->latency_ns, "flush_ns",
			 (json_int_t)p->flush_ns, "knee_ns", (json_int_t)p->knee_ns, "rotational",
			 p->rotational);
}

static json_t *cell_json(unsigned int load, unsigned int depth, const struct lab_result *r)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "rw", loads[load].rw,
			 "bs", (json_int_t)loads[load].bytes, "depth", (json_int_t)depths[depth],
			 "iops", (json_int_t)lab_result_iops(r), "bw_bytes",
			 (json_int_t)lab_result_bytes_per_s(r), "mean_ns", (json_int_t)r->mean_ns,
			 "p50_ns", (json_int_t)r->p50_ns, "p99_ns", (json_int_t)r->p99_ns, "max_ns",
			 (json_int_t)r->max_ns);
}

json_t *device_json(const char *spec, const struct lab_device_model *m,
		    const struct lab_device_info *info, const struct device_table *t)
{
	json_t *table = json_array();
	unsigned int i, k;

	for (i = 0; i < TABLE_LOADS; i++)
		for (k = 0; k < TABLE_DEPTHS; k++)
			if (t->cell[i][k].ios)
				json_array_append_new(table, cell_json(i, k, &t->cell[i][k]));
	return json_pack("{s:s, s:o, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "weir version",
			 WEIR_VERSION, "device", report_text(spec), "model", m->name, "help",
			 title(spec, m), "sectors", (json_int_t)info->sectors, "queue_depth",
			 (json_int_t)info->queue_depth, "max_bytes",
			 (json_int_t)info->max_sectors * 512, "options", device_options_json(m),
			 "profile", profile_json(&info->profile), "table", table);
}
