/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Skewed choices among n blocks, ordered by popularity: rank 0 is the hottest.
 *
 * A table holds the likelihood of each of the first ranks, then of 32 stretches per doubling of the
 * rank, as integers that were computed once from integer logarithms. Inside a stretch all ranks are
 * equally likely; as it spans 3 % of the ranks, no run can tell. Drawing is a binary search.
 */
#ifndef LAB_PATTERN_DIST_H
#define LAB_PATTERN_DIST_H

#include <stdbool.h>

#include "lab/rng.h"

struct lab_ranks {
	uint32_t nr;	  /* stretches */
	uint64_t *first;  /* first rank of each, and n behind the last */
	uint64_t *before; /* likelihood of all earlier ones, and the total behind the last */
};

/*
 * zipf: rank r is as likely as (r + 1)^-theta. pareto: the hottest share x of the blocks gets
 * x^(log(1-h) / log(h)) of the accesses, so that h = 0.2 is the 80/20 rule. Both times 10^6.
 * False: out of memory. The table is given back with lab_ranks_free().
 */
bool lab_ranks_zipf(struct lab_ranks *r, uint64_t n, uint32_t theta_micro);
bool lab_ranks_pareto(struct lab_ranks *r, uint64_t n, uint32_t h_micro);
void lab_ranks_free(struct lab_ranks *r);
uint64_t lab_ranks_draw(const struct lab_ranks *r, struct lab_rng *rng);

/*
 * A block around `center`, normally distributed with a deviation of percent_micro / 10^6 percent of
 * n, wrapped around at both ends.
 */
uint64_t lab_normal_draw(struct lab_rng *rng, uint64_t n, uint64_t center, uint32_t percent_micro);

#endif
