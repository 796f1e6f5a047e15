// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles: whatever the bytes, the reader says yes or one line why not, and what it accepts is a
 * device that takes a command and gives it back.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lab/dev_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int completed;

static void done(struct lab_cmd *cmd, uint64_t now)
{
	(void)cmd;
	(void)now;
	completed++;
}

static void use(const struct dev_profile_data *profile)
{
	const uint64_t values[LAB_DEVICE_OPTIONS_MAX] = {1};
	struct lab_engine *e = lab_engine_new();
	struct lab_device *d = dev_profile_create(profile, e, values, 1);
	struct lab_cmd cmd[3];
	int i;

	if (weir_profile_check(&d->info.profile))
		abort();
	completed = 0;
	memset(cmd, 0, sizeof(cmd));
	for (i = 0; i < 3 && d->in_flight < d->info.queue_depth; i++) {
		cmd[i].op = i == 0 ? WEIR_OP_WRITE : i == 1 ? WEIR_OP_FLUSH : WEIR_OP_READ;
		cmd[i].nr_sectors = cmd[i].op == WEIR_OP_FLUSH ? 0 : d->info.max_sectors;
		cmd[i].done = done;
		lab_device_submit(d, &cmd[i], 0);
	}
	lab_engine_run(e, LAB_NEVER);
	if (completed != i || d->in_flight)
		abort();
	d->destroy(d);
	lab_engine_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dev_profile_data profile;
	char err[256] = "";

	if (dev_profile_parse((const char *)data, size, "fuzz", &profile, err, sizeof(err)))
		use(&profile);
	else if (!err[0] || strchr(err, '\n'))
		abort();
	return 0;
}
