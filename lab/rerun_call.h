/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One record of a flight recording, decoded: a call of the core with its answer, or a part of the
 * state that the recording starts from.
 */
#ifndef LAB_RERUN_CALL_H
#define LAB_RERUN_CALL_H

#include <weir/weir.h>

#include "core/record_format.h"

/* Later than this (146 years) is taken for damage: sums of times stay far from their wrap. */
#define LAB_RERUN_NS_MAX (UINT64_C(1) << 62)

/* What the host says about a request or bio. */
struct lab_call_bio {
	uint64_t sector;
	uint32_t nr_sectors;
	uint32_t group; /* id */
	uint32_t ctx;	/* 1 + id; 0: none */
	uint16_t flags;
	uint8_t op, ioprio_class, ioprio_level;
	bool head;
};

struct lab_call {
	enum weir_record_type type;
	uint64_t number; /* of the call, from 1; 0 before BEGIN */
	uint64_t now_ns;
	uint64_t offset; /* in the file */
	uint32_t block;

	/* Requests have the number of their insertion, from 1. 0: none. */
	uint64_t rq;	/* the one that it is about; merges: the one that grows, or the lower one */
	uint64_t other; /* the neighbour offered, the one absorbed */
	struct lab_call_bio bio;
	enum weir_merge merge;
	enum weir_requeue requeue;

	uint32_t group, parent; /* ids; ctx_move: the new group */
	uint32_t ctx;
	enum weir_dir dir;
	uint32_t bytes;
	uint8_t ioprio_class, ioprio_level;
	bool yes;	/* admitted; removed; drain is on; START: it was; GROUP: is being removed */
	uint64_t at_ns; /* NONE */
	struct weir_group_attr attr;

	struct weir_config cfg;
	char policy[WEIR_RECORD_NAME_MAX + 1];
	char version[WEIR_RECORD_NAME_MAX + 1];
	unsigned int nr_tunables;
	uint64_t tunable[WEIR_TUNABLES_MAX];
	uint32_t index; /* TUNABLE; the value is tunable[0] */

	uint64_t count;		       /* END, OVERFLOW: of calls; START: insertions before */
	uint32_t next_group, next_ctx; /* BEGIN: ids of the next that are made */
};

/* What the reader has to know of the records before. */
struct lab_decoder {
	uint64_t now_ns;
	uint64_t nr_inserted;
	struct lab_call_bio bio;
};

/*
 * Decodes the record at *p and moves *p behind it. Every length, number and enumeration is in range
 * afterwards; whether the groups, contexts and requests exist is not known here, except that a
 * request has been inserted. 0, or -1 with a message in err.
 */
int lab_decode(struct lab_decoder *d, const uint8_t **p, const uint8_t *end, struct lab_call *call,
	       char *err, size_t err_bytes);

/* "admit", "merge_find": as in the name of the function. */
const char *lab_call_name(enum weir_record_type type);
/* "insert request 7: read of 8 sectors at 4096, group 3, at the tail": the call without answer. */
void lab_call_text(const struct lab_call *call, char *buf, size_t bytes);
/* "request 5", "none, again after 100 ns", "yes"; empty if the call has no answer. */
void lab_call_answer(const struct lab_call *call, char *buf, size_t bytes);

#endif
