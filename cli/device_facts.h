/* SPDX-License-Identifier: GPL-2.0-only */
/* What weir devices says about one device, as text and as JSON. */
#ifndef CLI_DEVICE_FACTS_H
#define CLI_DEVICE_FACTS_H

#include <jansson.h>

#include "lab/measure.h"

#define TABLE_LOADS 4
#define TABLE_DEPTHS 7

/* Sequential in 128 KiB, random in 4 KiB; depths 1, 4, 16 .. 256. Not measured: ios is 0. */
struct device_table {
	struct lab_result cell[TABLE_LOADS][TABLE_DEPTHS];
};

/* spec has been opened before, so it is right. A fresh device for each cell. */
void device_table_measure(struct device_table *t, const char *spec);

void device_print(const char *spec, const struct lab_device_model *m,
		  const struct lab_device_info *info, const struct device_table *t);
/* As weir-profile(5) and the kernel's queue/iosched/profile take it. */
void device_print_profile_line(const struct weir_profile *p);
json_t *device_json(const char *spec, const struct lab_device_model *m,
		    const struct lab_device_info *info, const struct device_table *t);
json_t *device_options_json(const struct lab_device_model *m);

#endif
