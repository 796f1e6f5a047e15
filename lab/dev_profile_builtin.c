// SPDX-License-Identifier: GPL-2.0-only
/*
 * Eleven SSDs as others measured them: the coefficients and the latencies at the 99th percentile at
 * full speed (the "naive" solutions) of the public iocost-benchmarks database, version 2.1. Idle
 * latencies, queue depth and flush are not in it: defaults of weir-profile(5).
 */
#include "lab/dev_profile.h"

#define US UINT64_C(1000)

/* Idle latencies: the defaults for a device that does not rotate, 100 us to read and 30 us to
 * write, unless one command takes longer at full speed. */
#define AT_LEAST(ns, iops) ((ns) > 1000000000u / (iops) ? (ns) : UINT64_C(1000000000) / (iops))

/* clang-format off */
#define BUILTIN(name, model, gb, rb, rs, rr, wb, ws, wr, rlat_us, wlat_us)                         \
	{name, model, {                                                                            \
		.profile = {                                                                       \
			.rbps = rb, .rseqiops = rs, .rrandiops = rr,                               \
			.wbps = wb, .wseqiops = ws, .wrandiops = wr,                               \
			.latency_ns = AT_LEAST(100 * US, rr),                                      \
		},                                                                                 \
		.write_latency_ns = AT_LEAST(30 * US, wr),                                         \
		.p99_ns = {(rlat_us) * US, (wlat_us) * US},                                        \
		.depth = 1023,                                                                     \
		.capacity_gb = gb,                                                                 \
	}}

static const struct dev_profile_builtin builtins[] = {
	/* name, model, GB,
	 *	rbps, rseqiops, rrandiops, wbps, wseqiops, wrandiops, rlat and wlat in us */
	BUILTIN("hfs256", "SK hynix HFS256GD9TNG-62A0A", 256,
		1060861522, 54105, 63053, 198813646, 12308, 16085, 9707, 61539),
	BUILTIN("kxg6", "Toshiba KXG6AZNV512G", 512,
		2419411544, 256089, 229994, 833689535, 12618, 22672, 2057, 14856),
	BUILTIN("mtfdhba256", "Micron MTFDHBA256TCK", 256,
		327392352, 85056, 87373, 581850454, 7477, 6752, 9524, 9304),
	BUILTIN("mtfdkba512", "Micron MTFDKBA512TFH", 512,
		2167752017, 243828, 126744, 2992472013, 118080, 80436, 6439, 11569),
	BUILTIN("mzul256", "Samsung MZUL2256HCHQ", 256,
		1899833755, 81210, 80432, 413702163, 9825, 9678, 2748, 29245),
	BUILTIN("mzul512", "Samsung MZUL2512HCJQ", 512,
		2439626981, 157904, 154404, 819673902, 9806, 9686, 1514, 23608),
	BUILTIN("mzvlw256", "Samsung MZVLW256HEHP", 256,
		1235803696, 130658, 134555, 345351950, 63368, 23437, 6781, 5892),
	BUILTIN("pc711", "SK hynix PC711 512GB", 512,
		2342618237, 220857, 179931, 1163478144, 13869, 35881, 1763, 4509),
	BUILTIN("sn720", "WDC SN720 512G", 512,
		2282156926, 134421, 174939, 656154630, 22175, 17457, 6230, 16063),
	BUILTIN("sn730", "WDC SN730 512G", 512,
		2267547947, 204164, 235901, 685695191, 23378, 18638, 6380, 16283),
	BUILTIN("ssdpekka256", "Intel SSDPEKKA256G7", 256,
		1320294621, 69820, 45012, 119694755, 14744, 17634, 33329, 43108),
};
/* clang-format on */

const struct dev_profile_builtin *dev_profile_builtin_at(unsigned int n)
{
	return n < sizeof(builtins) / sizeof(builtins[0]) ? &builtins[n] : NULL;
}
