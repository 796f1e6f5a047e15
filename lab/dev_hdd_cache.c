// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the drive remembers: segments that the head read, and extents that it has yet to write.
 *
 * Reads: 16 segments of 512 KiB, least recently used goes first; a stream fills one and overwrites
 * its oldest end, so that a reader finds what lies just behind and ahead of it.
 *
 * Writes: at most 256 extents in at most dirty_max_sectors. One that continues a waiting extent is
 * appended to it, one that lies inside a waiting extent replaces its data. Extents that overlap
 * otherwise are both written, which costs the drive some time that a real one might save.
 */
#include "lab/dev_hdd.h"

#include "core/fixed.h"

int hdd_cache_find(struct hdd_cache *c, uint64_t sector, uint32_t nr_sectors)
{
	int i;

	for (i = 0; i < HDD_SEGMENTS; i++) {
		struct hdd_segment *s = &c->segment[i];

		if (sector >= s->start && sector + nr_sectors <= s->end) {
			s->used = ++c->uses;
			return i;
		}
	}
	return -1;
}

uint32_t hdd_cache_begin(struct hdd_cache *c, uint64_t sector)
{
	uint32_t i, oldest = 0;

	for (i = 1; i < HDD_SEGMENTS; i++)
		if (c->segment[i].used < c->segment[oldest].used)
			oldest = i;
	c->segment[oldest] = (struct hdd_segment){sector, sector, ++c->uses};
	return oldest;
}

void hdd_cache_extend(struct hdd_cache *c, uint32_t segment, uint64_t end)
{
	struct hdd_segment *s = &c->segment[segment];

	if (end > s->end)
		s->end = end;
	if (s->end - s->start > HDD_SEGMENT_SECTORS)
		s->start = s->end - HDD_SEGMENT_SECTORS;
}

void hdd_cache_invalidate(struct hdd_cache *c, uint64_t sector, uint32_t nr_sectors)
{
	uint64_t end = sector + nr_sectors;
	int i;

	for (i = 0; i < HDD_SEGMENTS; i++) {
		struct hdd_segment *s = &c->segment[i];

		if (end <= s->start || sector >= s->end)
			continue;
		if (sector > s->start)
			s->end = sector; /* keep what lies before */
		else
			s->start = weir_min64(end, s->end);
	}
}

bool hdd_cache_is_dirty(const struct hdd_cache *c, uint64_t sector, uint32_t nr_sectors)
{
	uint32_t i;

	for (i = 0; i < c->nr_extents; i++) {
		const struct hdd_extent *x = &c->extent[i];

		if (sector >= x->sector && sector + nr_sectors <= x->sector + x->nr_sectors)
			return true;
	}
	return false;
}

bool hdd_cache_has_room(const struct hdd_cache *c, uint32_t nr_sectors)
{
	return c->nr_extents < HDD_EXTENTS &&
	       (!c->nr_extents || c->dirty_sectors + nr_sectors <= c->dirty_max_sectors);
}

static void drop(struct hdd_cache *c, uint32_t i)
{
	c->dirty_sectors -= c->extent[i].nr_sectors;
	c->extent[i] = c->extent[--c->nr_extents];
}

void hdd_cache_write(struct hdd_cache *c, const struct hdd_geometry *g, uint64_t sector,
		     uint32_t nr_sectors, uint64_t now_ns)
{
	uint64_t end = sector + nr_sectors;
	uint32_t i = 0;

	while (i < c->nr_extents) {
		struct hdd_extent *x = &c->extent[i];
		uint64_t x_end = x->sector + x->nr_sectors;

		if (x->writing) {
			i++;
		} else if (sector >= x->sector && end <= x_end) {
			return;
		} else if (sector == x_end && x->nr_sectors + nr_sectors <= HDD_EXTENT_SECTORS) {
			x->nr_sectors += nr_sectors;
			c->dirty_sectors += nr_sectors;
			return;
		} else if (x->sector >= sector && x_end <= end) {
			drop(c, i);
		} else {
			i++;
		}
	}
	c->extent[c->nr_extents++] = (struct hdd_extent){
		.sector = sector,
		.since_ns = now_ns,
		.seq = c->next_seq++,
		.nr_sectors = nr_sectors,
		.place = hdd_locate(g, sector),
	};
	c->dirty_sectors += nr_sectors;
}

void hdd_cache_written(struct hdd_cache *c)
{
	uint32_t i;

	for (i = 0; i < c->nr_extents; i++) {
		if (c->extent[i].writing) {
			drop(c, i);
			return;
		}
	}
}
