// SPDX-License-Identifier: GPL-2.0-only
/* What a worker measures: see worker.h. */
#include <stdio.h>
#include <stdlib.h>

#include "lab/worker.h"

struct lab_meter *lab_meter_new(void)
{
	struct lab_meter *m = calloc(1, sizeof(*m));

	if (!m) {
		fputs("weir: out of memory for a job's histograms\n", stderr);
		abort();
	}
	lab_lat_init(&m->lat);
	return m;
}

void worker_meter(struct lab_worker *w, const struct lab_worker_io *io, uint64_t now_ns)
{
	struct lab_meter *m = w->meter[io->dir];

	if (!lab_worker_measures(w, now_ns))
		return;
	m->ios++;
	m->bytes += io->bytes;
	lab_lat_add(&m->lat, now_ns - io->issue_ns);
}

void lab_meter_merge(struct lab_meter *into, const struct lab_meter *from)
{
	into->ios += from->ios;
	into->bytes += from->bytes;
	lab_lat_merge(&into->lat, &from->lat);
}

uint64_t lab_worker_measured_ns(const struct lab_worker *w)
{
	return w->end_ns > w->measure_from_ns ? w->end_ns - w->measure_from_ns : 0;
}
