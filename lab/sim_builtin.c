// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workloads that a job file cannot express, by name:
 *
 *	builtin:interleave[:threads=N][:size=BYTES][:block=BYTES][:rw=read|write]
 *			  [:pause=TIME][:seed=N][:cgroup=PATH]
 *
 * interleave is what sysbench's sequential file test does (thread 004): N threads have one open
 * file between them, so one read-ahead state. Each takes the next block of the file, reads or writes
 * it, and comes back for another one after a pause of 0 to `pause`, drawn from the seed: that
 * decides which thread is next, as a CPU scheduler would. So the union is sequential while each
 * thread strides.
 *
 * It is made of ordinary clones of a fio job, which the text below describes; only where the next
 * block is comes from somewhere else (struct lab_turns).
 */
#include <inttypes.h>
#include <string.h>

#include "lab/sim.h"
#include "lab/sim_units.h"

struct interleave {
	uint64_t threads, size, block, pause_us, seed;
	const char *rw, *cgroup;
};

struct option {
	const char *name;
	enum weir_unit unit;
	uint64_t min, max;
	size_t at;
};

static const struct option options[] = {
	{"threads", WEIR_UNIT_COUNT, 1, 256, offsetof(struct interleave, threads)},
	{"size", WEIR_UNIT_BYTES, 4096, UINT64_C(1) << 44, offsetof(struct interleave, size)},
	{"block", WEIR_UNIT_BYTES, 512, 16 << 20, offsetof(struct interleave, block)},
	{"pause", WEIR_UNIT_US, 0, 1000000, offsetof(struct interleave, pause_us)},
	{"seed", WEIR_UNIT_COUNT, 1, UINT64_MAX, offsetof(struct interleave, seed)},
};

static const char *const words = "threads, size, block, pause, seed, rw=read or write, cgroup";

const char *lab_builtin_help(unsigned int n)
{
	return n ? NULL
		 : LAB_BUILTIN_PREFIX
		       "interleave[:threads=3][:size=1g][:block=16k][:rw=read][:pause=20us][:seed="
		       "N]"
		       "[:cgroup=PATH]  threads of one open file take its blocks in turn";
}

static bool set_option(struct interleave *w, char *text, char *err, size_t err_bytes)
{
	char *equals = strchr(text, '='), low[LAB_TEXT_BYTES], high[LAB_TEXT_BYTES];
	const struct option *o;
	uint64_t value;
	size_t i;

	if (equals)
		*equals++ = '\0';
	if (equals && !strcmp(text, "cgroup")) {
		w->cgroup = equals;
		return true;
	}
	if (equals && !strcmp(text, "rw") &&
	    (!strcmp(equals, "read") || !strcmp(equals, "write"))) {
		w->rw = equals;
		return true;
	}
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		o = &options[i];
		if (!equals || strcmp(o->name, text) != 0)
			continue;
		if (lab_parse_value(equals, o->unit, &value) && value >= o->min &&
		    value <= o->max) {
			memcpy((char *)w + o->at, &value, sizeof(value));
			return true;
		}
		snprintf(err, err_bytes,
			 LAB_BUILTIN_PREFIX "interleave: %s=%s: accepted is %s, from %s to %s",
			 text, equals, lab_unit_accepts(o->unit),
			 lab_format_value(low, o->min, o->unit),
			 lab_format_value(high, o->max, o->unit));
		return false;
	}
	snprintf(err, err_bytes, LAB_BUILTIN_PREFIX "interleave: %s%s%s: accepted are %s", text,
		 equals ? "=" : "", equals ? equals : "", words);
	return false;
}

static struct lab_jobs *make_jobs(const struct interleave *w, const char *spec, char *err,
				  size_t err_bytes)
{
	char text[4096];
	int bytes;

	bytes = snprintf(text, sizeof(text),
			 "[interleave]\nrw=%s\nbs=%" PRIu64 "\nsize=%" PRIu64
			 "\nfilename=interleave\nnumjobs=%" PRIu64 "\ngroup_reporting\n%s%s\n",
			 w->rw, w->block, w->size, w->threads, w->cgroup ? "cgroup=" : "",
			 w->cgroup ? w->cgroup : "");
	if (bytes < 0 || (size_t)bytes >= sizeof(text)) {
		snprintf(err, err_bytes, "%.40s...: accepted are shorter values", spec);
		return NULL;
	}
	return lab_jobs_parse(text, (size_t)bytes, spec, NULL, err, err_bytes);
}

struct lab_jobs *lab_builtin_jobs(const char *spec, struct lab_builtin *out, char *err,
				  size_t err_bytes)
{
	struct interleave w = {
		.threads = 3, .size = 1 << 30, .block = 16 << 10, .pause_us = 20, .rw = "read"};
	char copy[512], *at, *next;

	if (strlen(spec) >= sizeof(copy)) {
		snprintf(err, err_bytes, "%.40s...: accepted are shorter values", spec);
		return NULL;
	}
	strcpy(copy, spec + strlen(LAB_BUILTIN_PREFIX));
	next = strchr(copy, ':');
	if (next)
		*next++ = '\0';
	if (strcmp(copy, "interleave") != 0) {
		snprintf(err, err_bytes, "%s: accepted is " LAB_BUILTIN_PREFIX "interleave", spec);
		return NULL;
	}
	for (at = next; at; at = next) {
		next = strchr(at, ':');
		if (next)
			*next++ = '\0';
		if (!set_option(&w, at, err, err_bytes))
			return NULL;
	}
	*out = (struct lab_builtin){
		.name = "interleave", .seed = w.seed, .pause_ns = w.pause_us * 1000};
	return make_jobs(&w, spec, err, err_bytes);
}
