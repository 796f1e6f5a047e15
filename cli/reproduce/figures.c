// SPDX-License-Identifier: GPL-2.0-only
/* A figure of a run: what the columns of the tables show. */
#include <string.h>

#include "cli/reproduce/reproduce.h"
#include "lab/report.h"

static const struct lab_group_result *group_of(const struct lab_sim_result *r, const char *path)
{
	unsigned int n;

	for (n = 0; n < r->whole.nr_groups; n++)
		if (!strcmp(r->whole.group[n].path, path ? path : ""))
			return &r->whole.group[n];
	return NULL;
}

static double per_s(const struct lab_sim_result *r, double n)
{
	return r->whole.measured_ns ? n * 1e9 / (double)r->whole.measured_ns : 0;
}

double repro_iops(const struct lab_sim_result *r, const char *arg)
{
	const struct lab_group_result *g = group_of(r, arg);

	return g ? per_s(r, (double)lab_meters_ios(g->meter)) : 0;
}

double repro_mb_per_s(const struct lab_sim_result *r, const char *arg)
{
	const struct lab_group_result *g = group_of(r, arg);

	return g ? per_s(r, (double)lab_meters_bytes(g->meter)) / 1e6 : 0;
}

/* The clients of a group as one distribution. */
static bool latency_of(const struct lab_sim_result *r, const char *arg, struct lab_lat *out)
{
	const struct lab_group_result *g = group_of(r, arg);

	if (!g)
		return false;
	report_latency(g->meter, out);
	return out->nr > 0;
}

double repro_mean_ms(const struct lab_sim_result *r, const char *arg)
{
	static struct lab_lat lat;

	return latency_of(r, arg, &lat) ? (double)lat.sum_ns / (double)lat.nr / 1e6 : 0;
}

double repro_max_ms(const struct lab_sim_result *r, const char *arg)
{
	static struct lab_lat lat;

	return latency_of(r, arg, &lat) ? (double)lat.max_ns / 1e6 : 0;
}

double repro_p99_us(const struct lab_sim_result *r, const char *arg)
{
	static struct lab_lat lat;

	return latency_of(r, arg, &lat) ? (double)lab_lat_percentile_ns(&lat, 99000000) / 1e3 : 0;
}

static double received(const struct lab_sim_result *r, const struct lab_group_result *g)
{
	double all = (double)lab_device_ns(&r->whole.group[0].stats);

	return all > 0 ? (double)lab_device_ns(&g->stats) / all : 0;
}

double repro_received(const struct lab_sim_result *r, const char *arg)
{
	const struct lab_group_result *g = group_of(r, arg);

	return g ? received(r, g) : 0;
}

double repro_of_entitled(const struct lab_sim_result *r, const char *arg)
{
	const struct lab_group_result *g = group_of(r, arg);
	double entitled;

	if (!g || !g->stats.entitled_ns)
		return 0;
	entitled = (double)g->stats.entitled_ns / (double)g->stats.in_use_ns;
	return received(r, g) / entitled;
}

/* Of the groups below the root, which all have as much to ask for as they can get: in percent. */
double repro_share_error(const struct lab_sim_result *r, const char *arg)
{
	double worst = 0, sum = 0;
	unsigned int n;

	(void)arg;
	for (n = 1; n < r->whole.nr_groups; n++)
		if (r->whole.group[n].parent == 0)
			sum += r->whole.group[n].attr.weight;
	for (n = 1; n < r->whole.nr_groups; n++) {
		const struct lab_group_result *g = &r->whole.group[n];
		double error;

		if (g->parent)
			continue;
		error = received(r, g) / (g->attr.weight / sum) - 1;
		error = error < 0 ? -error : error;
		worst = error > worst ? error : worst;
	}
	return 100 * worst;
}

/* The longest wait of each group for dispatch, of 1.25 x its mean + the longest service time. */
double repro_wait_bound(const struct lab_sim_result *r, const char *arg)
{
	double worst = 0, service = (double)r->whole.group[0].service_max_ns;
	unsigned int n;

	(void)arg;
	for (n = 1; n < r->whole.nr_groups; n++) {
		const struct lab_group_result *g = &r->whole.group[n];
		double bound = service, part;

		if (!g->wait_nr)
			continue;
		bound += 1.25 * (double)g->wait_sum_ns / (double)g->wait_nr;
		part = (double)g->wait_max_ns / bound;
		worst = part > worst ? part : worst;
	}
	return worst;
}

double repro_merges(const struct lab_sim_result *r, const char *arg)
{
	(void)arg;
	return (double)lab_merges(&r->whole);
}

double repro_device_ios(const struct lab_sim_result *r, const char *arg)
{
	(void)arg;
	return (double)r->whole.host.commands;
}

/* Of all jobs together, a second of the time that they were measured. */
double repro_fsyncs(const struct lab_sim_result *r, const char *arg)
{
	double sum = 0;
	unsigned int n;

	(void)arg;
	for (n = 0; n < r->nr_jobs; n++)
		if (r->job[n].sync && r->job[n].measured_ns)
			sum += (double)r->job[n].sync->ios * 1e9 / (double)r->job[n].measured_ns;
	return sum;
}
