/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device's profile: the linear cost model and the two latencies that the depth control starts
 * from. The six coefficients mean what they mean in Linux's io.cost.model.
 *
 *	cost(request) = base(direction, sequential or random) + bytes x per-byte(direction)
 *
 * Random is a start more than 16 MiB from the end of the group's previous request in that direction
 * (or of the same context's). See core/cost.c for the fixed point.
 */
#ifndef WEIR_PROFILE_H
#define WEIR_PROFILE_H

#include <weir/types.h>

struct weir_profile {
	uint64_t rbps, rseqiops, rrandiops; /* bytes/s; 4 KiB requests/s */
	uint64_t wbps, wseqiops, wrandiops;
	uint64_t flush_ns;   /* device time that one flush costs; 0: free */
	uint64_t latency_ns; /* completion of a 4 KiB random read on the idle device; 0: unknown */
	uint64_t knee_ns; /* device time in flight at the smallest depth of peak rate; 0: unknown */
	bool rotational;
};

#endif
