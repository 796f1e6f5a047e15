/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The keys of a profile's text, for all who read it: KEY(ID, name, smallest, largest value). The
 * first six are needed. weir-profile(5) says what they mean. `ctrl` and `model` of io.cost.model
 * stand beside them; those take words.
 */
#ifndef WEIR_PROFILE_KEYS_H
#define WEIR_PROFILE_KEYS_H

/* 256 KiB at this rate take 4 s, the longest that a request may cost. */
#define WEIR_PROFILE_BPS_MIN 65536
#define WEIR_PROFILE_BPS_MAX 1000000000000
#define WEIR_PROFILE_IOPS_MAX 100000000
#define WEIR_PROFILE_US_MAX 60000000

/* clang-format off */
#define WEIR_PROFILE_KEYS(KEY)                                                                     \
	KEY(RBPS, "rbps", WEIR_PROFILE_BPS_MIN, WEIR_PROFILE_BPS_MAX)                              \
	KEY(RSEQIOPS, "rseqiops", 1, WEIR_PROFILE_IOPS_MAX)                                        \
	KEY(RRANDIOPS, "rrandiops", 1, WEIR_PROFILE_IOPS_MAX)                                      \
	KEY(WBPS, "wbps", WEIR_PROFILE_BPS_MIN, WEIR_PROFILE_BPS_MAX)                              \
	KEY(WSEQIOPS, "wseqiops", 1, WEIR_PROFILE_IOPS_MAX)                                        \
	KEY(WRANDIOPS, "wrandiops", 1, WEIR_PROFILE_IOPS_MAX)                                      \
	KEY(RLAT, "rlat", 0, WEIR_PROFILE_US_MAX)                                                  \
	KEY(WLAT, "wlat", 0, WEIR_PROFILE_US_MAX)                                                  \
	KEY(LATENCY, "latency_us", 1, WEIR_PROFILE_US_MAX)                                         \
	KEY(WLATENCY, "wlatency_us", 1, WEIR_PROFILE_US_MAX)                                       \
	KEY(FLUSH, "flush_us", 0, WEIR_PROFILE_US_MAX)                                             \
	KEY(DEPTH, "depth", 1, 65536)                                                              \
	KEY(CAPACITY, "capacity_gb", 1, 1000000)                                                   \
	KEY(ROTATIONAL, "rotational", 0, 1)
/* clang-format on */

#endif
