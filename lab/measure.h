/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measuring a device model on its own, in virtual time: a closed loop of `depth` commands, and from
 * such loops a whole profile. docs/devices.md and the constants of the presets come from here, and
 * tests hold them to it.
 */
#ifndef LAB_MEASURE_H
#define LAB_MEASURE_H

#include "lab/device.h"

struct lab_load {
	uint32_t read_percent;	/* of the commands; the rest writes */
	bool random;		/* else one stream that the whole depth shares */
	uint32_t bytes;		/* of a command, a multiple of 512 */
	uint32_t depth;		/* at most the device's is in flight */
	uint32_t ramp_ios, ios; /* completions before measuring, and measured */
	uint64_t span_sectors;	/* from sector 0 on; 0: the whole device */
	uint64_t seed;
};

struct lab_result {
	uint64_t ios, bytes, duration_ns;
	uint64_t mean_ns, p50_ns, p99_ns, max_ns; /* submission to completion */
};

static inline uint64_t lab_result_iops(const struct lab_result *r)
{
	return r->ios * UINT64_C(1000000000) / (r->duration_ns ? r->duration_ns : 1);
}

static inline uint64_t lab_result_bytes_per_s(const struct lab_result *r)
{
	uint64_t us = r->duration_ns / 1000;

	return r->bytes * UINT64_C(1000000) / (us ? us : 1);
}

/* Numbers of completions that settle the model and give percentiles, for this kind of device. */
void lab_load_init(struct lab_load *load, const struct lab_device_info *info, uint32_t read_percent,
		   bool random, uint32_t bytes, uint32_t depth);

/* Runs the load on a device that is idle; leaves it idle. */
void lab_measure(struct lab_device *d, const struct lab_load *load, struct lab_result *out);

/*
 * The profile of a model with these option values, on fresh devices: see measure.c for what each
 * figure means. Stalls are left out: a price is for the work, not for bad luck.
 */
void lab_measure_profile(const struct lab_device_model *model, const uint64_t *values,
			 const char *arg, struct weir_profile *out);
/* Smallest depth that reaches 99 % of the peak rate of 4 KiB random reads. */
uint32_t lab_measure_knee(const struct lab_device_model *model, const uint64_t *values,
			  const char *arg);

#endif
