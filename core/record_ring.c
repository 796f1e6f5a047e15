// SPDX-License-Identifier: GPL-2.0-only
/* The recorder's ring: see record_ring.h. */
#include "core/record_ring.h"

#include "core/assert.h"
#include "core/crc32c.h"

static uint8_t *slot(const struct weir_recorder *r, uint32_t at)
{
	return r->slots + (size_t)at * WEIR_BLOCK_BYTES;
}

static uint32_t next_slot(const struct weir_recorder *r, uint32_t at)
{
	return at + 1 < r->nr_slots ? at + 1 : 0;
}

struct weir_recorder *weir_ring_init(void *ring, size_t bytes)
{
	struct weir_recorder *r = ring;
	size_t nr;

	if (!ring || bytes < WEIR_RECORD_RING_MIN ||
	    (uintptr_t)ring % _Alignof(struct weir_recorder))
		return NULL;
	nr = (bytes - sizeof(*r)) / WEIR_BLOCK_BYTES;
	__builtin_memset(r, 0, sizeof(*r));
	r->slots = (uint8_t *)(r + 1);
	r->nr_slots = nr < UINT32_MAX ? (uint32_t)nr : UINT32_MAX;
	r->fill = WEIR_BLOCK_HEADER_BYTES;
	return r;
}

_Static_assert(sizeof(struct weir_recorder) + 2 * WEIR_BLOCK_BYTES <= WEIR_RECORD_RING_MIN,
	       "the smallest ring has a block to write to while another is read out");

void weir_ring_seal(struct weir_recorder *r)
{
	uint8_t *b = slot(r, r->write_at);
	uint32_t crc;

	weir_assert(r->fill > WEIR_BLOCK_HEADER_BYTES && r->fill <= WEIR_BLOCK_BYTES);
	weir_assert(r->nr_sealed < r->nr_slots);
	weir_put_le32(b + WEIR_BLOCK_MAGIC_AT, WEIR_BLOCK_MAGIC);
	weir_put_le32(b + WEIR_BLOCK_NUMBER_AT, r->nr_blocks++);
	weir_put_le32(b + WEIR_BLOCK_LENGTH_AT, r->fill - WEIR_BLOCK_HEADER_BYTES);
	crc = weir_crc32c(0, b, WEIR_BLOCK_CRC_AT);
	crc = weir_crc32c(crc, b + WEIR_BLOCK_HEADER_BYTES, r->fill - WEIR_BLOCK_HEADER_BYTES);
	weir_put_le32(b + WEIR_BLOCK_CRC_AT, crc);
	r->nr_sealed++;
	r->sealed_bytes += r->fill;
	r->write_at = next_slot(r, r->write_at);
	r->fill = WEIR_BLOCK_HEADER_BYTES;
}

uint8_t *weir_ring_reserve(struct weir_recorder *r, uint32_t bytes)
{
	weir_assert(bytes <= WEIR_BLOCK_BYTES - WEIR_BLOCK_HEADER_BYTES - WEIR_RING_END_BYTES);
	if (weir_unlikely(r->fill + bytes + WEIR_RING_END_BYTES > WEIR_BLOCK_BYTES)) {
		/* The open block is one of the slots: the next is free if there is one more. */
		if (r->nr_sealed + 1 >= r->nr_slots)
			return NULL;
		weir_ring_seal(r);
	}
	return slot(r, r->write_at) + r->fill;
}

void weir_ring_commit(struct weir_recorder *r, const uint8_t *end)
{
	size_t fill = (size_t)(end - slot(r, r->write_at));

	weir_assert(fill > r->fill && fill <= WEIR_BLOCK_BYTES);
	r->fill = (uint32_t)fill;
}

uint8_t *weir_ring_reserve_end(struct weir_recorder *r)
{
	weir_assert(r->fill + WEIR_RING_END_BYTES <= WEIR_BLOCK_BYTES);
	return slot(r, r->write_at) + r->fill;
}

size_t weir_ring_read(struct weir_recorder *r, void *buf, size_t bytes)
{
	uint8_t *to = buf;
	size_t done = 0;

	while (done < bytes && r->nr_sealed) {
		const uint8_t *b = slot(r, r->read_at);
		uint32_t whole = WEIR_BLOCK_HEADER_BYTES + weir_get_le32(b + WEIR_BLOCK_LENGTH_AT);
		uint32_t left = whole - r->read_bytes;
		size_t n = left < bytes - done ? left : bytes - done;

		__builtin_memcpy(to + done, b + r->read_bytes, n);
		done += n;
		r->read_bytes += (uint32_t)n;
		r->sealed_bytes -= n;
		if (r->read_bytes == whole) {
			r->read_bytes = 0;
			r->nr_sealed--;
			r->read_at = next_slot(r, r->read_at);
		}
	}
	return done;
}
