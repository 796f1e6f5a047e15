// SPDX-License-Identifier: GPL-2.0-only
/* Measured devices: their rates and latencies, the file format, and what it refuses. Null beside.
 */
#include "tests/test_device_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lab/dev_profile.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* ---- the device ---- */

static uint64_t iops_at_full_depth(const char *spec, uint32_t read_percent, bool random,
				   uint32_t bytes)
{
	struct lab_result r = rig_load(spec, read_percent, random, bytes, 1023);

	return lab_result_iops(&r);
}

/* 1 / (base + pages x page) in ps, as io.cost.model means it. */
static uint64_t linear_iops(uint64_t bps, uint64_t iops, uint32_t pages)
{
	uint64_t page = UINT64_C(1000000000000) * 4096 / bps,
		 whole = UINT64_C(1000000000000) / iops;
	uint64_t base = whole > page ? whole - page : 0;

	return UINT64_C(1000000000000) / (base + pages * page);
}

static void test_builtins_reach_their_coefficients(void **state)
{
	const struct dev_profile_builtin *b;
	unsigned int n;
	char spec[64];

	(void)state;
	for (n = 0; (b = dev_profile_builtin_at(n)); n++) {
		const struct weir_profile *p = &b->data.profile;

		snprintf(spec, sizeof(spec), "profile:%s:tail=0", b->name);
		assert_within(iops_at_full_depth(spec, 100, true, 4096),
			      linear_iops(p->rbps, p->rrandiops, 1), 1);
		assert_within(iops_at_full_depth(spec, 100, false, 4096),
			      linear_iops(p->rbps, p->rseqiops, 1), 1);
		assert_within(iops_at_full_depth(spec, 0, true, 4096),
			      linear_iops(p->wbps, p->wrandiops, 1), 1);
		assert_within(iops_at_full_depth(spec, 0, false, 131072),
			      linear_iops(p->wbps, p->wseqiops, 32), 1);
		assert_within(iops_at_full_depth(spec, 100, false, 131072),
			      linear_iops(p->rbps, p->rseqiops, 32), 1);
	}
	assert_int_equal(n, 11);
}

static void test_idle_latency_and_knee(void **state)
{
	struct lab_result r;
	uint64_t values[1] = {0}, measured;
	struct rig rig;
	unsigned int n;

	(void)state;
	rig_open(&rig, "profile:pc711", 1);
	assert_int_equal(rig.d->info.profile.latency_ns, 100 * US);
	r = rig_load("profile:pc711", 100, true, 4096, 1);
	assert_int_equal(r.p50_ns, 100 * US);
	assert_int_equal(r.max_ns, 100 * US); /* nobody is late on an idle device */
	for (n = 0; strcmp(lab_device_model_at(n)->name, "profile"); n++)
		;
	measured = lab_measure_knee(lab_device_model_at(n), values, "pc711") * S / 179931;
	assert_within(rig.d->info.profile.knee_ns, measured, 3);
	rig_close(&rig);
}

static void test_tail_is_where_the_measured_one_was(void **state)
{
	struct lab_result r = rig_load("profile:pc711", 100, true, 4096, 32);
	struct lab_result w = rig_load("profile:pc711", 0, true, 4096, 256);

	(void)state;
	assert_within(r.p99_ns, 1763 * US, 8);
	/* Beside the tail a queue of 256 waits. */
	assert_within(w.p99_ns - w.p50_ns, 4509 * US, 15);
}

static void test_streams_are_told_apart(void **state)
{
	struct timed_cmd t[8];
	struct rig rig;
	uint64_t start, i;
	int k;

	(void)state;
	rig_open(&rig, "profile:mzvlw256:tail=0", 1);
	/* Eight writers far apart, each sequential: 63368/s, not the 23437 of random writes. */
	start = lab_now(rig.e);
	for (i = 0; i < 1000; i++) {
		for (k = 0; k < 8; k++)
			rig_submit(&rig, &t[k], WEIR_OP_WRITE, 0, (uint64_t)k * 50000000 + i * 8,
				   8);
		rig_wait(&rig, &t[7]);
	}
	assert_within(8000 * S / (lab_now(rig.e) - start), 63368, 25);
	rig_close(&rig);
}

/* ---- the format ---- */

static struct dev_profile_data parsed;
static char err[512];

static bool parse(const char *text)
{
	err[0] = 0;
	return dev_profile_parse(text, strlen(text), "f", &parsed, err, sizeof(err));
}

static void test_key_value_text(void **state)
{
	(void)state;
	assert_true(parse("# a disk\nrbps=1000000 rseqiops=200\nrrandiops=90 # slow\n\n"
			  "wbps=900000 wseqiops=180 wrandiops=80\n"
			  "rlat=1000 wlat=2000 latency_us=500 wlatency_us=40 flush_us=7 depth=8 "
			  "rotational=1 capacity_gb=3"));
	assert_int_equal(parsed.profile.rbps, 1000000);
	assert_int_equal(parsed.profile.rseqiops, 200);
	assert_int_equal(parsed.profile.rrandiops, 90);
	assert_int_equal(parsed.profile.wbps, 900000);
	assert_int_equal(parsed.profile.wseqiops, 180);
	assert_int_equal(parsed.profile.wrandiops, 80);
	assert_int_equal(parsed.p99_ns[WEIR_READ], 1000 * US);
	assert_int_equal(parsed.p99_ns[WEIR_WRITE], 2000 * US);
	assert_int_equal(parsed.profile.latency_ns, 500 * US);
	assert_int_equal(parsed.write_latency_ns, 40 * US);
	assert_int_equal(parsed.profile.flush_ns, 7 * US);
	assert_int_equal(parsed.depth, 8);
	assert_int_equal(parsed.capacity_gb, 3);
	assert_true(parsed.profile.rotational);
}

#define SIX                                                                          \
	"rbps=488636629 rseqiops=8932 rrandiops=8518 wbps=427891549 wseqiops=28755 " \
	"wrandiops=21940"

static void test_io_cost_model_line(void **state)
{
	(void)state;
	assert_true(parse("8:16 ctrl=user model=linear " SIX "\n"));
	assert_int_equal(parsed.profile.rrandiops, 8518);
	assert_int_equal(parsed.profile.wbps, 427891549);
	/* Defaults: one command at full speed takes longer than 100 us here. */
	assert_int_equal(parsed.profile.latency_ns, S / 8518);
	assert_int_equal(parsed.write_latency_ns, S / 21940);
	assert_int_equal(parsed.profile.flush_ns, 0);
	assert_int_equal(parsed.depth, 1023);
	assert_int_equal(parsed.capacity_gb, 512);
	assert_false(parsed.profile.rotational);
}

static void test_json_object(void **state)
{
	(void)state;
	assert_true(
		parse("{ \"rbps\": 488636629, \"rseqiops\": 8932, \"rrandiops\": 8518,\n"
		      "  \"wbps\": 427891549, \"wseqiops\": 28755, \"wrandiops\": 21940,\n"
		      "  \"model\": \"linear\", \"rotational\": true, \"latency_us\": 12000 }\n"));
	assert_int_equal(parsed.profile.wseqiops, 28755);
	assert_int_equal(parsed.profile.latency_ns, 12 * MS);
	assert_true(parsed.profile.rotational);
	assert_int_equal(parsed.depth, 31);
}

static void test_what_is_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"",
		 "f:1: end: rbps is missing; rbps rseqiops rrandiops wbps wseqiops wrandiops are "
		 "needed"},
		{"rbps=1000000\n\n", "f:3: end: rseqiops is missing; rbps rseqiops rrandiops wbps "
				     "wseqiops wrandiops are needed"},
		{SIX "\nrbps=5", "f:2: 5: rbps is given twice; once is accepted"},
		{"\n\nwbps=fast", "f:3: fast: wbps must be a whole number from 65536 to "
				  "1000000000000"},
		{"rseqiops=0", "f:1: 0: rseqiops must be a whole number from 1 to 100000000"},
		{"rbps=-5", "f:1: -5: rbps must be a whole number from 65536 to 1000000000000"},
		{"rbps=99999999999999999999",
		 "f:1: 99999999999999999999: rbps must be a whole number "
		 "from 65536 to 1000000000000"},
		{"rbps=", "f:1: : rbps must be a whole number from 65536 to 1000000000000"},
		{"rlat=1.5", "f:1: 1.5: rlat must be a whole number from 0 to 60000000"},
		{"rotational=yes", "f:1: yes: rotational must be a whole number from 0 to 1"},
		{"speed=5",
		 "f:1: speed: no such key; there are rbps rseqiops rrandiops wbps wseqiops "
		 "wrandiops rlat wlat latency_us wlatency_us flush_us depth capacity_gb "
		 "rotational ctrl model"},
		{"hello", "f:1: hello: key=value is accepted"},
		{"8:16 8:32", "f:1: 8:32: one device per file is accepted"},
		{"ctrl=maybe", "f:1: maybe: ctrl must be user or auto"},
		{"model=cubic", "f:1: cubic: model must be linear"},
		{"{\"rbps\": 1000000,\n \"x\": 1}", "f:2: x: no such key; there are rbps rseqiops "
						    "rrandiops wbps wseqiops wrandiops rlat wlat "
						    "latency_us wlatency_us flush_us depth "
						    "capacity_gb rotational ctrl model"},
		{"{\"rbps\": 1000000", "f:1: end: one flat JSON object of \"key\": number is "
				       "accepted"},
		{"{\"rbps\": [1]}",
		 "f:1: [1]}: one flat JSON object of \"key\": number is accepted"},
		{"{\"rbps\" 5}", "f:1: 5}: one flat JSON object of \"key\": number is accepted"},
		{"{}{", "f:1: {: one flat JSON object of \"key\": number is accepted"},
		{"\x01\x02=3",
		 "f:1: ?\?: no such key; there are rbps rseqiops rrandiops wbps wseqiops "
		 "wrandiops rlat wlat latency_us wlatency_us flush_us depth "
		 "capacity_gb rotational ctrl model"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(bad); i++) {
		assert_false(parse(bad[i].text));
		assert_string_equal(err, bad[i].message);
	}
}

static void test_size_limit(void **state)
{
	size_t bytes = DEV_PROFILE_FILE_MAX + 1;
	char *text = malloc(bytes);

	(void)state;
	memset(text, ' ', bytes);
	memcpy(text, SIX, sizeof(SIX) - 1);
	assert_false(dev_profile_parse(text, bytes, "f", &parsed, err, sizeof(err)));
	assert_string_equal(err, "f:1: 65537 bytes: at most 65536 are accepted");
	assert_true(dev_profile_parse(text, bytes - 1, "f", &parsed, err, sizeof(err)));
	free(text);
}

static void test_files(void **state)
{
	char path[] = "/tmp/weir-profile-XXXXXX", spec[64], expected[128];
	int fd = mkstemp(path);
	struct lab_engine *e = lab_engine_new();
	struct rig rig;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, SIX "\nlatency_us=200\n", sizeof(SIX) + 15), sizeof(SIX) + 15);
	close(fd);
	snprintf(spec, sizeof(spec), "profile:%s:tail=0", path);
	rig_open(&rig, spec, 1);
	assert_int_equal(rig.d->info.profile.rrandiops, 8518);
	assert_int_equal(rig.d->info.profile.latency_ns, 200 * US);
	rig_close(&rig);
	unlink(path);
	assert_null(lab_device_open(spec, e, 1, err, sizeof(err)));
	snprintf(expected, sizeof(expected),
		 "%s: No such file or directory; a readable profile is accepted, see "
		 "weir-profile(5)",
		 path);
	assert_string_equal(err, expected);
	assert_null(lab_device_open("profile:/", e, 1, err, sizeof(err)));
	assert_string_equal(err, "/: Is a directory; a file is accepted");
	lab_engine_free(e);
}

/* ---- null ---- */

static void test_null(void **state)
{
	struct timed_cmd t[3];
	struct rig rig;

	(void)state;
	rig_open(&rig, "null:latency_us=50:depth=3", 1);
	rig_submit(&rig, &t[0], WEIR_OP_READ, 0, 0, 8);
	rig_submit(&rig, &t[1], WEIR_OP_WRITE, WEIR_RQ_FUA, 0, 1024);
	rig_submit(&rig, &t[2], WEIR_OP_FLUSH, 0, 0, 0);
	assert_int_equal(rig.d->in_flight, rig.d->info.queue_depth);
	lab_engine_run(rig.e, LAB_NEVER);
	assert_int_equal(t[0].done_ns, 50 * US);
	assert_int_equal(t[1].done_ns, 50 * US);
	assert_int_equal(t[2].done_ns, 50 * US);
	assert_int_equal(rig.d->in_flight, 0);
	assert_int_equal(rig.d->info.profile.rrandiops, 60000);
	rig_close(&rig);
	rig_open(&rig, "null:latency_ns=1:depth=65536", 1);
	assert_int_equal(rig_time(&rig, WEIR_OP_READ, 0, 0, 8), 1);
	assert_null(weir_profile_check(&rig.d->info.profile));
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builtins_reach_their_coefficients),
		cmocka_unit_test(test_idle_latency_and_knee),
		cmocka_unit_test(test_tail_is_where_the_measured_one_was),
		cmocka_unit_test(test_streams_are_told_apart),
		cmocka_unit_test(test_key_value_text),
		cmocka_unit_test(test_io_cost_model_line),
		cmocka_unit_test(test_json_object),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_size_limit),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_null),
	};

	return cmocka_run_group_tests_name("device_profile", tests, NULL, NULL);
}
