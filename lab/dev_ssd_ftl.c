// SPDX-License-Identifier: GPL-2.0-only
/*
 * A translation layer at a scale of some thousands to one.
 *
 * A real one maps every 4 KiB page. This one divides the drive into 32768 granules (16 MB of a 512
 * GB drive) and treats them as if they were its pages: a granule is somewhere in a block of 64;
 * writing it anew puts it into the open block and leaves a hole where it was; when free blocks run
 * out, the block with the fewest valid granules is emptied into the collector's open block and
 * becomes free (greedy collection). What is true of pages is then true of granules: overwriting at
 * random makes holes all over, a hot spot makes them in a few blocks, a sequential pass empties
 * whole blocks, and discard makes holes without writing.
 *
 * The link between the scales is sampling. Of every granule's worth of sectors written, one request
 * stands for all and its granule is rewritten.
 *
 * Example: 7 % spare, random overwriting. At first the spare blocks are used up without any move.
 * Then victims have about 87 % valid granules: 56 moved for 8 freed, write amplification 8.
 *
 * Collection empties a whole block at once here, and its moves are paid in proportion to what the
 * host writes into the space gained: moves_per_write is moved / freed of the last victim.
 */
#include "lab/dev_ssd_ftl.h"

#include <stdlib.h>

#include "lab/dev_common.h"

#define NOWHERE UINT32_MAX
#define RESHUFFLE 64
#define FREE_BLOCKS_KEPT 2u /* one to open for the host, one for the collector */

enum { HOST, COLLECTOR };

static uint32_t open_block(const struct ssd_ftl *f, int who)
{
	return f->open_end[who] ? (f->open_end[who] - 1) / FTL_BLOCK_GRANULES : NOWHERE;
}

static void forget(struct ssd_ftl *f, uint32_t granule)
{
	uint32_t slot = f->slot_of[granule];

	if (slot != NOWHERE)
		f->valid[slot / FTL_BLOCK_GRANULES]--;
	f->slot_of[granule] = NOWHERE;
}

static void place(struct ssd_ftl *f, int who, uint32_t granule)
{
	uint32_t slot;

	if (f->open_slot[who] == f->open_end[who]) {
		uint32_t block = f->free_block[--f->nr_free];

		f->open_slot[who] = block * FTL_BLOCK_GRANULES;
		f->open_end[who] = f->open_slot[who] + FTL_BLOCK_GRANULES;
	}
	slot = f->open_slot[who]++;
	forget(f, granule);
	f->slot_of[granule] = slot;
	f->granule_at[slot] = granule;
	f->valid[slot / FTL_BLOCK_GRANULES]++;
}

static bool is_free(const struct ssd_ftl *f, uint32_t block)
{
	uint32_t i;

	for (i = 0; i < f->nr_free; i++)
		if (f->free_block[i] == block)
			return true;
	return false;
}

/* Closed block with the fewest valid granules; the lowest number among equals. */
static uint32_t victim(const struct ssd_ftl *f)
{
	uint32_t block, best = NOWHERE;

	for (block = 0; block < f->nr_blocks; block++) {
		if (best != NOWHERE && f->valid[block] >= f->valid[best])
			continue;
		if (block == open_block(f, HOST) || block == open_block(f, COLLECTOR))
			continue;
		if (!f->valid[block] && is_free(f, block))
			continue;
		best = block;
	}
	return best;
}

static void collect(struct ssd_ftl *f)
{
	uint32_t block = victim(f), slot = block * FTL_BLOCK_GRANULES, i;
	uint32_t moved = f->valid[block], freed = FTL_BLOCK_GRANULES - moved;

	for (i = 0; i < FTL_BLOCK_GRANULES; i++, slot++)
		if (f->slot_of[f->granule_at[slot]] == slot)
			place(f, COLLECTOR, f->granule_at[slot]);
	f->free_block[f->nr_free++] = block;
	f->moved_granules += moved;
	/* A full victim frees nothing: the spare is too small to be. See ftl_init(). */
	f->moves_per_write = ((uint64_t)moved << FTL_RATIO_SHIFT) / (freed ? freed : 1);
}

static void rewrite(struct ssd_ftl *f, uint32_t granule)
{
	place(f, HOST, granule);
	f->host_granules++;
	while (f->nr_free < FREE_BLOCKS_KEPT)
		collect(f);
}

/*
 * The next sample is a granule's worth away, so that a sequential pass meets every granule once.
 * One in RESHUFFLE is elsewhere, so that no period of the host stays in step with it.
 */
static int64_t next_sample(struct ssd_ftl *f)
{
	if (lab_rng_below(&f->rng, RESHUFFLE))
		return (int64_t)f->granule_sectors;
	return 1 + (int64_t)lab_rng_below(&f->rng, 2 * f->granule_sectors);
}

/* Granule of the sector at which the sample fell: `left` sectors (0 or less) before the end. */
static uint32_t sampled(const struct ssd_ftl *f, uint64_t end, int64_t left)
{
	uint64_t granule = (end - 1 - (uint64_t)-left) / f->granule_sectors;

	return granule < FTL_GRANULES ? (uint32_t)granule : FTL_GRANULES - 1;
}

void ftl_write(struct ssd_ftl *f, uint64_t sector, uint32_t nr_sectors)
{
	f->until_write -= nr_sectors;
	while (f->until_write <= 0) {
		rewrite(f, sampled(f, sector + nr_sectors, f->until_write));
		f->until_write += next_sample(f);
	}
}

void ftl_discard(struct ssd_ftl *f, uint64_t sector, uint32_t nr_sectors)
{
	f->until_discard -= nr_sectors;
	while (f->until_discard <= 0) {
		forget(f, sampled(f, sector + nr_sectors, f->until_discard));
		f->until_discard += next_sample(f);
	}
}

void ftl_init(struct ssd_ftl *f, uint64_t sectors, uint32_t spare_percent, uint32_t fill_percent,
	      bool aged, uint64_t seed)
{
	/* The smallest spare, 2 %, is 10 blocks: enough that a victim always has holes. */
	uint32_t blocks = FTL_GRANULES / FTL_BLOCK_GRANULES, i;
	uint32_t filled = (uint32_t)((uint64_t)FTL_GRANULES * fill_percent / 100);

	f->nr_blocks = blocks + blocks * spare_percent / 100 + FREE_BLOCKS_KEPT;
	f->granule_sectors = (sectors + FTL_GRANULES - 1) / FTL_GRANULES;
	f->slot_of = dev_zalloc(FTL_GRANULES, sizeof(*f->slot_of));
	f->granule_at = dev_zalloc(f->nr_blocks * FTL_BLOCK_GRANULES, sizeof(*f->granule_at));
	f->valid = dev_zalloc(f->nr_blocks, sizeof(*f->valid));
	f->free_block = dev_zalloc(f->nr_blocks, sizeof(*f->free_block));
	lab_rng_seed(&f->rng, seed, UINT64_C(0x66746c));
	for (i = 0; i < FTL_GRANULES; i++)
		f->slot_of[i] = NOWHERE;
	for (i = f->nr_blocks; i;)
		f->free_block[f->nr_free++] = --i;
	for (i = 0; i < filled; i++)
		rewrite(f, i);
	/* Three times over is within a percent of the steady state. */
	for (i = 0; aged && i < 3 * filled; i++)
		rewrite(f, (uint32_t)lab_rng_below(&f->rng, filled));
	f->host_granules = f->moved_granules = 0;
	f->until_write = next_sample(f);
	f->until_discard = next_sample(f);
}

void ftl_free(struct ssd_ftl *f)
{
	free(f->slot_of);
	free(f->granule_at);
	free(f->valid);
	free(f->free_block);
}
