// SPDX-License-Identifier: GPL-2.0-only
/*
 * weir curve: what more depth buys on a modelled device, and where it stops buying anything.
 *
 * Each row is a fresh device under a closed loop of that many commands, in virtual time. The knee
 * is the smallest of the depths that reaches 99 % of the best rate: beyond it commands only wait.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/bad_option.h"
#include "cli/cli.h"
#include "cli/parse_args.h"
#include "cli/say.h"
#include "lab/measure.h"
#include "lab/report_json.h"
#include "lab/sim_units.h"

#define ROWS 9 /* depth 1..256 */

static const struct {
	const char *name;
	bool random;
	uint32_t read_percent;
} patterns[] = {
	{"read", false, 100},	 {"write", false, 0},	 {"rw", false, 50},
	{"randread", true, 100}, {"randwrite", true, 0}, {"randrw", true, 50},
};

#define NR_PATTERNS (sizeof(patterns) / sizeof(patterns[0]))

struct curve {
	const char *program, *device, *bs_text;
	size_t pattern;
	uint32_t bytes;
	uint64_t seed;
	bool json, said;	 /* said: the error is on stderr already */
	unsigned int rows, knee; /* knee: row */
	struct lab_result result[ROWS];
};

static const struct argp_option options[] = {
	{"device", 'd', "DEVICE", 0, "model to measure, as in weir-devices(1)", 0},
	{"rw", 'r', "PATTERN", 0, "read, write, rw, randread (default), randwrite, randrw", 0},
	{"bs", 'b', "SIZE", 0, "bytes of a command, with k or m (default 4k)", 0},
	{"seed", 's', "N", 0, "of the device and of the offsets (default 1)", 0},
	{"json", 'j', NULL, 0, "one JSON object instead of the table", 0},
	{0},
};

static int bad(struct curve *c, const char *value, const char *accepted)
{
	cli_say(c->program, "%s: %s", *value ? value : "(empty)", accepted);
	c->said = true;
	return EINVAL;
}

static int parse_size(struct curve *c, const char *text)
{
	uint64_t value;

	c->bs_text = text;
	if (!lab_parse_value(text, WEIR_UNIT_BYTES, &value) || !value || value % 512 ||
	    value > 1u << 30)
		return bad(c, text,
			   "--bs must be a multiple of 512 bytes up to 1g, such as 4k or "
			   "128k");
	c->bytes = (uint32_t)value;
	return 0;
}

static int parse_pattern(struct curve *c, const char *text)
{
	for (c->pattern = 0; c->pattern < NR_PATTERNS; c->pattern++)
		if (!strcmp(patterns[c->pattern].name, text))
			return 0;
	return bad(c, text, "--rw must be read, write, rw, randread, randwrite or randrw");
}

static int parse_seed(struct curve *c, const char *text)
{
	if (!lab_parse_value(text, WEIR_UNIT_COUNT, &c->seed) || c->seed > INT64_MAX)
		return bad(c, text, "--seed must be a whole number below 2^63");
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct curve *c = state->input;

	switch (key) {
	case 'd':
		c->device = arg;
		return 0;
	case 'r':
		return parse_pattern(c, arg);
	case 'b':
		return parse_size(c, arg);
	case 's':
		return parse_seed(c, arg);
	case 'j':
		c->json = true;
		return 0;
	case ARGP_KEY_ARG:
		return bad(c, arg,
			   "no argument is accepted; the device is given by --device=DEVICE");
	case ARGP_KEY_END:
		if (!c->device)
			return bad(c, "--device=DEVICE", "is needed; weir devices lists them");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* One row on a fresh device; false and a line on stderr if there is none. */
static bool measure_row(struct curve *c, uint32_t depth, uint32_t *device_depth,
			struct lab_result *out)
{
	struct lab_engine *e = lab_engine_new();
	struct lab_device *d;
	struct lab_load load;
	char err[512];
	bool ok = false;

	d = lab_device_open(c->device, e, c->seed, err, sizeof(err));
	if (!d) {
		cli_say(c->program, "%s", err);
	} else if (c->bytes > d->info.max_sectors << WEIR_SECTOR_SHIFT) {
		cli_say(c->program, "%s: --bs may be up to %uk on %s", c->bs_text,
			d->info.max_sectors / 2, c->device);
	} else {
		lab_load_init(&load, &d->info, patterns[c->pattern].read_percent,
			      patterns[c->pattern].random, c->bytes, depth);
		load.seed = c->seed;
		*device_depth = d->info.queue_depth;
		lab_measure(d, &load, out);
		ok = true;
	}
	if (d)
		d->destroy(d);
	lab_engine_free(e);
	return ok;
}

/* Rows up to the device's queue depth, or 256. */
static bool measure(struct curve *c)
{
	uint32_t device_depth = 1;
	uint64_t peak = 0;

	for (c->rows = 0; c->rows < ROWS; c->rows++) {
		if (c->rows && (1u << c->rows) >= 2 * device_depth)
			break;
		if (!measure_row(c, 1u << c->rows, &device_depth, &c->result[c->rows]))
			return false;
		if (lab_result_iops(&c->result[c->rows]) > peak)
			peak = lab_result_iops(&c->result[c->rows]);
	}
	while (lab_result_iops(&c->result[c->knee]) * 100 < peak * 99)
		c->knee++;
	return true;
}

static double us(uint64_t ns)
{
	return (double)ns / 1000;
}

static void print_table(const struct curve *c)
{
	const struct lab_result *knee = &c->result[c->knee];
	unsigned int i;

	printf("%s, %s, %u bytes, virtual time\n\n", c->device, patterns[c->pattern].name,
	       c->bytes);
	printf("%6s %12s %10s %12s %12s %12s\n", "depth", "IOPS", "MB/s", "mean us", "p50 us",
	       "p99 us");
	for (i = 0; i < c->rows; i++) {
		const struct lab_result *r = &c->result[i];

		printf("%6u %12llu %10.1f %12.1f %12.1f %12.1f%s\n", 1u << i,
		       (unsigned long long)lab_result_iops(r),
		       (double)lab_result_bytes_per_s(r) / 1e6, us(r->mean_ns), us(r->p50_ns),
		       us(r->p99_ns), i == c->knee ? "  <- knee" : "");
	}
	printf("\nKnee: depth %u reaches 99 %% of the best rate; mean %.1f us there, %.1f us at "
	       "depth 1.\n",
	       1u << c->knee, us(knee->mean_ns), us(c->result[0].mean_ns));
}

static void print_json(const struct curve *c)
{
	json_t *rows = json_array(), *root;
	unsigned int i;

	for (i = 0; i < c->rows; i++) {
		const struct lab_result *r = &c->result[i];

		json_array_append_new(
			rows,
			json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "depth",
				  (json_int_t)1 << i, "iops", (json_int_t)lab_result_iops(r),
				  "bw_bytes", (json_int_t)lab_result_bytes_per_s(r), "mean_ns",
				  (json_int_t)r->mean_ns, "p50_ns", (json_int_t)r->p50_ns, "p99_ns",
				  (json_int_t)r->p99_ns, "max_ns", (json_int_t)r->max_ns));
	}
	root = json_pack("{s:s, s:o, s:s, s:I, s:I, s:I, s:o}", "weir version", WEIR_VERSION,
			 "device", report_text(c->device), "rw", patterns[c->pattern].name, "bs",
			 (json_int_t)c->bytes, "seed", (json_int_t)c->seed, "knee_depth",
			 (json_int_t)1 << c->knee, "curve", rows);
	json_dumpf(root, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(root);
}

int cmd_curve(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse,
		NULL,	 "Depth against throughput and latency of a modelled device, and the knee.",
		NULL,	 NULL,
		NULL,
	};
	struct curve c = {.program = argv[0], .bytes = 4096, .seed = 1, .bs_text = "4k"};

	parse_pattern(&c, "randread");
	if (cli_printed_help(&argp, argc, argv))
		return CLI_DONE;
	if (argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &c))
		return c.said ? CLI_USAGE : cli_bad_option(argc, argv, options);
	if (!measure(&c))
		return CLI_USAGE;
	if (c.json)
		print_json(&c);
	else
		print_table(&c);
	return CLI_DONE;
}
