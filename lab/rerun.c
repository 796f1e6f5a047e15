// SPDX-License-Identifier: GPL-2.0-only
/* A rerun: records in, verdict out. See rerun.h, and rerun_impl.h for how it is cut up. */
#include "lab/rerun.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab/rerun_impl.h"

/* ---- verdicts ---- */

static void finish(struct lab_rerun *r, enum lab_rerun_verdict verdict, const struct lab_call *call)
{
	struct lab_rerun_result *res = r->result;

	r->over = true;
	res->verdict = verdict;
	if (!call)
		return;
	res->number = call->number;
	res->now_ns = call->now_ns;
	res->block = call->block;
	res->offset = call->offset;
	lab_call_text(call, res->call, sizeof(res->call));
}

void lab_rerun_equal(struct lab_rerun *r)
{
	if (!r->over)
		finish(r, LAB_RERUN_EQUAL, NULL);
}

static void bad(struct lab_rerun *r, const char *what)
{
	if (r->over)
		return;
	finish(r, LAB_RERUN_BAD, NULL);
	snprintf(r->result->error, sizeof(r->result->error), "%s", what);
}

/* r->err says what. */
static void bad_record(struct lab_rerun *r, uint32_t block, uint64_t offset,
		       enum weir_record_type type)
{
	char text[sizeof(r->err) + 100];

	snprintf(text, sizeof(text), "block %" PRIu32 ": record at offset %" PRIu64 ": %s: %s",
		 block, offset, lab_call_name(type), r->err);
	bad(r, text);
}

void lab_rerun_bad_call(struct lab_rerun *r, const struct lab_call *call)
{
	if (r->over)
		return;
	bad_record(r, call->block, call->offset, call->type);
	finish(r, LAB_RERUN_BAD, call);
}

void lab_rerun_differs(struct lab_rerun *r, const struct lab_call *call, const char *got)
{
	struct lab_rerun_result *res = r->result;

	if (r->over)
		return;
	finish(r, LAB_RERUN_DIFFERS, call);
	lab_call_answer(call, res->expected, sizeof(res->expected));
	snprintf(res->got, sizeof(res->got), "%s", got);
}

void lab_rerun_answered(struct lab_rerun *r, const struct lab_call *call,
			const struct lab_call *got)
{
	char text[sizeof(r->result->got)];

	lab_call_answer(got, text, sizeof(text));
	lab_rerun_differs(r, call, text);
}

/* ---- records ---- */

static bool next_block(struct lab_rerun *r)
{
	int got = lab_blocks_next(&r->blocks, r->err, sizeof(r->err));

	if (got < 0) {
		bad(r, r->err);
		return false;
	}
	r->result->nr_bytes = r->blocks.next;
	r->result->nr_blocks = r->blocks.nr_read;
	if (!got)
		return false;
	r->at = r->blocks.data + WEIR_BLOCK_HEADER_BYTES;
	r->end = r->blocks.data + r->blocks.bytes;
	if (r->options && r->options->progress)
		r->options->progress(r->options->priv, r->blocks.next);
	return true;
}

static void cut_short(struct lab_rerun *r)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "block %" PRIu32 " at offset %" PRIu64
		 ": the file ends here, without the last record of a recording",
		 r->blocks.nr_read, r->blocks.next);
	bad(r, text);
}

static void count(struct lab_rerun *r, struct lab_call *call)
{
	struct lab_rerun_result *res = r->result;

	if (!r->started || call->type == WEIR_REC_END || call->type == WEIR_REC_OVERFLOW)
		return;
	res->calls[call->type]++;
	call->number = ++res->nr_calls;
	res->last_ns = call->now_ns;
}

bool lab_rerun_next(struct lab_rerun *r, struct lab_call *call)
{
	uint64_t offset;

	if (r->over)
		return false;
	if (r->at == r->end && !next_block(r)) {
		cut_short(r);
		return false;
	}
	offset = r->blocks.offset + (uint64_t)(r->at - r->blocks.data);
	if (lab_decode(&r->decoder, &r->at, r->end, call, r->err, sizeof(r->err))) {
		bad_record(r, r->blocks.number, offset, call->type);
		return false;
	}
	call->block = r->blocks.number;
	call->offset = offset;
	count(r, call);
	if (r->options && r->options->each)
		r->options->each(r->options->priv, call, r->depth);
	return true;
}

/* ---- the core calls ---- */

/*
 * wake() of this instance: the recording must have the same one here, and what the host did from
 * within it is done from within this one.
 */
static void on_wake(void *priv, uint32_t group, enum weir_dir dir)
{
	struct lab_rerun *r = priv;
	struct lab_call call, got = {.type = WEIR_REC_WAKE, .group = group, .dir = dir};
	char text[80];

	if (r->over)
		return;
	if (r->wake)
		call = *r->wake;
	else if (!lab_rerun_next(r, &call))
		return;
	r->wake = NULL;
	if (call.type != WEIR_REC_WAKE || call.group != group || call.dir != dir) {
		lab_call_text(&got, text, sizeof(text));
		lab_rerun_differs(r, &call, text);
		return;
	}
	if (++r->depth > LAB_RERUN_DEPTH_MAX) {
		snprintf(r->err, sizeof(r->err), "more than %d wakes within each other",
			 LAB_RERUN_DEPTH_MAX);
		lab_rerun_bad_call(r, &call);
	}
	while (lab_rerun_next(r, &call) && call.type != WEIR_REC_WOKEN)
		lab_rerun_replay(r, &call);
	r->depth--;
}

/* ---- the state at the start ---- */

static bool read_start(struct lab_rerun *r, struct lab_call *start)
{
	struct lab_rerun_result *res = r->result;

	if (!lab_rerun_next(r, start))
		return false;
	r->current = start;
	if (start->type != WEIR_REC_START) {
		snprintf(r->err, sizeof(r->err), "a recording begins with a start");
		lab_rerun_bad_call(r, start);
		return false;
	}
	memcpy(res->version, start->version, sizeof(res->version));
	memcpy(res->tunable, start->tunable, sizeof(res->tunable));
	res->nr_tunables = start->nr_tunables;
	res->cfg = start->cfg;
	res->drain = start->yes;
	res->start_ns = start->now_ns;
	res->last_ns = start->now_ns;
	res->policy = lab_model_policy(&r->model, start);
	if (res->policy && lab_model_create(&r->model, start, res->policy))
		return true;
	lab_rerun_bad_call(r, start);
	return false;
}

static bool keep_group(struct lab_rerun *r, const struct lab_call *call)
{
	struct lab_rerun_result *res = r->result;
	uint32_t n = res->nr_groups;

	/* Room doubles whenever the number is a power of two. */
	if (!(n & (n - 1))) {
		size_t room = n ? 2 * (size_t)n : 1;
		struct lab_rerun_group *more = realloc(res->group, room * sizeof(*more));

		if (!more) {
			snprintf(r->err, sizeof(r->err), "no memory");
			return false;
		}
		res->group = more;
	}
	res->group[res->nr_groups++] = (struct lab_rerun_group){
		.id = call->group, .parent = call->parent, .attr = call->attr};
	return true;
}

/* One part of the state: true, and *call is the next; false at the end of it, or of all. */
static bool read_state(struct lab_rerun *r, const struct lab_call *start, struct lab_call *call)
{
	bool ok;

	if (!lab_rerun_next(r, call))
		return false;
	r->current = call;
	switch (call->type) {
	case WEIR_REC_GROUP:
		ok = lab_model_add_group(&r->model, call) && keep_group(r, call);
		break;
	case WEIR_REC_CONTEXT:
		ok = lab_model_add_ctx(&r->model, call);
		r->result->nr_ctxs++;
		break;
	case WEIR_REC_BEGIN:
		ok = lab_model_begin(&r->model, start, call);
		r->started = ok;
		r->result->started = ok;
		break;
	default:
		snprintf(r->err, sizeof(r->err), "not before the state at the start is complete");
		ok = false;
	}
	if (!ok)
		lab_rerun_bad_call(r, call);
	return ok && !r->started;
}

/* ---- the whole ---- */

static void run(void *arg)
{
	struct lab_rerun *r = arg;
	struct lab_call start, call;

	if (!read_start(r, &start))
		return;
	while (read_state(r, &start, &call))
		;
	while (lab_rerun_next(r, &call))
		lab_rerun_replay(r, &call);
}

/* Nothing may follow the last record. */
static void check_rest(struct lab_rerun *r)
{
	char text[160];

	if (r->result->verdict != LAB_RERUN_EQUAL)
		return;
	r->over = false;
	if (r->at == r->end && !next_block(r))
		return;
	snprintf(text, sizeof(text),
		 "block %" PRIu32 " at offset %" PRIu64 ": goes on after the last record",
		 r->blocks.number, r->blocks.offset);
	bad(r, text);
}

static void assertion_failed(void *arg, const char *expr, const char *file, int line)
{
	struct lab_rerun *r = arg;
	char text[300];

	snprintf(text, sizeof(text), "assertion failed at %s:%d: %s", file, line, expr);
	lab_rerun_differs(r, r->current, text);
}

int lab_rerun(FILE *file, const struct lab_rerun_options *options, struct lab_rerun_result *result)
{
	struct lab_rerun *r = calloc(1, sizeof(*r));
	struct lab_guard guard = {.work = run, .failed = assertion_failed, .arg = r};

	memset(result, 0, sizeof(*result));
	result->verdict = LAB_RERUN_BAD;
	if (!r)
		return -1;
	r->options = options;
	r->result = result;
	lab_blocks_init(&r->blocks, file);
	lab_model_init(&r->model, r->err, sizeof(r->err));
	r->model.wake = on_wake;
	r->model.priv = r;
	lab_guard_run(&guard);
	check_rest(r);
	lab_model_free(&r->model);
	free(r);
	return 0;
}

void lab_rerun_free(struct lab_rerun_result *result)
{
	free(result->group);
	result->group = NULL;
}
