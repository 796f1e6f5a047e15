/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorder's ring: slots of one block each, in the host's memory.
 *
 * Records are written in place into the slot of the open block. When the next one might not fit,
 * the block is sealed (length, checksum) and the next slot is opened, if the host has read that
 * out. If not, recording is over: every block keeps END_BYTES free, so that there is always room to
 * say so.
 *
 * All of it runs under the instance's lock. Reading out takes sealed blocks only, in order.
 */
#ifndef WEIR_CORE_RECORD_RING_H
#define WEIR_CORE_RECORD_RING_H

#include "core/record_format.h"

enum {
	/* Kept free in each block for the last record: type, time, count of calls. */
	WEIR_RING_END_BYTES = 1 + 2 * WEIR_VARINT_BYTES_MAX,
};

/* What the next bio is compared with. */
struct weir_rec_bio {
	uint64_t sector;
	uint32_t nr_sectors;
	uint32_t group, ctx; /* ctx: 1 + id, or 0 */
	uint16_t flags;
	uint8_t op, ioprio_class, ioprio_level;
};

/* Stands at the start of the host's memory; the slots follow. */
struct weir_recorder {
	uint8_t *slots;
	uint32_t nr_slots;
	uint32_t fill;		    /* bytes in the open block, its header included */
	uint32_t write_at, read_at; /* slots: of the open block, of the next to be read out */
	uint32_t nr_sealed;  /* blocks that wait to be read out, the one being read included */
	uint32_t read_bytes; /* of that one, read out already */
	uint32_t nr_blocks;  /* sealed since the start: number of the open block */
	bool overflowed;
	uint64_t sealed_bytes; /* of those that wait */

	uint64_t last_ns; /* time of the last record */
	uint64_t nr_calls;
	struct weir_rec_bio bio;
};

/* NULL: too small, or not aligned for the struct. */
struct weir_recorder *weir_ring_init(void *ring, size_t bytes);
/* Where to write up to `bytes`; NULL: the ring is full, nothing was changed. O(1), or O(block). */
uint8_t *weir_ring_reserve(struct weir_recorder *r, uint32_t bytes);
/* What was written ends here. */
void weir_ring_commit(struct weir_recorder *r, const uint8_t *end);
/* Room for the last record: WEIR_RING_END_BYTES, always there. weir_ring_seal() comes after it. */
uint8_t *weir_ring_reserve_end(struct weir_recorder *r);
void weir_ring_seal(struct weir_recorder *r);
/* Copies out of sealed blocks. O(bytes). */
size_t weir_ring_read(struct weir_recorder *r, void *buf, size_t bytes);

static inline uint8_t *weir_put_varint(uint8_t *p, uint64_t v)
{
	while (v >> 7) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

#endif
