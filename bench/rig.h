/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A closed loop around a scheduler: a few requests of each group in rotation, a few in flight,
 * every completion inserts its request again. One step is one insert, one dispatch and one
 * complete.
 *
 * Virtual time goes on by one request's device time a step, so that a policy that looks at the
 * clock sees a device that is just saturated.
 */
#ifndef BENCH_RIG_H
#define BENCH_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RIG_IN_FLIGHT 8
#define RIG_IOPS 53000
#define RIG_STEP_NS (1000000000 / RIG_IOPS)

struct rig_shape {
	uint32_t groups; /* that have requests: the leaves */
	uint32_t fanout; /* groups are a tree of that many children a node; 0: all below the root */
	uint32_t rqs;	 /* of each group */
	bool bare;	 /* without wait causes and histograms: weir_config.accounting */
};

struct rig;

/* Sets one up; policy is a name, or "dmclock". Ends the program if it cannot. */
struct rig *rig_new(const char *policy, const struct rig_shape *shape);
void rig_free(struct rig *rig);
void rig_run(struct rig *rig, uint64_t steps);

/* Bytes that the core asked for since the instance stood alone; number of groups they are for. */
size_t rig_group_bytes(const struct rig *rig);
uint32_t rig_nr_groups(const struct rig *rig);

#endif
