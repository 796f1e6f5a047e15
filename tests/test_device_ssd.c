// SPDX-License-Identifier: GPL-2.0-only
/* The flash models: dies, programs, link, controller, buffer, flush, stalls, collection. */
#include "tests/test_device_rig.h"

#include "lab/dev_ssd.h"

static struct rig rig;

static struct ssd *ssd(void)
{
	return dev_container(rig.d, struct ssd, dev);
}

/* A sector on the same die as sector 0, or on another. */
static uint64_t sector_on(bool same_die)
{
	uint32_t die = ssd_die_of(ssd(), 0);
	uint64_t unit = 1;

	while ((ssd_die_of(ssd(), unit) == die) != same_die)
		unit++;
	return unit * SSD_UNIT_SECTORS;
}

/* ---- dies ---- */

static void test_placement_is_even_and_striped(void **state)
{
	uint32_t count[32] = {0}, i;
	uint64_t unit;

	(void)state;
	rig_open(&rig, "ssd", 1);
	for (unit = 0; unit < 32 * 1000; unit++) {
		count[ssd_die_of(ssd(), unit)]++;
		assert_int_equal(ssd_die_of(ssd(), unit), ssd_die_of(ssd(), unit));
	}
	for (i = 0; i < 32; i++) /* every row of 32 units has each die once */
		assert_int_equal(count[i], 1000);
	memset(count, 0, sizeof(count));
	for (unit = 0; unit < 32 * 1000; unit++) /* one column: as rows are turned at random */
		count[ssd_die_of(ssd(), unit * 32)]++;
	for (i = 0; i < 32; i++)
		assert_in_range(count[i], 840, 1160);
	rig_close(&rig);
}

static void test_reads_of_one_die_queue_and_of_two_do_not(void **state)
{
	struct timed_cmd a, b;

	(void)state;
	rig_open(&rig, "ssd", 1);
	rig_submit(&rig, &a, WEIR_OP_READ, 0, 0, 8);
	rig_submit(&rig, &b, WEIR_OP_READ, 0, sector_on(true), 8);
	rig_wait(&rig, &b);
	assert_int_equal(b.done_ns - a.done_ns, 90 * US); /* read_us */
	rig_submit(&rig, &a, WEIR_OP_READ, 0, 0, 8);
	rig_submit(&rig, &b, WEIR_OP_READ, 0, sector_on(false), 8);
	rig_wait(&rig, &b);
	assert_true(b.done_ns - a.done_ns < 30 * US); /* channel and link at most */
	rig_close(&rig);
}

static void test_the_register_saves_sensing_again(void **state)
{
	uint64_t first, again;

	(void)state;
	rig_open(&rig, "ssd", 1);
	first = rig_time(&rig, WEIR_OP_READ, 0, 0, 8);
	again = rig_time(&rig, WEIR_OP_READ, 0, 8, 8); /* of the same 16 KiB */
	assert_int_equal(first - again, 90 * US);
	rig_time(&rig, WEIR_OP_READ, 0, sector_on(true), 8);
	assert_int_equal(rig_time(&rig, WEIR_OP_READ, 0, 0, 8), first);
	rig_close(&rig);
}

/* Latency of a read right after 32 KiB were written, so that the only die programs. */
static uint64_t read_behind_program(const char *spec)
{
	uint64_t ns;

	rig_open(&rig, spec, 1);
	/* The first program erases a block on some seeds: let that pass. */
	rig_time(&rig, WEIR_OP_WRITE, 0, 64000, 64);
	lab_engine_run(rig.e, LAB_NEVER);
	rig_time(&rig, WEIR_OP_WRITE, 0, 64000, 64);
	ns = rig_time(&rig, WEIR_OP_READ, 0, 0, 8);
	lab_engine_run(rig.e, LAB_NEVER);
	rig_close(&rig);
	return ns;
}

static void test_a_program_blocks_its_die_unless_it_is_suspended(void **state)
{
	uint64_t blocked = read_behind_program("nvme:dies=1:suspend_us=0");
	uint64_t suspended = read_behind_program("nvme:dies=1:suspend_us=30");

	(void)state;
	assert_in_range(blocked, 1400 * US, 1700 * US); /* program_us = 1500 */
	assert_in_range(suspended, 100 * US, 125 * US); /* 80 idle + 30 */
}

static void test_programs_progress_under_reads(void **state)
{
	struct timed_cmd write, read[2];
	uint64_t reads = 0;

	(void)state;
	/* One die that is never without a read: the buffer empties all the same. */
	rig_open(&rig, "nvme:dies=1:suspend_us=30:buffer_kb=64", 1);
	rig_time(&rig, WEIR_OP_WRITE, 0, 64000, 128);
	rig_submit(&rig, &read[0], WEIR_OP_READ, 0, 0, 8);
	rig_submit(&rig, &read[1], WEIR_OP_READ, 0, 6400000, 8);
	rig_submit(&rig, &write, WEIR_OP_WRITE, 0, 64128, 128);
	while (!write.done_ns) {
		rig_wait(&rig, &read[reads % 2]);
		rig_submit(&rig, &read[reads % 2], WEIR_OP_READ, 0, reads * 6400, 8);
		assert_true(++reads < 200);
	}
	assert_true(reads > 16); /* two programs gave way to eight each */
	lab_engine_run(rig.e, LAB_NEVER);
	rig_close(&rig);
}

static void test_erase_comes_once_a_block(void **state)
{
	uint64_t i, slow = 0;

	(void)state;
	rig_open(&rig, "ssd:dies=1:plp=0", 1);
	for (i = 0; i < 2560; i++) {
		rig_time(&rig, WEIR_OP_WRITE, 0, i * 64, 64); /* one program each */
		slow += rig_time(&rig, WEIR_OP_FLUSH, 0, 0, 0) > 1700 * US + 4000 * US;
	}
	assert_int_equal(slow, 10); /* of 256 programs */
	rig_close(&rig);
}

/* ---- link and controller ---- */

struct reader { /* a closed loop of sequential or random reads */
	struct lab_cmd cmd;
	uint64_t *next_sector, step;
	struct lab_rng *rng;
	uint64_t bytes, latency_ns, ios, until_ns;
};

static void reader_done(struct lab_cmd *cmd, uint64_t now)
{
	struct reader *r = (struct reader *)(void *)cmd;

	r->ios++;
	r->bytes += (uint64_t)cmd->nr_sectors * 512;
	r->latency_ns += now - cmd->submit_ns;
	if (now >= r->until_ns)
		return;
	if (r->rng) {
		cmd->sector = lab_rng_below(r->rng, 100000000) * 8;
	} else {
		cmd->sector = *r->next_sector;
		*r->next_sector += r->step;
	}
	lab_device_submit(rig.d, cmd, now);
}

static void test_whole_commands_on_the_link_starve_a_random_reader(void **state)
{
	/*
	 * Thread 003 without any throttling: four sequential readers with three windows of 128 KiB
	 * each in flight, one random reader. It got 1.3 MB/s, the device ran at its peak.
	 */
	uint64_t next[4], bytes = 0;
	struct reader seq[12], random = {.until_ns = 2 * S};
	struct lab_rng rng;
	int i;

	(void)state;
	rig_open(&rig, "ssd", 1);
	assert_int_equal(rig.d->info.read_ahead_windows, 3);
	memset(seq, 0, sizeof(seq));
	lab_rng_seed(&rng, 1, 0);
	for (i = 0; i < 12; i++) {
		next[i % 4] = (uint64_t)(i % 4) * 200000000;
		seq[i] = (struct reader){
			.next_sector = &next[i % 4], .step = 256, .until_ns = 2 * S};
		seq[i].cmd = (struct lab_cmd){
			.op = WEIR_OP_READ, .nr_sectors = 256, .done = reader_done};
		seq[i].cmd.sector = next[i % 4] + (uint64_t)(i / 4) * 256;
	}
	for (i = 0; i < 4; i++)
		next[i] += 3 * 256;
	random.cmd = (struct lab_cmd){.op = WEIR_OP_READ, .nr_sectors = 8, .done = reader_done};
	random.rng = &rng;
	for (i = 0; i < 12; i++)
		lab_device_submit(rig.d, &seq[i].cmd, 0);
	lab_device_submit(rig.d, &random.cmd, 0);
	lab_engine_run(rig.e, LAB_NEVER);
	for (i = 0; i < 12; i++)
		bytes += seq[i].bytes;
	assert_in_range(random.bytes / 2, 1200000, 1400000);
	assert_within((bytes + random.bytes) / 2, 515000000, 2);
	rig_close(&rig);
}

static void test_pcie_flash_is_bound_by_its_controller(void **state)
{
	struct lab_result read = rig_load("pcie-flash", 100, true, 4096, 256);
	struct lab_result mixed = rig_load("pcie-flash", 50, true, 4096, 512);
	struct lab_result idle = rig_load("pcie-flash:stall=0", 100, true, 4096, 1);

	(void)state;
	assert_within(lab_result_iops(&read), 53190, 1);
	assert_within(lab_result_iops(&mixed), 53190, 1);
	assert_int_equal(idle.p50_ns, 100 * US);
	assert_int_equal(idle.max_ns, 100 * US);
}

/* ---- buffer and flush ---- */

static void test_flush_without_protection_programs_the_buffer(void **state)
{
	uint64_t clean, dirty;

	(void)state;
	rig_open(&rig, "ssd", 1);
	clean = rig_time(&rig, WEIR_OP_FLUSH, 0, 0, 0);
	assert_in_range(clean, 500 * US, 600 * US);
	assert_true(rig_time(&rig, WEIR_OP_WRITE, 0, 0, 8) < 50 * US);
	dirty = rig_time(&rig, WEIR_OP_FLUSH, 0, 0, 0);
	assert_in_range(dirty, clean + 1690 * US,
			clean + 1710 * US); /* one program, mostly empty */
	assert_int_equal(rig_time(&rig, WEIR_OP_FLUSH, 0, 0, 0), clean);
	/* FUA is in flash when it is done. */
	assert_in_range(rig_time(&rig, WEIR_OP_WRITE, WEIR_RQ_FUA, 800, 8), 1700 * US, 1800 * US);
	assert_int_equal(rig_time(&rig, WEIR_OP_FLUSH, 0, 0, 0), clean);
	rig_close(&rig);
}

static void test_flush_with_protection_is_cheap(void **state)
{
	(void)state;
	rig_open(&rig, "nvme", 1);
	rig_time(&rig, WEIR_OP_WRITE, 0, 0, 8);
	assert_true(rig_time(&rig, WEIR_OP_FLUSH, 0, 0, 0) < 20 * US);
	assert_true(rig_time(&rig, WEIR_OP_WRITE, WEIR_RQ_FUA, 8, 8) < 20 * US);
	rig_close(&rig);
}

static void test_ata_flush_runs_alone_and_nvme_flush_does_not(void **state)
{
	struct timed_cmd before, flush, behind;

	(void)state;
	rig_open(&rig, "ssd", 1);
	rig_submit(&rig, &before, WEIR_OP_WRITE, 0, 0, 64);
	rig_submit(&rig, &flush, WEIR_OP_FLUSH, 0, 0, 0);
	rig_submit(&rig, &behind, WEIR_OP_READ, 0, 6400000, 8);
	rig_wait(&rig, &behind);
	assert_true(before.done_ns < flush.done_ns && flush.done_ns < behind.done_ns);
	rig_close(&rig);

	rig_open(&rig, "nvme:plp=0", 1);
	rig_time(&rig, WEIR_OP_WRITE, 0, 0, 64);
	rig_submit(&rig, &flush, WEIR_OP_FLUSH, 0, 0, 0);
	rig_submit(&rig, &behind, WEIR_OP_READ, 0, sector_on(false), 8);
	rig_wait(&rig, &flush);
	assert_true(behind.done_ns && behind.done_ns < flush.done_ns);
	rig_close(&rig);
}

static void test_flushes_wait_for_what_came_before_them_only(void **state)
{
	struct timed_cmd first, second;

	(void)state;
	rig_open(&rig, "nvme:plp=0:dies=1", 1);
	rig_time(&rig, WEIR_OP_WRITE, 0, 0, 8);
	lab_engine_run(rig.e, LAB_NEVER);
	rig_submit(&rig, &first, WEIR_OP_FLUSH, 0, 0, 0);
	rig_sleep(&rig, 100 * US);
	rig_time(&rig, WEIR_OP_WRITE, 0, 800, 8);
	rig_submit(&rig, &second, WEIR_OP_FLUSH, 0, 0, 0);
	rig_wait(&rig, &second);
	/* Two programs, one after the other on the only die, and one flush after each. */
	assert_true(first.done_ns && first.done_ns + 1400 * US < second.done_ns);
	rig_close(&rig);
}

static void test_a_full_buffer_makes_writes_wait(void **state)
{
	uint64_t i, ns, first_slow = 0;

	(void)state;
	rig_open(&rig, "ssd:dies=1:buffer_kb=1024", 1);
	for (i = 0; i < 100; i++) {
		ns = rig_time(&rig, WEIR_OP_WRITE, 0, i * 64, 64);
		if (ns > 500 * US && !first_slow)
			first_slow = i;
	}
	/* 1 MiB is 32 of them, and some were programmed meanwhile. */
	assert_in_range(first_slow, 31, 40);
	rig_close(&rig);
}

/* ---- garbage collection ---- */

static void test_random_writes_slow_down_to_a_steady_state(void **state)
{
	const char *spec = "ssd:capacity_gb=8:buffer_kb=1024:program_us=4000";
	struct lab_result early, late, later;
	struct lab_load load;

	(void)state;
	rig_open(&rig, spec, 1);
	lab_load_init(&load, &rig.d->info, 0, true, 65536, 16);
	load.ramp_ios = 1000;
	load.ios = 3000; /* 0.2 GB of the 0.56 GB to spare */
	lab_measure(rig.d, &load, &early);
	load.ramp_ios = 250000; /* twice the drive */
	load.ios = 30000;
	load.seed = 2;
	lab_measure(rig.d, &load, &late);
	load.ramp_ios = 10;
	load.seed = 3;
	lab_measure(rig.d, &load, &later);
	/* 32 dies x 32 KiB / 4 ms at first; with amplification 7.5 about a seventh. */
	assert_within(lab_result_bytes_per_s(&early), 32 * 32768 * 250, 3);
	assert_in_range(lab_result_bytes_per_s(&early) * 10 / lab_result_bytes_per_s(&late), 65,
			85);
	assert_within(lab_result_bytes_per_s(&later), lab_result_bytes_per_s(&late), 4);
	rig_close(&rig);
}

static void test_collection_makes_reads_wait(void **state)
{
	struct lab_result fresh = rig_load("ssd:aged=0", 90, true, 4096, 8);
	struct lab_result aged = rig_load("ssd:aged=1", 90, true, 4096, 8);

	(void)state;
	assert_true(aged.mean_ns > fresh.mean_ns + 50 * US);
	assert_true(lab_result_iops(&aged) < lab_result_iops(&fresh));
}

/* ---- stalls ---- */

static void test_stall_law(void **state)
{
	uint64_t i, ns, stalled = 0, longest = 0;
	struct lab_rng rng;

	(void)state;
	rig_open(&rig, "pcie-flash", 1);
	lab_rng_seed(&rng, 5, 0);
	for (i = 0; i < 200000; i++) {
		ns = rig_time(&rig, WEIR_OP_READ, 0, lab_rng_below(&rng, 100000000) * 8, 8);
		stalled += ns > 100 * US;
		longest = ns > longest ? ns : longest;
	}
	/*
	 * 200,000 reads take 22 s; 32 dies stall 700 times meanwhile, for 2 to 8 ms. One reader
	 * comes by each die every 3.5 ms on average, and then waits for the end of the stall: it
	 * meets 1 - exp(-d / 3.5 ms) of them, 73 %, 510.
	 */
	assert_in_range(stalled, 430, 590);
	assert_in_range(longest, 7000 * US, 8100 * US);
	rig_close(&rig);

	rig_open(&rig, "pcie-flash:stall=0", 1);
	for (i = 0; i < 20000; i++)
		assert_int_equal(
			rig_time(&rig, WEIR_OP_READ, 0, lab_rng_below(&rng, 100000000) * 8, 8),
			100 * US);
	rig_close(&rig);
}

static void test_stall_holds_its_own_die_only(void **state)
{
	/* Every die has one every 100 ms: at any time one or two of 32 are out. */
	struct lab_result r = rig_load("pcie-flash:stall_every_ms=100", 100, true, 4096, 128);
	struct lab_result none = rig_load("pcie-flash:stall=0", 100, true, 4096, 128);

	(void)state;
	assert_within(lab_result_iops(&r), lab_result_iops(&none), 2);
	assert_true(r.max_ns > 5 * MS && r.p50_ns < 3 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_placement_is_even_and_striped),
		cmocka_unit_test(test_reads_of_one_die_queue_and_of_two_do_not),
		cmocka_unit_test(test_the_register_saves_sensing_again),
		cmocka_unit_test(test_a_program_blocks_its_die_unless_it_is_suspended),
		cmocka_unit_test(test_programs_progress_under_reads),
		cmocka_unit_test(test_erase_comes_once_a_block),
		cmocka_unit_test(test_whole_commands_on_the_link_starve_a_random_reader),
		cmocka_unit_test(test_pcie_flash_is_bound_by_its_controller),
		cmocka_unit_test(test_flush_without_protection_programs_the_buffer),
		cmocka_unit_test(test_flush_with_protection_is_cheap),
		cmocka_unit_test(test_ata_flush_runs_alone_and_nvme_flush_does_not),
		cmocka_unit_test(test_flushes_wait_for_what_came_before_them_only),
		cmocka_unit_test(test_a_full_buffer_makes_writes_wait),
		cmocka_unit_test(test_random_writes_slow_down_to_a_steady_state),
		cmocka_unit_test(test_collection_makes_reads_wait),
		cmocka_unit_test(test_stall_law),
		cmocka_unit_test(test_stall_holds_its_own_die_only),
	};

	return cmocka_run_group_tests_name("device_ssd", tests, NULL, NULL);
}
