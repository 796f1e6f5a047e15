/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random settings for property tests: everything that is accepted, with a liking for the edges, and
 * some that is not.
 */
#ifndef TESTS_MODEL_DRAW_H
#define TESTS_MODEL_DRAW_H

#include <weir/weir.h>

/* True once in n. */
bool draw_one_in(uint64_t *seed, uint32_t n);
/* min .. max, evenly over orders of magnitude, both ends included and likely. */
uint64_t draw_log(uint64_t *seed, uint64_t min, uint64_t max);

void draw_config(uint64_t *seed, struct weir_config *cfg);
/* Valid attributes; for the root only what the root takes. */
void draw_attr(uint64_t *seed, struct weir_group_attr *attr, bool root);
/* Breaks valid attributes. */
void draw_bad_attr(uint64_t *seed, struct weir_group_attr *attr);
void draw_tunables(uint64_t *seed, const struct weir_policy *p, uint64_t values[WEIR_TUNABLES_MAX]);
/* Fills in op, flags, place and size. Places are few, so that requests touch. */
void draw_rq(uint64_t *seed, struct weir_rq *rq, struct weir_group *g, struct weir_ctx *ctx);
/* A step of time: often none, rarely seconds. */
uint64_t draw_step_ns(uint64_t *seed);

#endif
