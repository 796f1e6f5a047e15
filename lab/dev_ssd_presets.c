// SPDX-License-Identifier: GPL-2.0-only
/*
 * Three flash drives, as numbers. What public data sheets state (capacity, interface, sequential
 * and random rates, latencies) fixes the sums; how a sum is divided among flash, channel and
 * controller is our assumption, within what flash of that year does. docs/devices.md goes through
 * them.
 */
#include "lab/dev_models.h"
#include "lab/dev_ssd.h"

/* clang-format off */
#define OPTIONS(capacity_gb, depth, channels, dies, read_us, program_us, erase_us, suspend_us,     \
		controller_ns, buffer_kb, spare, aged, plp, stall)                                 \
{                                                                                                  \
	{"capacity_gb", "GB", capacity_gb, 8, 32000, "size, in 10^9 bytes"},                       \
	{"depth", "commands", depth, 1, 4096, "commands that it takes at once"},                   \
	{"channels", "count", channels, 1, 64, "that dies share to move data"},                    \
	{"dies", "count", dies, 1, 1024, "that sense or program at the same time"},                \
	{"read_us", "us", read_us, 1, 10000, "a die senses a page"},                               \
	{"program_us", "us", program_us, 1, 100000, "a die programs"},                             \
	{"erase_us", "us", erase_us, 0, 100000, "a die erases a block"},                           \
	{"suspend_us", "us", suspend_us, 0, 10000, "a program gives way to a read; 0: never"},     \
	{"controller_ns", "ns", controller_ns, 1, 1000000, "per command, one at a time"},          \
	{"buffer_kb", "KiB", buffer_kb, 64, 1048576, "write buffer"},                              \
	{"spare", "percent", spare, 2, 100, "flash beyond the capacity"},                          \
	{"fill", "percent", 100, 0, 100, "of the capacity that holds data at the start"},          \
	{"aged", "0/1", aged, 0, 1, "written over at random before: collection goes on"},          \
	{"plp", "0/1", plp, 0, 1, "power loss protection: flush has nothing to do"},               \
	{"stall", "0/1", stall, 0, 1, "dies are out of service now and then"},                     \
	{"stall_every_ms", "ms", 1000, 1, 1000000, "mean interval of one die's stalls"},           \
	{"stall_min_us", "us", 2000, 1, 1000000, "shortest stall"},                                \
	{"stall_max_us", "us", 8000, 1, 1000000, "longest stall"},                                 \
	{NULL, NULL, 0, 0, 0, NULL},                                                               \
}
/* clang-format on */

/*
 * A SATA SSD of 2018 with TLC flash. The link carries 521 MB/s; a command of 128 KiB takes 251.5 us
 * on it and 3 us around it: 515 MB/s. A 4 KiB read alone: 90 us sensing, 10 us channel, 11 us link,
 * 2 us controller, 51 us firmware and what else nobody else waits for: 164 us.
 */
static const struct lab_device_option sata_options[] = OPTIONS(500, 32, 8, 32, 90, 1700, 4000, 0,
							       2000, 8192, 7, 0, 0, 0);

static const struct ssd_preset sata = {
	.channel_page_ns = 10000,
	.link_sector_ps = 982400,
	.link_command_ns = 3000,
	.read_fixed_ns = 51000,
	.write_fixed_ns = 22000,
	.flush_ns = 500000,
	.program_pages = 8,
	.erase_programs = 256,
	.max_sectors = 1024,
	.read_ahead_windows = 3,
	.ata = true,
	.profile =
		{
			.rbps = 521173066,
			.rseqiops = 92089,
			.rrandiops = 92089,
			.wbps = 521173066,
			.wseqiops = 92089,
			.wrandiops = 92089,
			.flush_ns = 2240000,
			.latency_ns = 163859,
			.knee_ns = 195462,
		},
};

/*
 * A PCIe card of 2013 with MLC flash, bound by its controller: 15.6 us per command and 3.15 us per
 * page, that is 18.8 us for 4 KiB or 53,200/s, and 1.12 GB/s in commands of 128 KiB. A 4 KiB read
 * alone: 60 us sensing, 10 us channel, 2 us link, 18.8 us controller, 9.2 us driver: 100 us.
 */
static const struct lab_device_option pcie_options[] = OPTIONS(785, 512, 8, 32, 60, 900, 3000, 0,
							       15650, 4096, 25, 1, 1, 1);

static const struct ssd_preset pcie = {
	.channel_page_ns = 10000,
	.controller_page_ns = 3150,
	.link_sector_ps = 250000,
	.read_fixed_ns = 9200,
	.write_fixed_ns = 5000,
	.program_pages = 8,
	.erase_programs = 256,
	.max_sectors = 1024,
	.read_ahead_windows = 2,
	.profile =
		{
			.rbps = 1300317460,
			.rseqiops = 53191,
			.rrandiops = 53191,
			.wbps = 409500927,
			.wseqiops = 53191,
			.wrandiops = 53191,
			.flush_ns = 20650,
			.latency_ns = 100000,
			.knee_ns = 131600,
		},
};

/*
 * A data centre NVMe drive of about 2020 with TLC flash, PCIe 3.0 x4: 3.5 GB/s on the link, 1.35 us
 * per command in the controller: 740,000/s at most. A 4 KiB read alone: 55 us sensing, 4 us
 * channel, 1.2 us link, 1.4 us controller, 18.4 us interface and driver: 80 us.
 */
static const struct lab_device_option nvme_options[] = OPTIONS(1920, 1023, 8, 128, 55, 1500, 5000,
							       30, 1350, 8192, 7, 0, 1, 0);

static const struct ssd_preset nvme = {
	.channel_page_ns = 3900,
	.link_sector_ps = 146000,
	.read_fixed_ns = 18400,
	.write_fixed_ns = 12000,
	.program_pages = 8,
	.erase_programs = 384,
	.max_sectors = 1024,
	.read_ahead_windows = 2,
	.profile =
		{
			.rbps = 3524565591,
			.rseqiops = 740740,
			.rrandiops = 740740,
			.wbps = 2774898185,
			.wseqiops = 674827,
			.wrandiops = 674827,
			.flush_ns = 13350,
			.latency_ns = 79818,
			.knee_ns = 99900,
		},
};

const struct lab_device_model dev_ssd = {
	.name = "ssd",
	.help = "SATA SSD of 2018: 500 GB, TLC, 515 MB/s, NCQ 32",
	.options = sata_options,
	.preset = &sata,
	.create = ssd_create,
};

const struct lab_device_model dev_pcie_flash = {
	.name = "pcie-flash",
	.help = "PCIe flash card of 2013: 785 GB, MLC, 53,000 IOPS, stalls",
	.options = pcie_options,
	.preset = &pcie,
	.create = ssd_create,
};

const struct lab_device_model dev_nvme = {
	.name = "nvme",
	.help = "data centre NVMe SSD of 2020: 1.92 TB, TLC, 740,000 IOPS, 3.5 GB/s",
	.options = nvme_options,
	.preset = &nvme,
	.create = ssd_create,
};
