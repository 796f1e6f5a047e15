/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A rerun in progress, between rerun.c (reads records, keeps the verdict) and rerun_replay.c (makes
 * the calls).
 *
 * weir_release(), weir_dispatch(), weir_group_remove() and weir_reconfigure() may wake the host,
 * which may call the core from there; the recording has those calls between WAKE and WOKEN. So a
 * rerun is an interpreter that re-enters itself from the wake() of its own instance. Once `over` is
 * set, everything returns without looking at anything.
 */
#ifndef LAB_RERUN_IMPL_H
#define LAB_RERUN_IMPL_H

#include "lab/rerun.h"
#include "lab/rerun_block.h"
#include "lab/rerun_guard.h"
#include "lab/rerun_model.h"

/* Calls from within wake() from within wake(): a host does not go deeper than a level or two. */
#define LAB_RERUN_DEPTH_MAX 64

struct lab_rerun {
	const struct lab_rerun_options *options;
	struct lab_rerun_result *result;
	struct lab_blocks blocks;
	const uint8_t *at, *end; /* in the block */
	struct lab_decoder decoder;
	struct lab_model model;
	bool started, over;
	unsigned int depth;
	const struct lab_call *wake;	/* read before the dispatch that it comes from; or NULL */
	const struct lab_call *current; /* for the message, should an assertion fail */
	char err[400];			/* of the parts */
};

/* The next record; false: it is over. */
bool lab_rerun_next(struct lab_rerun *r, struct lab_call *call);

/* Makes the call and compares the answer. */
void lab_rerun_replay(struct lab_rerun *r, const struct lab_call *call);

/* The verdicts. Each ends the rerun; the first one counts. */
void lab_rerun_equal(struct lab_rerun *r);
/* The recording is wrong at this call: r->err says why. */
void lab_rerun_bad_call(struct lab_rerun *r, const struct lab_call *call);
/* What this instance did instead, as text, or as a call with another answer. */
void lab_rerun_differs(struct lab_rerun *r, const struct lab_call *call, const char *got);
void lab_rerun_answered(struct lab_rerun *r, const struct lab_call *call,
			const struct lab_call *got);

#endif
