// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notes of a run: what was asked for and is not in force. A setting that has no effect is worse
 * than an error, because nobody looks for it.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sim_impl.h"

/* Groups that a note names before it counts. */
#define NAMES_MAX 3

/* Notes may repeat; each is kept once. */
void sim_note_text(struct sim *s, const char *text)
{
	struct lab_sim_result *r = s->result;
	unsigned int i;

	for (i = 0; i < r->nr_notes; i++)
		if (!strcmp(r->note[i], text))
			return;
	r->note = realloc(r->note, (r->nr_notes + 1) * sizeof(*r->note));
	if (r->note)
		r->note[r->nr_notes] = strdup(text);
	if (!r->note || !r->note[r->nr_notes++])
		abort();
}

__attribute__((format(printf, 2, 3))) static void note(struct sim *s, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sim_note_text(s, text);
}

void sim_note_lowered(struct sim *s, const char *setting, uint64_t wanted, uint64_t got)
{
	note(s, "--host: %s=%" PRIu64 " is more than %s takes: %" PRIu64 " is in force", setting,
	     wanted, s->spec->device, got);
}

/* ---- what the policy does not keep ---- */

static bool rates_are_set(const struct weir_rates *r)
{
	return r->bps[WEIR_READ] || r->bps[WEIR_WRITE] || r->iops[WEIR_READ] || r->iops[WEIR_WRITE];
}

/* What of `enum weir_keeps` this run asks for. */
static unsigned int wanted(const struct sim *s)
{
	const struct lab_groups *groups = s->spec->groups;
	const struct lab_jobs *jobs = s->spec->jobs;
	const unsigned int own_weight = groups->group[0].attr.own_weight;
	unsigned int i, all = 0;

	for (i = 0; i < groups->nr; i++) {
		const struct weir_group_attr *a = &groups->group[i].attr;

		if (i && a->weight != WEIR_WEIGHT_DEFAULT)
			all |= WEIR_KEEPS_WEIGHTS;
		if (strchr(groups->group[i].path, '/') || a->own_weight != own_weight)
			all |= WEIR_KEEPS_TREE;
		if (rates_are_set(&a->low))
			all |= WEIR_KEEPS_FLOORS;
		if (a->latency_target_ns)
			all |= WEIR_KEEPS_LATENCY;
	}
	for (i = 0; i < jobs->nr; i++)
		if (jobs->job[i]->prioclass)
			all |= WEIR_KEEPS_PRIORITIES;
	return all;
}

static void note_unkept(struct sim *s)
{
	const struct weir_policy_info *info = weir_policy_info(s->spec->policy->policy);
	unsigned int lost = wanted(s) & ~info->keeps, bit;
	char text[256];
	size_t used = 0;

	/* Without weights the tree has no meaning either: said once. */
	if (lost & WEIR_KEEPS_WEIGHTS)
		lost &= ~(unsigned int)WEIR_KEEPS_TREE;
	for (bit = 1; lost && bit <= WEIR_KEEPS_PRIORITIES; bit <<= 1)
		if (lost & bit)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? ", " : "",
						 weir_keeps_name((enum weir_keeps)bit));
	if (used)
		note(s, "not in force under %s: %s", info->name, text);
}

/* ---- groups that nobody is in ---- */

/* Those that jobs are in or below, and those that have children: what is left has no use. */
static void mark_used(const struct sim *s, bool *used)
{
	unsigned int i, at;

	used[0] = true;
	for (i = 0; i < s->spec->jobs->nr; i++)
		for (at = s->job[i].group; !used[at]; at = s->parent[at])
			used[at] = true;
	for (i = 1; i < s->spec->groups->nr; i++)
		used[s->parent[i]] = true;
}

/* Mostly a name that was misspelt. */
static void note_empty_groups(struct sim *s)
{
	const struct lab_groups *groups = s->spec->groups;
	bool *used = sim_alloc(groups->nr, sizeof(*used));
	char names[512] = "", more[32] = "";
	unsigned int i, nr = 0;
	size_t bytes = 0;

	mark_used(s, used);
	for (i = 1; i < groups->nr; i++)
		if (!used[i] && nr++ < NAMES_MAX)
			bytes += (size_t)snprintf(names + bytes, sizeof(names) - bytes, "%s%.120s",
						  bytes ? ", " : "", groups->group[i].path);
	free(used);
	if (nr > NAMES_MAX)
		snprintf(more, sizeof(more), " and %u more", nr - NAMES_MAX);
	if (nr)
		note(s, "no job is in %s%s: what is set there has no effect", names, more);
}

void sim_note_settings(struct sim *s)
{
	note_unkept(s);
	note_empty_groups(s);
}
