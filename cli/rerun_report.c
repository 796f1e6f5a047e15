// SPDX-License-Identifier: GPL-2.0-only
/* What a rerun found: see rerun_report.h. */
#include "cli/rerun_report.h"

#include <inttypes.h>
#include <stdio.h>

#include <jansson.h>

#include "lab/sim_units.h"

/* So many groups in the summary; JSON has them all. */
#define GROUPS_SHOWN 16

/* Kinds of calls in the order of a request's life. Two kinds of records are dispatches. */
static const enum weir_record_type kinds[] = {
	WEIR_REC_ADMIT,	       WEIR_REC_RELEASE,     WEIR_REC_WAKE,	  WEIR_REC_INSERT,
	WEIR_REC_DISPATCH,     WEIR_REC_COMPLETE,    WEIR_REC_REQUEUE,	  WEIR_REC_REMOVE,
	WEIR_REC_MERGE_FIND,   WEIR_REC_MERGE_BIO,   WEIR_REC_MERGE_RQ,	  WEIR_REC_GROUP_CREATE,
	WEIR_REC_GROUP_REMOVE, WEIR_REC_GROUP_SET,   WEIR_REC_CTX_CREATE, WEIR_REC_CTX_EXIT,
	WEIR_REC_CTX_MOVE,     WEIR_REC_CTX_IOPRIO,  WEIR_REC_SWITCH,	  WEIR_REC_TUNABLE,
	WEIR_REC_RECONFIGURE,  WEIR_REC_STATS_RESET, WEIR_REC_DRAIN,	  WEIR_REC_TICK,
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint64_t calls_of(const struct lab_rerun_result *r, enum weir_record_type kind)
{
	uint64_t n = r->calls[kind];

	return kind == WEIR_REC_DISPATCH ? n + r->calls[WEIR_REC_NONE] : n;
}

/* ---- a summary to read ---- */

static void print_policy(const struct lab_rerun_result *r)
{
	const struct weir_policy_info *info = weir_policy_info(r->policy);
	char buf[LAB_TEXT_BYTES];
	unsigned int i;

	printf("policy      %s", info->name);
	for (i = 0; i < r->nr_tunables; i++)
		if (r->tunable[i] != info->tunables[i].def)
			printf(" %s=%s", info->tunables[i].name,
			       lab_format_tunable(buf, r->tunable[i], &info->tunables[i]));
	putchar('\n');
}

static void print_config(const struct weir_config *cfg)
{
	const struct weir_profile *p = &cfg->profile;

	printf("device      rbps=%" PRIu64 " rseqiops=%" PRIu64 " rrandiops=%" PRIu64 "\n", p->rbps,
	       p->rseqiops, p->rrandiops);
	printf("            wbps=%" PRIu64 " wseqiops=%" PRIu64 " wrandiops=%" PRIu64 "%s\n",
	       p->wbps, p->wseqiops, p->wrandiops, p->rotational ? " rotational" : "");
	printf("queue       nr_requests=%" PRIu32 " pool=%" PRIu32 " depth=%" PRIu32
	       " max_sectors=%" PRIu32 "%s\n",
	       cfg->nr_requests, cfg->pool, cfg->device_depth, cfg->max_sectors,
	       cfg->merge ? "" : " without merging");
}

static void print_rates(const char *name, const struct weir_rates *rates, uint64_t unset)
{
	static const char *const names[] = {"rbps", "wbps", "riops", "wiops"};
	const uint64_t rate[] = {rates->bps[WEIR_READ], rates->bps[WEIR_WRITE],
				 rates->iops[WEIR_READ], rates->iops[WEIR_WRITE]};
	bool any = false;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (rate[i] == unset)
			continue;
		printf("%s %s=%" PRIu64, any ? "" : name, names[i], rate[i]);
		any = true;
	}
}

static void print_group(const struct lab_rerun_group *g)
{
	char parent[16] = "-";

	if (g->parent != g->id)
		snprintf(parent, sizeof(parent), "%" PRIu32, g->parent);
	printf("  %8" PRIu32 "  %8s  %6" PRIu32 "  %6" PRIu32, g->id, parent, g->attr.weight,
	       g->attr.own_weight);
	print_rates("  io.max", &g->attr.max, WEIR_UNLIMITED);
	print_rates("  io.low", &g->attr.low, 0);
	if (g->attr.latency_target_ns)
		printf("  io.latency target=%" PRIu64 "us", g->attr.latency_target_ns / 1000);
	putchar('\n');
}

static void print_groups(const struct lab_rerun_result *r)
{
	uint32_t i;

	printf("groups      %" PRIu32 " at the start, contexts %" PRIu32 "\n", r->nr_groups,
	       r->nr_ctxs);
	if (r->nr_groups < 2)
		return;
	puts("        id     below  weight     own");
	for (i = 0; i < r->nr_groups && i < GROUPS_SHOWN; i++)
		print_group(&r->group[i]);
	if (i < r->nr_groups)
		printf("  and %" PRIu32 " more: --json has them\n", r->nr_groups - i);
}

static void print_calls(const struct lab_rerun_result *r)
{
	char buf[LAB_TEXT_BYTES];
	unsigned int i, column = 0;

	printf("calls       %" PRIu64 " in %s\n", r->nr_calls,
	       lab_format_ns(buf, r->last_ns - r->start_ns));
	for (i = 0; i < NR_KINDS; i++) {
		if (!calls_of(r, kinds[i]))
			continue;
		printf("  %-14s %12" PRIu64 "%s", lab_call_name(kinds[i]), calls_of(r, kinds[i]),
		       column % 3 == 2 ? "\n" : "");
		column++;
	}
	if (column % 3)
		putchar('\n');
	printf("dispatched  %" PRIu64 " requests; %" PRIu64 " times none\n",
	       r->calls[WEIR_REC_DISPATCH], r->calls[WEIR_REC_NONE]);
}

static void print_verdict(const struct lab_rerun_result *r)
{
	char buf[LAB_TEXT_BYTES];

	if (r->verdict == LAB_RERUN_EQUAL) {
		puts("verdict     equal: every answer is as recorded");
		if (r->overflowed)
			printf("            The recording overflowed at %s, after %" PRIu64
			       " calls: the rest of the run is\n            not in it.\n",
			       lab_format_ns(buf, r->last_ns - r->start_ns), r->nr_calls);
		return;
	}
	if (r->number)
		printf("verdict     differs at call %" PRIu64 ", at %s (block %" PRIu32
		       ", offset %" PRIu64 ")\n",
		       r->number, lab_format_ns(buf, r->now_ns - r->start_ns), r->block, r->offset);
	else
		puts("verdict     differs in the state at the start");
	printf("  call      %s\n", r->call);
	if (r->expected[0])
		printf("  expected  %s\n", r->expected);
	printf("  got       %s\n", r->got);
}

void rerun_print(const char *path, const struct lab_rerun_result *r)
{
	printf("recording   %s, of weir %s, %" PRIu64 " bytes in %" PRIu32 " block%s\n", path,
	       r->version, r->nr_bytes, r->nr_blocks, r->nr_blocks == 1 ? "" : "s");
	print_policy(r);
	print_config(&r->cfg);
	print_groups(r);
	print_calls(r);
	print_verdict(r);
}

void rerun_print_call(const struct lab_call *call, uint64_t start_ns, unsigned int depth)
{
	uint64_t ns = call->now_ns - start_ns;
	char text[512], answer[512];

	lab_call_text(call, text, sizeof(text));
	lab_call_answer(call, answer, sizeof(answer));
	printf("%8" PRIu64 " %5" PRIu64 ".%09" PRIu64 " %*s%s%s%s\n", call->number, ns / 1000000000,
	       ns % 1000000000, 2 * (int)depth, "", text, answer[0] ? " -> " : "", answer);
}

/* ---- JSON ---- */

/* JSON's integers are signed; what has no limit is null. */
static json_t *number(uint64_t n)
{
	return n > INT64_MAX ? json_null() : json_integer((json_int_t)n);
}

static json_t *rates_json(const struct weir_rates *rates)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "rbps", number(rates->bps[WEIR_READ]), "wbps",
			 number(rates->bps[WEIR_WRITE]), "riops", number(rates->iops[WEIR_READ]),
			 "wiops", number(rates->iops[WEIR_WRITE]));
}

static json_t *groups_json(const struct lab_rerun_result *r)
{
	json_t *all = json_array();
	uint32_t i;

	for (i = 0; i < r->nr_groups; i++) {
		const struct lab_rerun_group *g = &r->group[i];

		json_array_append_new(
			all,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id", number(g->id),
				  "parent", i ? number(g->parent) : json_null(), "weight",
				  number(g->attr.weight), "own_weight", number(g->attr.own_weight),
				  "max", rates_json(&g->attr.max), "low", rates_json(&g->attr.low),
				  "latency_target_ns", number(g->attr.latency_target_ns)));
	}
	return all;
}

static json_t *tunables_json(const struct lab_rerun_result *r)
{
	const struct weir_tunable *t = weir_policy_info(r->policy)->tunables;
	json_t *all = json_object();
	unsigned int i;

	for (i = 0; i < r->nr_tunables; i++)
		json_object_set_new(all, t[i].name, number(r->tunable[i]));
	return all;
}

static json_t *config_json(const struct weir_config *cfg)
{
	const struct weir_profile *p = &cfg->profile;
	json_t *all = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "rbps", number(p->rbps),
				"rseqiops", number(p->rseqiops), "rrandiops", number(p->rrandiops),
				"wbps", number(p->wbps), "wseqiops", number(p->wseqiops),
				"wrandiops", number(p->wrandiops));

	json_object_set_new(all, "flush_ns", number(p->flush_ns));
	json_object_set_new(all, "latency_ns", number(p->latency_ns));
	json_object_set_new(all, "knee_ns", number(p->knee_ns));
	json_object_set_new(all, "rotational", json_boolean(p->rotational));
	json_object_set_new(all, "nr_requests", number(cfg->nr_requests));
	json_object_set_new(all, "pool", number(cfg->pool));
	json_object_set_new(all, "device_depth", number(cfg->device_depth));
	json_object_set_new(all, "max_sectors", number(cfg->max_sectors));
	json_object_set_new(all, "claim_ns", number(cfg->claim_ns));
	json_object_set_new(all, "merge", json_boolean(cfg->merge));
	json_object_set_new(all, "accounting", json_boolean(cfg->accounting));
	return all;
}

static json_t *calls_json(const struct lab_rerun_result *r)
{
	json_t *all = json_object();
	unsigned int i;

	for (i = 0; i < NR_KINDS; i++)
		json_object_set_new(all, lab_call_name(kinds[i]), number(calls_of(r, kinds[i])));
	return all;
}

static json_t *difference_json(const struct lab_rerun_result *r)
{
	if (r->verdict == LAB_RERUN_EQUAL)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:s, s:s, s:s}", "call_number", number(r->number),
			 "at_ns", number(r->now_ns - r->start_ns), "block", number(r->block),
			 "offset", number(r->offset), "call", r->call, "expected", r->expected,
			 "got", r->got);
}

void rerun_print_json(const char *path, const struct lab_rerun_result *r)
{
	json_t *all = json_pack("{s:s, s:s, s:s, s:s}", "weir version", WEIR_VERSION, "recording",
				path, "recorded by", r->version, "policy",
				weir_policy_info(r->policy)->name);

	/* A path need not be UTF-8; then it is left out. */
	if (!all)
		all = json_pack("{s:s, s:s, s:s}", "weir version", WEIR_VERSION, "recorded by",
				r->version, "policy", weir_policy_info(r->policy)->name);
	json_object_set_new(all, "tunables", tunables_json(r));
	json_object_set_new(all, "config", config_json(&r->cfg));
	json_object_set_new(all, "groups", groups_json(r));
	json_object_set_new(all, "contexts", number(r->nr_ctxs));
	json_object_set_new(all, "blocks", number(r->nr_blocks));
	json_object_set_new(all, "bytes", number(r->nr_bytes));
	json_object_set_new(all, "start_ns", number(r->start_ns));
	json_object_set_new(all, "duration_ns", number(r->last_ns - r->start_ns));
	json_object_set_new(all, "nr_calls", number(r->nr_calls));
	json_object_set_new(all, "calls", calls_json(r));
	json_object_set_new(all, "dispatched", number(r->calls[WEIR_REC_DISPATCH]));
	json_object_set_new(all, "overflowed", json_boolean(r->overflowed));
	json_object_set_new(all, "verdict",
			    json_string(r->verdict == LAB_RERUN_EQUAL ? "equal" : "differs"));
	json_object_set_new(all, "difference", difference_json(r));
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}
