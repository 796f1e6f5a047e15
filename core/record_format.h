/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of a flight recording, shared by the core, which writes, and the lab, which reads.
 * docs/recording.md and weir-recording(5) say the same in prose; a change here changes
 * WEIR_RECORD_VERSION and those.
 *
 * A recording is a sequence of blocks. A block has a header of four little-endian 32-bit words and
 * a payload of whole records. A record is a type byte, the time that passed since the record before
 * it (absent with WEIR_REC_SAME_NS), and fields. Numbers are LEB128: 7 bits a byte, lowest first,
 * the top bit set on all but the last.
 */
#ifndef WEIR_CORE_RECORD_FORMAT_H
#define WEIR_CORE_RECORD_FORMAT_H

#include <weir/types.h>

#define WEIR_RECORD_VERSION 1

enum {
	WEIR_BLOCK_MAGIC_AT = 0,
	WEIR_BLOCK_NUMBER_AT = 4, /* 0, 1, 2, ... */
	WEIR_BLOCK_LENGTH_AT = 8, /* of the payload */
	WEIR_BLOCK_CRC_AT = 12,	  /* CRC32C of the twelve bytes before it and the payload */
	WEIR_BLOCK_HEADER_BYTES = 16,

	/* What this writer makes, header included; and what every reader must take. */
	WEIR_BLOCK_BYTES = 4096,
	WEIR_BLOCK_BYTES_MAX = 65536,

	WEIR_VARINT_BYTES_MAX = 10,
	WEIR_RECORD_NAME_MAX = 31, /* of a policy, of a version */
};

#define WEIR_BLOCK_MAGIC UINT32_C(0x63657277) /* "wrec" */

enum {
	WEIR_REC_TYPE_MASK = 0x7f,
	WEIR_REC_SAME_NS = 0x80, /* no time passed: its field is left out */
};

/* Numbers are for ever: a type that falls out of use leaves a gap. */
enum weir_record_type {
	/* The state at the start: START, then GROUPs, then CONTEXTs, then BEGIN. */
	WEIR_REC_START = 1,
	WEIR_REC_GROUP = 2,
	WEIR_REC_CONTEXT = 3,
	WEIR_REC_BEGIN = 4,
	/* Calls. */
	WEIR_REC_ADMIT = 5,
	WEIR_REC_RELEASE = 6,
	WEIR_REC_INSERT = 7,
	WEIR_REC_DISPATCH = 8, /* gave a request */
	WEIR_REC_NONE = 9,     /* a dispatch that gave none */
	WEIR_REC_COMPLETE = 10,
	WEIR_REC_REQUEUE = 11,
	WEIR_REC_REMOVE = 12,
	WEIR_REC_MERGE_FIND = 13,
	WEIR_REC_MERGE_BIO = 14,
	WEIR_REC_MERGE_RQ = 15,
	WEIR_REC_GROUP_CREATE = 16,
	WEIR_REC_GROUP_REMOVE = 17,
	WEIR_REC_GROUP_SET = 18,
	WEIR_REC_CTX_CREATE = 19,
	WEIR_REC_CTX_EXIT = 20,
	WEIR_REC_CTX_MOVE = 21,
	WEIR_REC_CTX_IOPRIO = 22,
	WEIR_REC_SWITCH = 23,
	WEIR_REC_TUNABLE = 24,
	WEIR_REC_RECONFIGURE = 25,
	WEIR_REC_DRAIN = 26,
	WEIR_REC_STATS_RESET = 27,
	/*
	 * Time moved on in a call that is not recorded: statistics were read, an error was
	 * returned.
	 */
	WEIR_REC_TICK = 28,
	/* The core calls the host: what stands between the two was called from within. */
	WEIR_REC_WAKE = 29,
	WEIR_REC_WOKEN = 30,
	/* Exactly one of them is the last record. */
	WEIR_REC_END = 31,
	WEIR_REC_OVERFLOW = 32,
	WEIR_REC_TYPES,
};

/* What a bio or a request does not share with the one recorded before it. */
enum {
	WEIR_REC_BIO_SECTOR = 1 << 0, /* zigzag distance from the end of the one before */
	WEIR_REC_BIO_LENGTH = 1 << 1,
	WEIR_REC_BIO_OP = 1 << 2,
	WEIR_REC_BIO_FLAGS = 1 << 3,
	WEIR_REC_BIO_PRIO = 1 << 4, /* class, level: a byte each */
	WEIR_REC_BIO_GROUP = 1 << 5,
	WEIR_REC_BIO_CTX = 1 << 6,  /* 1 + id, or 0: none */
	WEIR_REC_BIO_HEAD = 1 << 7, /* INSERT: at the head; else 0 */
};

/* Attributes of a group that differ from weir_group_attr_init(), in this order. */
enum {
	WEIR_REC_ATTR_WEIGHT = 1 << 0,
	WEIR_REC_ATTR_OWN_WEIGHT = 1 << 1,
	WEIR_REC_ATTR_MAX = 1 << 2, /* four bits: bps read, write; iops read, write */
	WEIR_REC_ATTR_LOW = 1 << 6, /* four bits */
	WEIR_REC_ATTR_LATENCY = 1 << 10,
	WEIR_REC_ATTR_ALL = (1 << 11) - 1,
};

enum {
	WEIR_REC_CFG_ROTATIONAL = 1 << 0,
	WEIR_REC_CFG_MERGE = 1 << 1,
	WEIR_REC_CFG_ACCOUNTING = 1 << 2,
	WEIR_REC_CFG_ALL = (1 << 3) - 1,
};

enum {
	WEIR_REC_GROUP_DYING = 1 << 0, /* removed already; contexts still name it */
};

/* Small distances of either sign become small numbers: 0, -1, 1, -2 are 0, 1, 2, 3. */
static inline uint64_t weir_zigzag(uint64_t distance)
{
	return distance << 1 ^ (distance >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t weir_unzigzag(uint64_t n)
{
	return n >> 1 ^ (n & 1 ? UINT64_MAX : 0);
}

static inline uint32_t weir_get_le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void weir_put_le32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v & 0xff);
	p[1] = (uint8_t)(v >> 8 & 0xff);
	p[2] = (uint8_t)(v >> 16 & 0xff);
	p[3] = (uint8_t)(v >> 24);
}

#endif
