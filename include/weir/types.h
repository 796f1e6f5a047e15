/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Basic types and constants of the core's public face.
 *
 * Units are last in names: _ns is nanoseconds, _us microseconds, _bytes bytes; a sector is 512
 * bytes. Errors are negative errno values.
 */
#ifndef WEIR_TYPES_H
#define WEIR_TYPES_H

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/types.h>
/* The C standard's names, which the kernel has others for. */
#ifndef UINT64_C
#define UINT64_C(c) c##ULL
#define UINT32_C(c) c##U
#endif
#ifndef UINT64_MAX
#define UINT64_MAX __UINT64_MAX__
#define UINT32_MAX __UINT32_MAX__
#define UINT16_MAX __UINT16_MAX__
#define INT64_MIN (-__INT64_MAX__ - 1)
#define INT32_MAX __INT32_MAX__
#endif
#ifndef UINTPTR_MAX
#define UINTPTR_MAX __UINTPTR_MAX__
#endif
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#define WEIR_SECTOR_SHIFT 9
#define WEIR_SECTOR_BYTES (1u << WEIR_SECTOR_SHIFT)

/* "Never" as a time, and "no limit" as a rate. */
#define WEIR_NEVER UINT64_MAX
#define WEIR_UNLIMITED UINT64_MAX

#define WEIR_WEIGHT_MIN 1
#define WEIR_WEIGHT_MAX 10000
#define WEIR_WEIGHT_DEFAULT 100

/* Room of a policy in every request. */
#define WEIR_RQ_POLICY_BYTES 192

/* Deepest nesting of groups below the root. */
#define WEIR_GROUP_DEPTH_MAX 32

/* Longest time that one request may be priced at, and largest request. */
#define WEIR_COST_MAX_NS (UINT64_C(1) << 32)
#define WEIR_RQ_SECTORS_MAX (UINT32_C(1) << 23)

/*
 * errno values that the core returns, spelled out since a freestanding build has no errno.h. They
 * are Linux's numbers.
 */
#define WEIR_EPERM 1
#define WEIR_ENOENT 2
#define WEIR_ENOMEM 12
#define WEIR_EBUSY 16
#define WEIR_EEXIST 17
#define WEIR_EINVAL 22
#define WEIR_ERANGE 34
#define WEIR_EOPNOTSUPP 95

struct weir;
struct weir_group;
struct weir_ctx;
struct weir_policy;

enum weir_op {
	WEIR_OP_READ,
	WEIR_OP_WRITE,
	WEIR_OP_FLUSH,
	WEIR_OP_DISCARD,
	WEIR_OP_WRITE_ZEROES,
	WEIR_NR_OPS,
};

/* Direction, as limits and statistics know it: all that is not a read counts as a write. */
enum weir_dir {
	WEIR_READ,
	WEIR_WRITE,
	WEIR_NR_DIRS,
};

static inline enum weir_dir weir_op_dir(enum weir_op op)
{
	return op == WEIR_OP_READ ? WEIR_READ : WEIR_WRITE;
}

/* Request flags. */
enum {
	WEIR_RQ_SYNC = 1 << 0,	   /* somebody waits for it; reads always count as sync */
	WEIR_RQ_FUA = 1 << 1,	   /* on the medium before completion */
	WEIR_RQ_META = 1 << 2,	   /* file system metadata, journal: never held by a ceiling */
	WEIR_RQ_PREFLUSH = 1 << 3, /* a flush goes before the data */
	WEIR_RQ_NOMERGE = 1 << 4,  /* neither grows nor is absorbed */
	WEIR_RQ_IDLE_OK = 1 << 5,  /* a sync write, and more are likely to follow: O_DIRECT */
};

/* ioprio classes, numbered as in Linux. */
enum weir_ioprio_class {
	WEIR_IOPRIO_NONE,
	WEIR_IOPRIO_RT,
	WEIR_IOPRIO_BE,
	WEIR_IOPRIO_IDLE,
};

/* Why a backlogged group waited; the first that matches is charged. See DESIGN 3. */
enum weir_wait_cause {
	WEIR_WAIT_CEILING, /* its own or an ancestor's io.max */
	WEIR_WAIT_LATENCY, /* depth held down for somebody's latency target */
	WEIR_WAIT_FLOOR,   /* another group's io.low went first */
	WEIR_WAIT_IDLE,	   /* the device was kept idle on purpose */
	WEIR_WAIT_DEVICE,  /* depth full, and this group is next */
	WEIR_WAIT_SHARE,   /* depth full, and it is another group's turn */
	WEIR_WAIT_HOST,	   /* it could have gone; the host had not asked */
	WEIR_NR_WAITS,
};

#endif
