/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flight recorder: every call of the core with its time and its answer, so that a run anywhere can
 * be run again in the lab. docs/recording.md (and weir-recording(5)) has the byte format.
 *
 * The ring belongs to the host. Recording starts from a drained instance: policy, limits and cost
 * state begin afresh, and the configuration, groups and contexts are written first. When the ring
 * is full the recorder stops and its last record says so; nothing is overwritten.
 */
#ifndef WEIR_RECORDER_H
#define WEIR_RECORDER_H

#include <weir/types.h>

/* Smallest ring that weir_record_start() accepts. */
#define WEIR_RECORD_RING_MIN 16384

/*
 * -EBUSY: not drained, or recording already; -EINVAL: ring too small (or for its groups).
 */
int weir_record_start(struct weir *w, void *ring, size_t bytes, uint64_t now);
/* Seals the last block. The ring stays readable until the next start. */
void weir_record_stop(struct weir *w, uint64_t now);
/*
 * Takes finished blocks out of the ring: at most `bytes` bytes into buf, returns how many. After
 * weir_record_stop() (or overflow) the rest comes out too. 0: nothing more for now.
 */
size_t weir_record_read(struct weir *w, void *buf, size_t bytes);
bool weir_record_overflowed(const struct weir *w);
/* Bytes in the ring that were not taken out yet, with those of the block that is being filled. */
size_t weir_record_used(const struct weir *w);

#endif
