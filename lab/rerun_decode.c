// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of a flight recording, from bytes: see rerun_call.h. The writer is core/record.c.
 *
 * The bytes passed a checksum, which says that they are what somebody wrote, not that this somebody
 * was the recorder. The first thing that is wrong stops the decoding; what is read after it is 0.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lab/rerun_call.h"

struct cursor {
	const uint8_t *p, *end;
	char *err;
	size_t err_bytes;
	bool bad;
};

__attribute__((format(printf, 2, 3))) static void fail(struct cursor *c, const char *format, ...)
{
	va_list args;

	if (c->bad)
		return;
	c->bad = true;
	va_start(args, format);
	vsnprintf(c->err, c->err_bytes, format, args);
	va_end(args);
}

static uint8_t get_byte(struct cursor *c, const char *what)
{
	if (c->bad)
		return 0;
	if (c->p == c->end) {
		fail(c, "%s: the block ends before it", what);
		return 0;
	}
	return *c->p++;
}

/* A byte that is at most max. */
static uint8_t get_small(struct cursor *c, uint8_t max, const char *what)
{
	uint8_t v = get_byte(c, what);

	if (v <= max)
		return v;
	fail(c, "%s %u: expected 0..%u", what, v, max);
	return 0;
}

static uint64_t get_number(struct cursor *c, const char *what)
{
	uint64_t v = 0;
	unsigned int shift;
	uint8_t byte;

	for (shift = 0; shift < 64; shift += 7) {
		byte = get_byte(c, what);
		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	fail(c, "%s: more than 64 bits", what);
	return 0;
}

static uint64_t get_limited(struct cursor *c, uint64_t max, const char *what)
{
	uint64_t v = get_number(c, what);

	if (v <= max)
		return v;
	fail(c, "%s %" PRIu64 ": expected 0..%" PRIu64, what, v, max);
	return 0;
}

static uint32_t get_u32(struct cursor *c, const char *what)
{
	return (uint32_t)get_limited(c, UINT32_MAX, what);
}

static void get_name(struct cursor *c, char *name, const char *what)
{
	uint8_t length = get_small(c, WEIR_RECORD_NAME_MAX, what), i;

	for (i = 0; i < length && !c->bad; i++) {
		uint8_t byte = get_byte(c, what);

		/* It is printed. */
		if (byte <= ' ' || byte > '~')
			fail(c, "%s: byte %02x: expected letters, digits and signs", what, byte);
		name[i] = (char)byte;
	}
	name[i] = '\0';
}

/* ---- parts ---- */

static void get_rate(struct cursor *c, struct weir_rates *rates, unsigned int i, const char *what)
{
	uint64_t v = get_number(c, what);

	if (i < WEIR_NR_DIRS)
		rates->bps[i] = v;
	else
		rates->iops[i - WEIR_NR_DIRS] = v;
}

static void get_attr(struct cursor *c, struct weir_group_attr *attr)
{
	unsigned int mask = (unsigned int)get_limited(c, WEIR_REC_ATTR_ALL, "attributes"), i;

	weir_group_attr_init(attr);
	if (mask & WEIR_REC_ATTR_WEIGHT)
		attr->weight = get_u32(c, "weight");
	if (mask & WEIR_REC_ATTR_OWN_WEIGHT)
		attr->own_weight = get_u32(c, "own weight");
	for (i = 0; i < 2 * WEIR_NR_DIRS; i++)
		if (mask & WEIR_REC_ATTR_MAX << i)
			get_rate(c, &attr->max, i, "io.max");
	for (i = 0; i < 2 * WEIR_NR_DIRS; i++)
		if (mask & WEIR_REC_ATTR_LOW << i)
			get_rate(c, &attr->low, i, "io.low");
	if (mask & WEIR_REC_ATTR_LATENCY)
		attr->latency_target_ns = get_number(c, "io.latency");
}

static void get_config(struct cursor *c, struct weir_config *cfg)
{
	struct weir_profile *f = &cfg->profile;
	uint8_t bits = get_small(c, WEIR_REC_CFG_ALL, "configuration");

	f->rotational = bits & WEIR_REC_CFG_ROTATIONAL;
	cfg->merge = bits & WEIR_REC_CFG_MERGE;
	cfg->accounting = bits & WEIR_REC_CFG_ACCOUNTING;
	f->rbps = get_number(c, "rbps");
	f->rseqiops = get_number(c, "rseqiops");
	f->rrandiops = get_number(c, "rrandiops");
	f->wbps = get_number(c, "wbps");
	f->wseqiops = get_number(c, "wseqiops");
	f->wrandiops = get_number(c, "wrandiops");
	f->flush_ns = get_number(c, "flush_ns");
	f->latency_ns = get_number(c, "latency_ns");
	f->knee_ns = get_number(c, "knee_ns");
	cfg->nr_requests = get_u32(c, "nr_requests");
	cfg->pool = get_u32(c, "pool");
	cfg->device_depth = get_u32(c, "device_depth");
	cfg->max_sectors = get_u32(c, "max_sectors");
	cfg->claim_ns = get_u32(c, "claim_ns");
}

static void get_policy(struct cursor *c, struct lab_call *call)
{
	unsigned int i;

	get_name(c, call->policy, "policy");
	call->nr_tunables = get_small(c, WEIR_TUNABLES_MAX, "number of tunables");
	for (i = 0; i < call->nr_tunables; i++)
		call->tunable[i] = get_number(c, "tunable");
}

static void get_prio(struct cursor *c, uint8_t *class, uint8_t *level)
{
	*class = get_small(c, WEIR_IOPRIO_IDLE, "ioprio class");
	*level = get_small(c, 7, "ioprio level");
}

static void get_bio(struct lab_decoder *d, struct cursor *c, struct lab_call_bio *bio,
		    bool may_be_head)
{
	uint8_t mask = get_byte(c, "differences");

	*bio = d->bio;
	bio->head = mask & WEIR_REC_BIO_HEAD;
	if (bio->head && !may_be_head)
		fail(c, "differences %02x: a bio has no place in the queue", mask);
	if (mask & WEIR_REC_BIO_SECTOR)
		bio->sector += bio->nr_sectors + weir_unzigzag(get_number(c, "sector"));
	if (mask & WEIR_REC_BIO_LENGTH)
		bio->nr_sectors = (uint32_t)get_limited(c, WEIR_RQ_SECTORS_MAX, "length");
	if (mask & WEIR_REC_BIO_OP)
		bio->op = get_small(c, WEIR_NR_OPS - 1, "operation");
	if (mask & WEIR_REC_BIO_FLAGS)
		bio->flags = (uint16_t)get_limited(c, UINT16_MAX, "flags");
	if (mask & WEIR_REC_BIO_PRIO)
		get_prio(c, &bio->ioprio_class, &bio->ioprio_level);
	if (mask & WEIR_REC_BIO_GROUP)
		bio->group = get_u32(c, "group");
	if (mask & WEIR_REC_BIO_CTX)
		bio->ctx = get_u32(c, "context");
	if (bio->sector > UINT64_MAX - bio->nr_sectors)
		fail(c, "sector %" PRIu64 ": its end is beyond 2^64", bio->sector);
	d->bio = *bio;
}

static uint64_t get_rq(const struct lab_decoder *d, struct cursor *c, const char *what)
{
	uint64_t back = get_number(c, what);

	if (back < d->nr_inserted)
		return d->nr_inserted - back;
	fail(c, "%s: %" PRIu64 " insertions back, of %" PRIu64, what, back, d->nr_inserted);
	return 0;
}

static uint64_t get_rq_or_none(const struct lab_decoder *d, struct cursor *c, const char *what)
{
	uint64_t back = get_number(c, what);

	if (back <= d->nr_inserted)
		return back ? d->nr_inserted + 1 - back : 0;
	fail(c, "%s: %" PRIu64 " insertions back, of %" PRIu64, what, back - 1, d->nr_inserted);
	return 0;
}

/* ---- records ---- */

static void get_start(struct lab_decoder *d, struct cursor *c, struct lab_call *call)
{
	uint8_t version = get_byte(c, "format version");

	if (version != WEIR_RECORD_VERSION)
		fail(c, "format version %u: this weir reads version %d", version,
		     WEIR_RECORD_VERSION);
	get_name(c, call->version, "weir version");
	d->now_ns = get_limited(c, LAB_RERUN_NS_MAX, "start time");
	call->now_ns = d->now_ns;
	call->count = get_number(c, "insertions before");
	call->yes = get_small(c, 1, "drain");
	get_config(c, &call->cfg);
	get_policy(c, call);
}

static void get_group_state(struct cursor *c, struct lab_call *call)
{
	call->group = get_u32(c, "group");
	call->parent = get_u32(c, "parent");
	if (call->type == WEIR_REC_GROUP)
		call->yes = get_small(c, WEIR_REC_GROUP_DYING, "state of the group");
	get_attr(c, &call->attr);
}

static void get_ctx_state(struct cursor *c, struct lab_call *call)
{
	call->ctx = get_u32(c, "context");
	if (call->type != WEIR_REC_CTX_IOPRIO)
		call->group = get_u32(c, "group");
	get_prio(c, &call->ioprio_class, &call->ioprio_level);
}

static void get_merge(struct lab_decoder *d, struct cursor *c, struct lab_call *call)
{
	get_bio(d, c, &call->bio, false);
	call->merge = (enum weir_merge)get_small(c, WEIR_MERGE_FRONT, "kind of merge");
	if (call->type == WEIR_REC_MERGE_BIO || call->merge != WEIR_MERGE_NONE)
		call->rq = get_rq(d, c, "request");
	if (call->type == WEIR_REC_MERGE_BIO)
		call->other = get_rq_or_none(d, c, "neighbour");
}

static void get_none(struct cursor *c, struct lab_call *call)
{
	uint64_t in_ns = get_number(c, "time to ask again");

	call->at_ns = in_ns ? call->now_ns + in_ns : WEIR_NEVER;
	if (call->at_ns < call->now_ns)
		fail(c, "time to ask again: in %" PRIu64 " ns, beyond 2^64", in_ns);
}

/* Requests, admission, merging. False: another kind. */
static bool get_request_call(struct lab_decoder *d, struct cursor *c, struct lab_call *call)
{
	switch (call->type) {
	case WEIR_REC_ADMIT: {
		uint8_t bits = get_small(c, 3, "direction and answer");

		call->dir = (enum weir_dir)(bits & 1);
		call->yes = bits >> 1;
		call->group = get_u32(c, "group");
		call->bytes = get_u32(c, "bytes");
		return true;
	}
	case WEIR_REC_RELEASE:
	case WEIR_REC_WAKE:
		call->dir = (enum weir_dir)get_small(c, WEIR_NR_DIRS - 1, "direction");
		call->group = get_u32(c, "group");
		return true;
	case WEIR_REC_INSERT:
		get_bio(d, c, &call->bio, true);
		call->rq = ++d->nr_inserted;
		return true;
	case WEIR_REC_DISPATCH:
	case WEIR_REC_COMPLETE:
		call->rq = get_rq(d, c, "request");
		return true;
	case WEIR_REC_NONE:
		get_none(c, call);
		return true;
	case WEIR_REC_REQUEUE:
		call->requeue = (enum weir_requeue)get_small(c, WEIR_REQUEUE_REISSUE, "requeue");
		call->rq = get_rq(d, c, "request");
		return true;
	case WEIR_REC_REMOVE:
		call->yes = !get_small(c, 1, "answer");
		call->rq = get_rq(d, c, "request");
		return true;
	case WEIR_REC_MERGE_FIND:
	case WEIR_REC_MERGE_BIO:
		get_merge(d, c, call);
		return true;
	case WEIR_REC_MERGE_RQ:
		call->rq = get_rq(d, c, "first request");
		call->other = get_rq(d, c, "second request");
		return true;
	default:
		return false;
	}
}

static void get_other(struct lab_decoder *d, struct cursor *c, struct lab_call *call)
{
	switch (call->type) {
	case WEIR_REC_START:
		get_start(d, c, call);
		break;
	case WEIR_REC_GROUP:
	case WEIR_REC_GROUP_CREATE:
		get_group_state(c, call);
		break;
	case WEIR_REC_GROUP_REMOVE:
		call->group = get_u32(c, "group");
		break;
	case WEIR_REC_GROUP_SET:
		call->group = get_u32(c, "group");
		get_attr(c, &call->attr);
		break;
	case WEIR_REC_CONTEXT:
	case WEIR_REC_CTX_CREATE:
	case WEIR_REC_CTX_IOPRIO:
		get_ctx_state(c, call);
		break;
	case WEIR_REC_BEGIN:
		call->next_group = get_u32(c, "next group");
		call->next_ctx = get_u32(c, "next context");
		break;
	case WEIR_REC_CTX_EXIT:
		call->ctx = get_u32(c, "context");
		break;
	case WEIR_REC_CTX_MOVE:
		call->ctx = get_u32(c, "context");
		call->group = get_u32(c, "group");
		break;
	case WEIR_REC_SWITCH:
		get_policy(c, call);
		break;
	case WEIR_REC_TUNABLE:
		call->index = get_u32(c, "tunable");
		call->tunable[0] = get_number(c, "value");
		break;
	case WEIR_REC_RECONFIGURE:
		get_config(c, &call->cfg);
		break;
	case WEIR_REC_DRAIN:
		call->yes = get_small(c, 1, "drain");
		break;
	case WEIR_REC_END:
	case WEIR_REC_OVERFLOW:
		call->count = get_number(c, "number of calls");
		break;
	default: /* the rest has nothing to say */
		break;
	}
}

int lab_decode(struct lab_decoder *d, const uint8_t **p, const uint8_t *end, struct lab_call *call,
	       char *err, size_t err_bytes)
{
	struct cursor c = {.p = *p, .end = end, .err = err, .err_bytes = err_bytes};
	uint8_t byte = get_byte(&c, "type"), type = byte & WEIR_REC_TYPE_MASK;

	memset(call, 0, sizeof(*call));
	if (!c.bad && (type < WEIR_REC_START || type >= WEIR_REC_TYPES))
		fail(&c, "type %u: expected %d..%d", type, WEIR_REC_START, WEIR_REC_TYPES - 1);
	call->type = (enum weir_record_type)type;
	if (!(byte & WEIR_REC_SAME_NS))
		d->now_ns += get_limited(&c, LAB_RERUN_NS_MAX - d->now_ns, "time");
	call->now_ns = d->now_ns;
	if (!c.bad && !get_request_call(d, &c, call))
		get_other(d, &c, call);
	*p = c.p;
	return c.bad ? -1 : 0;
}
