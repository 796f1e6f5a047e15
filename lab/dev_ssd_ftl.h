/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The translation layer of the flash models, at a small scale: where data lie, what garbage
 * collection has to move, and so the write amplification. It knows no time.
 */
#ifndef LAB_DEV_SSD_FTL_H
#define LAB_DEV_SSD_FTL_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/rng.h"

#define FTL_GRANULES (1u << 15) /* of the logical space */
#define FTL_BLOCK_GRANULES 64u
#define FTL_RATIO_SHIFT 16

struct ssd_ftl {
	uint64_t granule_sectors;
	uint32_t nr_blocks;
	uint32_t *slot_of;    /* of a granule: place in flash, FTL_NOWHERE if it holds no data */
	uint32_t *granule_at; /* of a slot: the last granule written there */
	uint8_t *valid;	      /* of a block: slots that hold current data */
	uint32_t *free_block; /* stack */
	uint32_t nr_free;
	uint32_t open_slot[2], open_end[2]; /* of the host's open block, and of the collector's */
	/* Pages that the collector moves per page that the host writes, << FTL_RATIO_SHIFT. */
	uint64_t moves_per_write;
	uint64_t host_granules, moved_granules;

	/* Sampling: a granule is rewritten when about its size has been written. */
	int64_t until_write, until_discard;
	struct lab_rng rng;
};

/*
 * fill: percent of the space that holds data. aged: written all over at random, so that collection
 * goes on; else written once from front to back and the spare blocks are free.
 */
void ftl_init(struct ssd_ftl *f, uint64_t sectors, uint32_t spare_percent, uint32_t fill_percent,
	      bool aged, uint64_t seed);
void ftl_free(struct ssd_ftl *f);
void ftl_write(struct ssd_ftl *f, uint64_t sector, uint32_t nr_sectors);
void ftl_discard(struct ssd_ftl *f, uint64_t sector, uint32_t nr_sectors);

#endif
