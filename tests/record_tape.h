/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings in memory, for tests: a ring that is read out into one growing piece of memory, reruns
 * of it, and means to damage it such that its checksums are right.
 */
#ifndef TESTS_RECORD_TAPE_H
#define TESTS_RECORD_TAPE_H

#include "lab/rerun.h"
#include "tests/util_host.h"

struct tape {
	struct weir *w;
	void *ring;
	uint8_t *data;
	size_t bytes, room;
};

/* Starts; the ring is of ring_bytes. The answer of weir_record_start(). */
int tape_start(struct tape *t, struct weir *w, size_t ring_bytes, uint64_t now);
/* Reads out in pieces of at most `piece` bytes until there is no more. */
void tape_pull(struct tape *t, size_t piece);
/* Stops, and reads out the rest. */
void tape_stop(struct tape *t, uint64_t now);
void tape_free(struct tape *t);
void tape_append(struct tape *t, const void *data, size_t bytes);

/* Runs it again. Fails the test on lack of memory only. lab_rerun_free() is the caller's. */
enum lab_rerun_verdict tape_rerun(const struct tape *t, struct lab_rerun_result *result);
/* It must be equal; says what isn't. */
void tape_expect_equal(const struct tape *t);
/* It must differ or be bad, and the text that says why must contain `what`. */
void tape_expect(const struct tape *t, enum lab_rerun_verdict verdict, const char *what);

/* Where the n-th record (from 0) of a type begins; fails the test if there is none. */
size_t tape_find(const struct tape *t, enum weir_record_type type, unsigned int n);
/* Replaces bytes at an offset by others, and makes length and checksum of that block right. */
void tape_replace(struct tape *t, size_t at, size_t old_bytes, const void *with, size_t bytes);

#endif
