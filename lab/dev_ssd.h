/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flash model's parts: preset (what a drive is built of), NAND (dies, channels, programs,
 * stalls), commands. One code, three drives. docs/devices.md has the physics.
 */
#ifndef LAB_DEV_SSD_H
#define LAB_DEV_SSD_H

#include "lab/dev_common.h"
#include "lab/dev_ssd_ftl.h"
#include "lab/rng.h"

#define SSD_UNIT_SECTORS 32u /* what a die senses at once: a NAND page of 16 KiB */
#define SSD_UNIT_NONE UINT64_MAX

/* In the order of the options; see ssd_options() in dev_ssd_presets.c. */
enum ssd_value {
	SSD_CAPACITY_GB,
	SSD_DEPTH,
	SSD_CHANNELS,
	SSD_DIES,
	SSD_READ_US,
	SSD_PROGRAM_US,
	SSD_ERASE_US,
	SSD_SUSPEND_US,
	SSD_CONTROLLER_NS,
	SSD_BUFFER_KB,
	SSD_SPARE,
	SSD_FILL,
	SSD_AGED,
	SSD_PLP,
	SSD_STALL,
	SSD_STALL_EVERY_MS,
	SSD_STALL_MIN_US,
	SSD_STALL_MAX_US,
	SSD_NR_VALUES,
};

struct ssd_preset {
	uint32_t channel_page_ns;    /* a 4 KiB page from the die's register */
	uint32_t controller_page_ns; /* per page of a command, beside its controller_ns */
	uint32_t link_sector_ps, link_command_ns;
	uint32_t read_fixed_ns, write_fixed_ns; /* what no other command waits for */
	uint32_t flush_ns;			/* beside emptying the buffer */
	uint32_t program_pages;	 /* 4 KiB pages that one program writes: all planes of a die */
	uint32_t erase_programs; /* programs to fill a block of a die */
	uint32_t max_sectors, read_ahead_windows;
	bool ata; /* whole commands over a half-duplex link, one after another; flush runs alone */
	struct weir_profile profile;
};

struct ssd_die {
	uint64_t read_free_ns; /* reads (and without suspend programs) are done */
	uint64_t program_end_ns;
	uint64_t unit, unit_ready_ns; /* in the register */
	uint64_t stall_at_ns;
	uint32_t channel;
	uint32_t programs_left; /* until the block is full and the next must be erased */
	uint32_t suspends;	/* of the program that runs */
	/* The program that runs: at most one a die. */
	bool programming, moving; /* moving: of the collector */
	uint32_t pages;		  /* of the host's */
	uint64_t epoch;
	struct lab_event program_done;
	struct ssd *ssd;
};

/* What was written between two flushes. */
struct ssd_epoch {
	uint32_t waiting;   /* pages in the buffer, not being programmed */
	uint32_t unwritten; /* all that is not in flash yet */
};

struct ssd_part { /* of a read: one unit; the only part is the command itself */
	struct lab_event ev;
	struct ssd_part *next;
	struct lab_cmd *cmd;
	struct ssd *ssd;
	uint32_t die, sectors;
};

struct ssd_slab;

struct ssd {
	struct lab_device dev;
	const struct ssd_preset *preset;
	uint64_t read_ns, program_ns, erase_ns, suspend_ns, controller_ns;
	bool plp;

	struct ssd_die *die;
	uint32_t nr_dies, next_die, nr_programming;
	uint64_t *channel_free_ns;
	uint64_t controller_free_ns;
	uint64_t link_free_ns[WEIR_NR_DIRS]; /* ata: [WEIR_READ] is both */
	uint64_t salt;			     /* placement */

	bool stall;
	uint64_t stall_every_ns, stall_min_ns, stall_span_ns;
	struct lab_rng stall_rng;

	struct ssd_ftl ftl;
	uint64_t moves; /* of the collector that are due, << FTL_RATIO_SHIFT, in programs */
	uint32_t buffered_pages, buffer_pages;
	struct dev_fifo no_room;  /* writes that the buffer cannot take yet */
	struct dev_fifo flushing; /* wait for their epoch, in its order */
	struct ssd_epoch *epoch;  /* ring of epoch_mask + 1 */
	uint64_t first_epoch, epoch_mask, open_epoch;

	struct dev_gate gate; /* ata */
	struct ssd_part *free_parts;
	struct ssd_slab *slabs;
};

/* ---- dev_ssd_nand.c ---- */

void ssd_nand_init(struct ssd *s, uint32_t channels, uint32_t dies, uint64_t seed);
/* The die that a unit lies on. */
uint32_t ssd_die_of(const struct ssd *s, uint64_t unit);
/* Occupies the die for a read; returns when the page is in its register. */
uint64_t ssd_die_read(struct ssd *s, uint32_t nr, uint64_t unit, uint64_t now);
/* Starts programs as long as there is something to write and a die without one. */
void ssd_program(struct ssd *s, uint64_t now_ns);

/* ---- dev_ssd.c ---- */

/* Pages of the epoch are in flash: buffer room, flushes. Called by the NAND. */
void ssd_programmed(struct ssd *s, uint64_t epoch, uint32_t pages, uint64_t now_ns);

struct lab_device *ssd_create(const struct lab_device_model *model, struct lab_engine *e,
			      const uint64_t *values, const char *arg, uint64_t seed);

#endif
