/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CFQ step by step: one instance on a disk that seeks, processes, and what their requests do. All of
 * it is on top of util_host.h.
 */
#ifndef TESTS_CFQ_STEPS_H
#define TESTS_CFQ_STEPS_H

#include "tests/util_host.h"

#include "core/spi.h"

#define MS UINT64_C(1000000)
#define FAR (UINT64_C(1) << 30) /* sectors: no neighbour of anything else in these tests */

extern struct util_host *const h;
extern struct weir_group *root;

/* A new instance; the test stops it by util_host_stop(h). `name` may be NULL: all defaults. */
void start(const char *name, uint64_t value);
/* The same on a device that seeks or not, with WEIR_TUNABLES_MAX values. */
void start_with(const uint64_t *values, bool rotational);
struct weir_ctx *process(struct weir_group *g, enum weir_ioprio_class class, unsigned int level);
/* Of the root group and without a priority. */
struct weir_ctx *any_process(void);
/* 4 KiB; all return the index of the request. */
uint32_t insert(struct weir_ctx *ctx, enum weir_op op, uint64_t sector, uint16_t flags);
uint32_t read_at(struct weir_ctx *ctx, uint64_t sector);
uint32_t write_at(struct weir_ctx *ctx, uint64_t sector);
/* What an fsync or a commit writes. */
uint32_t commit_at(struct weir_ctx *ctx, uint64_t sector);
/* 16 KiB. */
uint32_t read_16k_at(struct weir_ctx *ctx, uint64_t sector);
/* The request must be the next to go; it is waited for, and completes. */
void in_time(uint32_t index);
/* A bio of 4 KiB is merged if it can be. */
enum weir_merge merge_as(struct weir_ctx *ctx, uint64_t sector, uint32_t *into);

/* Nothing goes, and asking again makes sense after so long; WEIR_NEVER: not by itself. */
void expect_wait(uint64_t after_ns);
/* Dispatches: it must be this one, which stays in the driver. */
void expect_start(uint32_t index);
/* Dispatches all that go, and returns how many. */
uint32_t start_all(void);

#endif
