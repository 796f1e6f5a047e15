/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device from measurements: the six coefficients of Linux's io.cost.model and latencies, built in
 * or read from a file, see weir-profile(5).
 */
#ifndef LAB_DEV_PROFILE_H
#define LAB_DEV_PROFILE_H

#include "lab/device.h"

#define DEV_PROFILE_FILE_MAX (64u << 10)

struct dev_profile_data {
	struct weir_profile profile;   /* knee_ns: 0, the device works it out */
	uint64_t write_latency_ns;     /* 4 KiB random write on the idle device */
	uint64_t p99_ns[WEIR_NR_DIRS]; /* at full speed (rlat, wlat); 0: unknown */
	uint64_t depth, capacity_gb;
};

/* A profile's text. `name` stands for the file in messages: "name:line: value: what is accepted".
 */
bool dev_profile_parse(const char *text, size_t bytes, const char *name,
		       struct dev_profile_data *out, char *err, size_t err_bytes);
/* A built-in name, else a file. */
bool dev_profile_load(const char *what, struct dev_profile_data *out, char *err, size_t err_bytes);

struct dev_profile_builtin {
	const char *name, *model;
	struct dev_profile_data data;
};

/* n-th built-in profile, or NULL after the last. */
const struct dev_profile_builtin *dev_profile_builtin_at(unsigned int n);

/* values: of dev_profile's options. */
struct lab_device *dev_profile_create(const struct dev_profile_data *data, struct lab_engine *e,
				      const uint64_t *values, uint64_t seed);

#endif
