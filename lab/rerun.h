/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a flight recording again: builds an instance as the recording says, makes each call at its
 * time, and compares each answer with the recorded one, up to the first that differs.
 *
 * Equal answers mean that what was recorded (in a kernel, in a server, by another compiler) is what
 * this program does. The recording may come from anywhere: it is checked as hostile input is.
 */
#ifndef LAB_RERUN_H
#define LAB_RERUN_H

#include <stdio.h>

#include "lab/rerun_call.h"

enum lab_rerun_verdict {
	LAB_RERUN_EQUAL,
	LAB_RERUN_DIFFERS, /* an answer, or an assertion of the core failed */
	LAB_RERUN_BAD,	   /* the recording is damaged, cut short, or of a policy unknown here */
};

/* A group at the start of the recording. */
struct lab_rerun_group {
	uint32_t id, parent;
	struct weir_group_attr attr;
};

struct lab_rerun_result {
	enum lab_rerun_verdict verdict;

	/* The state at the start, as far as it was read. */
	bool started; /* all of it: START to BEGIN */
	char version[WEIR_RECORD_NAME_MAX + 1];
	const struct weir_policy *policy; /* NULL: not known */
	unsigned int nr_tunables;
	uint64_t tunable[WEIR_TUNABLES_MAX];
	struct weir_config cfg;
	bool drain;
	struct lab_rerun_group *group;
	uint32_t nr_groups, nr_ctxs;
	uint64_t start_ns;

	/* What was run, up to the end or the first difference. */
	uint64_t calls[WEIR_REC_TYPES];
	uint64_t nr_calls;
	uint64_t last_ns; /* time of the last call */
	uint32_t nr_blocks;
	uint64_t nr_bytes;
	bool overflowed; /* the recorder's ring was full: it ends before the run did */

	/* DIFFERS, and BAD if it was at a call: where. number 0: not at a call. */
	uint64_t number;
	uint64_t now_ns;
	uint32_t block;
	uint64_t offset; /* of the record in the file */
	char call[512];
	/* DIFFERS. */
	char expected[512], got[512];
	/* BAD: what is wrong, beginning with the place. */
	char error[512];
};

struct lab_rerun_options {
	/* Each record before it is run; depth: of calls from within wake(). May be NULL. */
	void (*each)(void *priv, const struct lab_call *call, unsigned int depth);
	/* After each block: where in the file. May be NULL. */
	void (*progress)(void *priv, uint64_t bytes);
	void *priv;
};

/* Fills in *result, which lab_rerun_free() empties again. -1: no memory. */
int lab_rerun(FILE *file, const struct lab_rerun_options *options, struct lab_rerun_result *result);
void lab_rerun_free(struct lab_rerun_result *result);

#endif
