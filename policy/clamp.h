/* SPDX-License-Identifier: GPL-2.0-only */
/* Weights of policies that know fewer of them than the core. */
#ifndef WEIR_POLICY_CLAMP_H
#define WEIR_POLICY_CLAMP_H

#include "core/spi.h"

/*
 * `weight` as `policy` takes it, the nearest from min to max; a note tells the operator when that
 * isn't what was set. kind: what the weight is called, as in "weight" or "own weight".
 */
uint32_t weir_clamp_weight(const struct weir_group *g, const char *policy, const char *kind,
			   uint32_t weight, uint32_t min, uint32_t max);

#endif
