// SPDX-License-Identifier: GPL-2.0-only
/* The tables of docs/devices.md, and the profiles in the presets, measured again. */
#include "tests/test_device_rig.h"

static void assert_table(const char *spec, const struct pinned *rows, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		assert_pinned(spec, &rows[i]);
}

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static void test_ssd_table(void **state)
{
	static const struct pinned rows[] = {
		{100, 128 << 10, false, {2285, 3929, 3929, 3929}},
		{100, 4 << 10, true, {6102, 24069, 86388, 92089}},
		{0, 128 << 10, false, {3590, 3929, 3929, 3929}},
		{0, 4 << 10, true, {28686, 92089, 92089, 92089}},
	};

	(void)state;
	assert_table("ssd", rows, NR(rows));
}

static void test_pcie_flash_table(void **state)
{
	static const struct pinned rows[] = {
		{100, 128 << 10, false, {2977, 7336, 8485, 8568, 8587, 8587, 8587}},
		{100, 4 << 10, true, {9058, 35594, 53116, 53191, 53191, 53191, 53191}},
		{0, 128 << 10, false, {3024, 3024, 3024, 3024, 3024, 3024, 3024}},
		{0, 4 << 10, true, {38759, 53191, 53191, 53191, 53191, 53191, 53191}},
		{50, 4 << 10, true, {11869, 31454, 52925, 53190, 53191, 53191, 53191}},
	};

	(void)state;
	assert_table("pcie-flash", rows, NR(rows));
}

static void test_nvme_table(void **state)
{
	static const struct pinned rows[] = {
		{100, 128 << 10, false, {7829, 26755, 26755, 26755, 26755, 26755, 26755}},
		{100, 4 << 10, true, {12528, 49829, 194477, 374678, 676783, 740740, 740740}},
		{0, 128 << 10, false, {19713, 21144, 21144, 21144, 21144, 21144, 21144}},
		{0, 4 << 10, true, {68880, 275520, 675612, 676059, 676059, 676059, 676059}},
	};

	(void)state;
	assert_table("nvme", rows, NR(rows));
}

static void test_ssd_profile(void **state)
{
	(void)state;
	assert_profile_measured("ssd");
}

static void test_pcie_flash_profile(void **state)
{
	(void)state;
	assert_profile_measured("pcie-flash");
}

static void test_nvme_profile(void **state)
{
	(void)state;
	assert_profile_measured("nvme");
}

/* What the profile says a saturated load costs is the time that it takes. */
static void test_prices_add_up_to_time(void **state)
{
	static const char *const specs[] = {"hdd", "ssd", "pcie-flash", "nvme",
					    "profile:pc711:tail=0"};
	static const uint32_t sizes[] = {4096, 131072};
	size_t i, k;
	int random;

	(void)state;
	for (i = 0; i < NR(specs); i++) {
		for (k = 0; k < NR(sizes); k++) {
			for (random = 0; random <= 1; random++) {
				struct lab_result out = rig_load(specs[i], 100, random, sizes[k],
								 1023);
				uint64_t spent = out.duration_ns / out.ios, price;
				struct rig r;

				rig_open(&r, specs[i], 1);
				price = weir_profile_cost_ns(&r.d->info.profile, WEIR_OP_READ,
							     sizes[k] / 512, random);
				/* Large random reads are off the line a little on a disk. */
				assert_within(price, spent, random && k ? 12 : 3);
				rig_close(&r);
			}
		}
	}
}

/* An option that makes it another device gives it another profile. */
static void test_options_change_the_profile(void **state)
{
	struct rig plain, slow, stalling;

	(void)state;
	rig_open(&plain, "pcie-flash", 1);
	rig_open(&slow, "pcie-flash:controller_ns=34450", 1);
	rig_open(&stalling, "pcie-flash:stall_every_ms=100", 1);
	assert_within(plain.d->info.profile.rrandiops, 53191, 1);
	assert_within(slow.d->info.profile.rrandiops, 26595, 1);
	assert_int_equal(stalling.d->info.profile.rrandiops, plain.d->info.profile.rrandiops);
	assert_int_equal(stalling.d->info.profile.knee_ns, plain.d->info.profile.knee_ns);
	rig_close(&plain);
	rig_close(&slow);
	rig_close(&stalling);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ssd_table),
		cmocka_unit_test(test_pcie_flash_table),
		cmocka_unit_test(test_nvme_table),
		cmocka_unit_test(test_ssd_profile),
		cmocka_unit_test(test_pcie_flash_profile),
		cmocka_unit_test(test_nvme_profile),
		cmocka_unit_test(test_prices_add_up_to_time),
		cmocka_unit_test(test_options_change_the_profile),
	};

	return cmocka_run_group_tests_name("device_tables", tests, NULL, NULL);
}
