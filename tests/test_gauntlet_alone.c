// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does control cost where there is nothing to control? One group alone, direct I/O at depth
 * 32, on every device there is: weir against noop.
 */
#include "tests/gauntlet.h"

#include "lab/dev_profile.h"
#include "lab/device.h"

#define LEAST 0.98

static const char *const patterns[] = {"read", "write", "randread", "randwrite"};

/* Bytes per second under weir, as a part of those under noop. */
static double against_noop(const char *device, const char *rw, const char *size, unsigned int seed)
{
	bool slow = !strcmp(device, "hdd"); /* 160 in a second: it needs more of them */
	struct gauntlet_text job = {0};
	json_t *result;
	double part;

	gauntlet_add(&job,
		     "[global]\nfilename=/dev/sdb\ndirect=1\nioengine=libaio\niodepth=32\n"
		     "norandommap\nrw=%s\nbs=%s\ntime_based\nramp_time=2\nruntime=%u\n"
		     "[alone]\ncgroup=alone\n",
		     rw, size, slow ? 20 : 1);
	result = gauntlet_sim("", "%s --device %s --policy noop,weir --seed %u",
			      gauntlet_file("alone.fio", &job), device, seed);
	part = gauntlet_number(gauntlet_run(result, "weir"), "total/bw_bytes") /
	       gauntlet_number(gauntlet_run(result, "noop"), "total/bw_bytes");
	json_decref(result);
	return part;
}

static void judge(const char *device, const char *size)
{
	unsigned int i;

	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		double part = against_noop(device, patterns[i], size, i + 1);

		gauntlet_at_least(patterns[i], part, LEAST);
		if (part < 1)
			gauntlet_report("%s, %s of %s: %.4f of noop", device, patterns[i], size,
					part);
	}
}

/* Every model but the one that takes a profile. No device without physics need be that fast. */
static void judge_models(const char *size)
{
	const struct lab_device_model *model;
	unsigned int n;

	for (n = 0; (model = lab_device_model_at(n)); n++) {
		if (!strcmp(model->name, "null"))
			judge("null:latency_us=100", size);
		else if (strcmp(model->name, "profile"))
			judge(model->name, size);
	}
	assert_true(n >= 5);
	gauntlet_verdict();
}

static void models_4k(void **state)
{
	(void)state;
	judge_models("4k");
}

static void profiles_4k(void **state)
{
	const struct dev_profile_builtin *profile;
	unsigned int n;
	char name[64];

	(void)state;
	for (n = 0; (profile = dev_profile_builtin_at(n)); n++) {
		snprintf(name, sizeof(name), "profile:%s", profile->name);
		judge(name, "4k");
	}
	assert_true(n >= 10);
	gauntlet_verdict();
}

static void models_128k(void **state)
{
	(void)state;
	judge_models("128k");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_4k),
		cmocka_unit_test(profiles_4k),
		cmocka_unit_test(models_128k),
	};

	return cmocka_run_group_tests_name("one group alone", tests, NULL, NULL);
}
