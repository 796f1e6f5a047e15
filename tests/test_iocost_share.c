// SPDX-License-Identifier: GPL-2.0-only
/*
 * iocost in closed loops with a device: weights whatever the sizes, work conservation, the return of
 * who was idle, and a model that is wrong.
 */
#include "tests/serial_device.h"

#include "policy/iocost/internal.h"

static struct sd sd;

static void assert_within(uint64_t value, uint64_t wanted, uint64_t by)
{
	if (value + by < wanted || value > wanted + by)
		fail_msg("%llu is not within %llu of %llu", (unsigned long long)value,
			 (unsigned long long)by, (unsigned long long)wanted);
}

/*
 * A latency for a short period, 10 ms: more of them in a run. And a queue that the streams can fill:
 * without, nothing tells that the device is full, and the clock runs away.
 */
static void start(void)
{
	uint64_t values[WEIR_TUNABLES_MAX];

	sd_init(&sd);
	sd.cfg.device_depth = 32;
	util_defaults(&weir_policy_iocost, values);
	util_tune(&weir_policy_iocost, values, "rlat", 5000);
	sd_start(&sd, &weir_policy_iocost, values);
}

static struct iocost_group *iocost_of_stream(const struct sd_stream *s)
{
	return iocost_group(s->group);
}

/* Streams of such sizes in two groups of weights 100 and 200: parts of a million of the server. */
static void shares_of_sizes(uint32_t light_sectors, enum weir_op light_op, uint32_t heavy_sectors)
{
	struct sd_stream *light, *heavy;

	start();
	light = sd_stream(&sd, sd_group(&sd, weir_root(sd.w), 100), 64);
	light->nr_sectors = light_sectors;
	light->op = light_op;
	heavy = sd_stream(&sd, sd_group(&sd, weir_root(sd.w), 200), 64);
	heavy->nr_sectors = heavy_sectors;
	sd_start_stream(&sd, light);
	sd_start_stream(&sd, heavy);
	sd_run(&sd, SD_S / 5);
	sd_clear(&sd);
	sd_run(&sd, 2 * SD_S);
	assert_within(sd_share_ppm(&sd, light), 333333, 7000);
	assert_within(sd_share_ppm(&sd, heavy), 666667, 7000);
	assert_true(sd_busy_ppm(&sd) > 970000);
	sd_stop(&sd);
}

static void weights_hold_for_any_sizes(void **state)
{
	(void)state;
	shares_of_sizes(8, WEIR_OP_READ, 8);
	shares_of_sizes(8, WEIR_OP_READ, 256);
	shares_of_sizes(256, WEIR_OP_READ, 8);
	shares_of_sizes(64, WEIR_OP_WRITE, 8);
}

static void idle_share_is_used_and_returns(void **state)
{
	struct sd_stream *a, *b;
	struct weir_group *g;

	(void)state;
	start();
	g = sd_group(&sd, weir_root(sd.w), 100);
	a = sd_load(&sd, g, 64);
	b = sd_load(&sd, sd_group(&sd, weir_root(sd.w), 100), 64);
	sd_run(&sd, SD_S / 5);
	/* Two periods after it has stopped, all is the other's. */
	sd_stop_stream(a);
	sd_run(&sd, 20 * SD_MS);
	sd_clear(&sd);
	sd_run(&sd, SD_S / 2);
	assert_int_equal(a->done, 0);
	assert_int_equal(sd_share_ppm(&sd, b), 1000000);
	assert_true(sd_busy_ppm(&sd) > 970000);
	/* And two periods after its return it has its half. */
	a = sd_load(&sd, g, 64);
	sd_run(&sd, 20 * SD_MS);
	sd_clear(&sd);
	sd_run(&sd, SD_S / 10);
	assert_within(sd_share_ppm(&sd, a), 500000, 10000);
	sd_stop(&sd);
}

static void unused_share_is_lent(void **state)
{
	struct sd_stream *a, *b;

	(void)state;
	start();
	a = sd_load(&sd, sd_group(&sd, weir_root(sd.w), 100), 64);
	/* 900 us of thinking: at most 1000 reads a second, 2 % of the device. */
	b = sd_stream(&sd, sd_group(&sd, weir_root(sd.w), 200), 1);
	b->think_ns = 900 * SD_US;
	sd_start_stream(&sd, b);
	sd_run(&sd, SD_S / 5);
	sd_clear(&sd);
	sd_run(&sd, 2 * SD_S);
	assert_true(sd_busy_ppm(&sd) > 970000);
	assert_true(sd_share_ppm(&sd, a) > 978000);
	/* Near what it uses, never below, and its requests need not wait for that. */
	iocost_parts(iocost_of(sd.w), iocost_of_stream(b));
	assert_within(iocost_of_stream(b)->hw_inuse, IOCOST_ONE * 25 / 1000, IOCOST_ONE / 100);
	assert_true(b->wait_max_ns < SD_MS);
	assert_true(b->done > 1000);
	sd_stop(&sd);
}

/* The model says twice what the device can do: only the latencies tell. */
static void wrong_model_is_mended_by_latencies(void **state)
{
	uint64_t values[WEIR_TUNABLES_MAX];
	struct sd_stream *a, *b;
	uint64_t rates = 0;
	uint32_t n;

	(void)state;
	sd_init(&sd);
	util_defaults(&weir_policy_iocost, values);
	util_tune(&weir_policy_iocost, values, "rpct", 90);
	util_tune(&weir_policy_iocost, values, "rlat", 1000);
	sd.cfg.profile.rrandiops *= 2;
	sd.cfg.profile.rseqiops *= 2;
	sd.cfg.profile.rbps *= 2;
	sd_start(&sd, &weir_policy_iocost, values);
	a = sd_load(&sd, sd_group(&sd, weir_root(sd.w), 100), 64);
	b = sd_load(&sd, sd_group(&sd, weir_root(sd.w), 200), 64);
	sd_run(&sd, 2 * SD_S);
	sd_clear(&sd);
	for (n = 0; n < 40; n++) {
		sd_run(&sd, SD_S / 10);
		rates += iocost_of(sd.w)->base_rate;
	}
	/* Half the rate is right. It swings around that, and where it is too high, the queue of the
	 * device decides, which both fill alike.
	 */
	assert_within(rates / 40, IOCOST_RATE_ONE * 45 / 100, IOCOST_RATE_ONE / 20);
	assert_within(sd_share_ppm(&sd, a), 400000, 20000);
	assert_within(sd_share_ppm(&sd, b), 600000, 20000);
	assert_true(sd_busy_ppm(&sd) > 870000);
	sd_stop(&sd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_hold_for_any_sizes),
		cmocka_unit_test(idle_share_is_used_and_returns),
		cmocka_unit_test(unused_share_is_lent),
		cmocka_unit_test(wrong_model_is_mended_by_latencies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
