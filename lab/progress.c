// SPDX-License-Identifier: GPL-2.0-only
/*
 * The progress line: how far the run is, on a terminal only, a few times a second of real time. The
 * clock of the machine is looked at here and nowhere else in the lab; results cannot depend on it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/fixed.h"
#include "lab/sim.h"

#define REDRAW_NS (200 * WEIR_NS_PER_MS)

struct lab_progress {
	FILE *out;
	unsigned int run, nr_runs;
	const char *policy, *device;
	uint64_t drawn_ns;
	bool drawn;
};

static uint64_t real_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * WEIR_NS_PER_S + (uint64_t)ts.tv_nsec;
}

struct lab_progress *lab_progress_new(FILE *terminal, unsigned int nr_runs)
{
	struct lab_progress *p;

	if (!isatty(fileno(terminal)))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p) {
		p->out = terminal;
		p->nr_runs = nr_runs;
		p->drawn_ns = real_ns();
	}
	return p;
}

void lab_progress_run(struct lab_progress *p, const char *policy, const char *device)
{
	if (!p)
		return;
	p->run++;
	p->policy = policy;
	p->device = device;
}

void lab_progress_at(struct lab_progress *p, unsigned int phase, unsigned int nr_phases,
		     uint64_t at_ns, uint64_t end_ns)
{
	uint64_t now_ns;

	if (!p)
		return;
	now_ns = real_ns();
	if (now_ns - p->drawn_ns < REDRAW_NS)
		return;
	p->drawn_ns = now_ns;
	p->drawn = true;
	fprintf(p->out, "\r\033[K[%u/%u] %s on %s", p->run, p->nr_runs, p->policy, p->device);
	if (nr_phases > 1)
		fprintf(p->out, ", phase %u of %u", phase + 1, nr_phases);
	fprintf(p->out, ": %" PRIu64 ".%" PRIu64 " s", at_ns / WEIR_NS_PER_S,
		at_ns % WEIR_NS_PER_S / (WEIR_NS_PER_S / 10));
	if (end_ns)
		fprintf(p->out, " of %" PRIu64 " s", (end_ns + WEIR_NS_PER_S - 1) / WEIR_NS_PER_S);
	fflush(p->out);
}

void lab_progress_free(struct lab_progress *p)
{
	if (!p)
		return;
	if (p->drawn) {
		fputs("\r\033[K", p->out);
		fflush(p->out);
	}
	free(p);
}
