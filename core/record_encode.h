/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parts that several kinds of records have, as bytes: record_format.h has the layout. Each function
 * appends at p and returns the end.
 */
#ifndef WEIR_CORE_RECORD_ENCODE_H
#define WEIR_CORE_RECORD_ENCODE_H

#include "core/core.h"
#include "core/record_ring.h"

enum {
	/* Bounds of one record. CALL: type, time, and what a merge says about three requests. */
	WEIR_REC_CALL_BYTES = 96,
	/* Twelve numbers of attributes; or twenty of a configuration, a policy with its tunables.
	 */
	WEIR_REC_LARGE_BYTES = 640,
};

uint8_t *weir_encode_attr(uint8_t *p, const struct weir_group_attr *attr);
uint8_t *weir_encode_config(uint8_t *p, const struct weir_config *cfg);
/* The current policy and its tunables. */
uint8_t *weir_encode_policy(uint8_t *p, const struct weir *w);
uint8_t *weir_encode_name(uint8_t *p, const char *name);

/*
 * Begins a record; NULL if the ring is full: then recording is over, and its last record says so.
 * weir_record_done() ends what was begun.
 */
uint8_t *weir_record_begin(struct weir *w, enum weir_record_type type, uint32_t bytes);

static inline void weir_record_done(struct weir *w, const uint8_t *end)
{
	weir_ring_commit(w->recorder, end);
}

#endif
