// SPDX-License-Identifier: GPL-2.0-only
/* Records of a flight recording, in words: see rerun_call.h. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "lab/rerun_call.h"

/* Text that grows; what has no room is cut off. */
struct text {
	char *buf;
	size_t bytes, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	if (t->used >= t->bytes)
		return;
	va_start(args, format);
	n = vsnprintf(t->buf + t->used, t->bytes - t->used, format, args);
	va_end(args);
	t->used += n > 0 ? (size_t)n : 0;
}

static struct text begin(char *buf, size_t bytes)
{
	if (bytes)
		buf[0] = '\0';
	return (struct text){.buf = buf, .bytes = bytes};
}

const char *lab_call_name(enum weir_record_type type)
{
	static const char *const names[WEIR_REC_TYPES] = {
		[WEIR_REC_START] = "start",
		[WEIR_REC_GROUP] = "group",
		[WEIR_REC_CONTEXT] = "context",
		[WEIR_REC_BEGIN] = "begin",
		[WEIR_REC_ADMIT] = "admit",
		[WEIR_REC_RELEASE] = "release",
		[WEIR_REC_INSERT] = "insert",
		[WEIR_REC_DISPATCH] = "dispatch",
		[WEIR_REC_NONE] = "dispatch",
		[WEIR_REC_COMPLETE] = "complete",
		[WEIR_REC_REQUEUE] = "requeue",
		[WEIR_REC_REMOVE] = "remove",
		[WEIR_REC_MERGE_FIND] = "merge_find",
		[WEIR_REC_MERGE_BIO] = "merge_bio",
		[WEIR_REC_MERGE_RQ] = "merge_rq",
		[WEIR_REC_GROUP_CREATE] = "group_create",
		[WEIR_REC_GROUP_REMOVE] = "group_remove",
		[WEIR_REC_GROUP_SET] = "group_set",
		[WEIR_REC_CTX_CREATE] = "ctx_create",
		[WEIR_REC_CTX_EXIT] = "ctx_exit",
		[WEIR_REC_CTX_MOVE] = "ctx_move",
		[WEIR_REC_CTX_IOPRIO] = "ctx_set_ioprio",
		[WEIR_REC_SWITCH] = "switch",
		[WEIR_REC_TUNABLE] = "tunable_set",
		[WEIR_REC_RECONFIGURE] = "reconfigure",
		[WEIR_REC_DRAIN] = "set_drain",
		[WEIR_REC_STATS_RESET] = "stats_reset",
		[WEIR_REC_TICK] = "tick",
		[WEIR_REC_WAKE] = "wake",
		[WEIR_REC_WOKEN] = "woken",
		[WEIR_REC_END] = "end",
		[WEIR_REC_OVERFLOW] = "overflow",
	};

	return (unsigned int)type < WEIR_REC_TYPES && names[type] ? names[type] : "?";
}

static const char *op_name(uint8_t op)
{
	static const char *const names[WEIR_NR_OPS] = {"read", "write", "flush", "discard",
						       "write-zeroes"};

	return op < WEIR_NR_OPS ? names[op] : "?";
}

static const char *dir_name(enum weir_dir dir)
{
	return dir == WEIR_READ ? "read" : "write";
}

static const char *merge_name(enum weir_merge kind)
{
	return kind == WEIR_MERGE_BACK ? "back" : kind == WEIR_MERGE_FRONT ? "front" : "none";
}

static void add_flags(struct text *t, uint16_t flags)
{
	static const char *const names[] = {"sync",	"fua",	   "meta",
					    "preflush", "nomerge", "idle-ok"};
	unsigned int bit;

	for (bit = 0; bit < 16; bit++) {
		if (!(flags & 1u << bit))
			continue;
		if (bit < sizeof(names) / sizeof(names[0]))
			add(t, " %s", names[bit]);
		else
			add(t, " flag-%u", bit);
	}
}

static void add_prio(struct text *t, uint8_t class, uint8_t level)
{
	static const char *const names[] = {"none", "rt", "be", "idle"};

	add(t, " ioprio %s/%u", class <= WEIR_IOPRIO_IDLE ? names[class] : "?", level);
}

static void add_bio(struct text *t, const struct lab_call_bio *bio)
{
	add(t, "%s of %" PRIu32 " sectors at %" PRIu64 ", group %" PRIu32, op_name(bio->op),
	    bio->nr_sectors, bio->sector, bio->group);
	if (bio->ctx)
		add(t, ", context %" PRIu32, bio->ctx - 1);
	if (bio->flags) {
		add(t, ",");
		add_flags(t, bio->flags);
	}
	if (bio->ioprio_class) {
		add(t, ",");
		add_prio(t, bio->ioprio_class, bio->ioprio_level);
	}
}

static void add_rate(struct text *t, const char *name, uint64_t rate)
{
	if (rate == WEIR_UNLIMITED)
		add(t, " %s=max", name);
	else
		add(t, " %s=%" PRIu64, name, rate);
}

static void add_rates(struct text *t, const char *what, const struct weir_rates *rates,
		      uint64_t unset)
{
	if (rates->bps[0] == unset && rates->bps[1] == unset && rates->iops[0] == unset &&
	    rates->iops[1] == unset)
		return;
	add(t, ", %s", what);
	add_rate(t, "rbps", rates->bps[WEIR_READ]);
	add_rate(t, "wbps", rates->bps[WEIR_WRITE]);
	add_rate(t, "riops", rates->iops[WEIR_READ]);
	add_rate(t, "wiops", rates->iops[WEIR_WRITE]);
}

static void add_attr(struct text *t, const struct weir_group_attr *attr)
{
	add(t, "weight %" PRIu32, attr->weight);
	if (attr->own_weight != WEIR_WEIGHT_DEFAULT)
		add(t, ", own weight %" PRIu32, attr->own_weight);
	add_rates(t, "io.max", &attr->max, WEIR_UNLIMITED);
	add_rates(t, "io.low", &attr->low, 0);
	if (attr->latency_target_ns)
		add(t, ", io.latency target=%" PRIu64 " ns", attr->latency_target_ns);
}

static void add_policy(struct text *t, const struct lab_call *call)
{
	unsigned int i;

	add(t, "%s", call->policy);
	for (i = 0; i < call->nr_tunables; i++)
		add(t, "%s%" PRIu64, i ? "," : ":", call->tunable[i]);
}

static void add_config(struct text *t, const struct weir_config *cfg)
{
	const struct weir_profile *f = &cfg->profile;

	add(t, "rbps=%" PRIu64 " rseqiops=%" PRIu64 " rrandiops=%" PRIu64, f->rbps, f->rseqiops,
	    f->rrandiops);
	add(t, " wbps=%" PRIu64 " wseqiops=%" PRIu64 " wrandiops=%" PRIu64, f->wbps, f->wseqiops,
	    f->wrandiops);
	add(t, " nr_requests=%" PRIu32 " pool=%" PRIu32 " device_depth=%" PRIu32, cfg->nr_requests,
	    cfg->pool, cfg->device_depth);
	add(t, " max_sectors=%" PRIu32 " claim_ns=%" PRIu32 " merge=%d rotational=%d",
	    cfg->max_sectors, cfg->claim_ns, cfg->merge, f->rotational);
}

static void add_merge(struct text *t, const struct lab_call *call)
{
	if (call->type == WEIR_REC_MERGE_BIO)
		add(t, " %s into request %" PRIu64 ":", merge_name(call->merge), call->rq);
	add(t, " ");
	add_bio(t, &call->bio);
}

static void add_group(struct text *t, const struct lab_call *call)
{
	add(t, " %" PRIu32, call->group);
	if (call->type == WEIR_REC_GROUP && call->parent == call->group)
		add(t, ", the root");
	else if (call->type != WEIR_REC_GROUP_SET)
		add(t, " below %" PRIu32, call->parent);
	add(t, ": ");
	add_attr(t, &call->attr);
	if (call->yes)
		add(t, ", removed already");
}

static void add_ctx(struct text *t, const struct lab_call *call)
{
	add(t, " %" PRIu32, call->ctx);
	if (call->type == WEIR_REC_CTX_MOVE)
		add(t, " to");
	else if (call->type != WEIR_REC_CTX_EXIT)
		add_prio(t, call->ioprio_class, call->ioprio_level);
	if (call->type != WEIR_REC_CTX_EXIT && call->type != WEIR_REC_CTX_IOPRIO)
		add(t, " group %" PRIu32, call->group);
}

static void add_request_call(struct text *t, const struct lab_call *call)
{
	switch (call->type) {
	case WEIR_REC_ADMIT:
		add(t, " %s of %" PRIu32 " bytes, group %" PRIu32, dir_name(call->dir), call->bytes,
		    call->group);
		break;
	case WEIR_REC_RELEASE:
	case WEIR_REC_WAKE:
		add(t, " %s, group %" PRIu32, dir_name(call->dir), call->group);
		break;
	case WEIR_REC_INSERT:
		add(t, " request %" PRIu64 ": ", call->rq);
		add_bio(t, &call->bio);
		add(t, "%s", call->bio.head ? ", at the head" : "");
		break;
	case WEIR_REC_COMPLETE:
	case WEIR_REC_REMOVE:
		add(t, " request %" PRIu64, call->rq);
		break;
	case WEIR_REC_REQUEUE:
		add(t, " request %" PRIu64 ", %s", call->rq,
		    call->requeue == WEIR_REQUEUE_INSERT ? "inserted again" : "issued again");
		break;
	case WEIR_REC_MERGE_FIND:
	case WEIR_REC_MERGE_BIO:
		add_merge(t, call);
		break;
	case WEIR_REC_MERGE_RQ:
		add(t, " request %" PRIu64 " absorbs %" PRIu64, call->rq, call->other);
		break;
	default:
		break;
	}
}

static void add_other(struct text *t, const struct lab_call *call)
{
	switch (call->type) {
	case WEIR_REC_GROUP:
	case WEIR_REC_GROUP_CREATE:
	case WEIR_REC_GROUP_SET:
		add_group(t, call);
		break;
	case WEIR_REC_GROUP_REMOVE:
		add(t, " %" PRIu32, call->group);
		break;
	case WEIR_REC_CONTEXT:
	case WEIR_REC_CTX_CREATE:
	case WEIR_REC_CTX_EXIT:
	case WEIR_REC_CTX_MOVE:
	case WEIR_REC_CTX_IOPRIO:
		add_ctx(t, call);
		break;
	case WEIR_REC_START:
	case WEIR_REC_SWITCH:
		add(t, " ");
		add_policy(t, call);
		break;
	case WEIR_REC_TUNABLE:
		add(t, " %" PRIu32 " to %" PRIu64, call->index, call->tunable[0]);
		break;
	case WEIR_REC_RECONFIGURE:
		add(t, " ");
		add_config(t, &call->cfg);
		break;
	case WEIR_REC_DRAIN:
		add(t, " %s", call->yes ? "on" : "off");
		break;
	case WEIR_REC_END:
	case WEIR_REC_OVERFLOW:
		add(t, " after %" PRIu64 " calls", call->count);
		break;
	default:
		break;
	}
}

void lab_call_text(const struct lab_call *call, char *buf, size_t bytes)
{
	struct text t = begin(buf, bytes);

	add(&t, "%s", lab_call_name(call->type));
	add_request_call(&t, call);
	add_other(&t, call);
}

void lab_call_answer(const struct lab_call *call, char *buf, size_t bytes)
{
	struct text t = begin(buf, bytes);

	switch (call->type) {
	case WEIR_REC_ADMIT:
		add(&t, "%s", call->yes ? "yes" : "not yet");
		break;
	case WEIR_REC_DISPATCH:
		add(&t, "request %" PRIu64, call->rq);
		break;
	case WEIR_REC_NONE:
		if (call->at_ns == WEIR_NEVER)
			add(&t, "none until an insert or a completion");
		else
			add(&t, "none, again in %" PRIu64 " ns", call->at_ns - call->now_ns);
		break;
	case WEIR_REC_REMOVE:
		add(&t, "%s", call->yes ? "removed" : "busy: it is in the device");
		break;
	case WEIR_REC_MERGE_FIND:
		if (call->merge == WEIR_MERGE_NONE)
			add(&t, "none");
		else
			add(&t, "%s into request %" PRIu64, merge_name(call->merge), call->rq);
		break;
	case WEIR_REC_MERGE_BIO:
		if (call->other)
			add(&t, "neighbour is request %" PRIu64, call->other);
		else
			add(&t, "no neighbour");
		break;
	default:
		break;
	}
}
