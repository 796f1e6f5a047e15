// SPDX-License-Identifier: GPL-2.0-only
/*
 * Geometry of the disk model.
 *
 * Sectors are numbered along a track, then through the heads of a cylinder, then inwards. Each
 * track starts a little later on the circle than the one before (skew), by the time that switching
 * heads or stepping one cylinder takes; so a sequential transfer never misses its sector. Adding up
 * tracks, skews and the way along the track gives a sector's *phase*: the time at which a head that
 * streams the disk from the beginning would meet it. Two things follow at once, in integers:
 *
 *	streaming from a to b takes phase(b) - phase(a);
 *	a head on the track of a meets it when time = phase(a) modulo one rotation.
 *
 * The seek curve is a root for short distances, where the arm accelerates all the way, and a line
 * for long ones, where it coasts (Ruemmler and Wilkes, 1994); it includes the settling for reads.
 */
#include "lab/dev_hdd.h"

#include "core/fixed.h"

enum {
	HEADS = 4, /* two platters */

	/* Sectors per track: with the skews below the outer zone streams 78 MiB/s, the inner 40. */
	SPT_OUTER = 1491,
	SPT_INNER = 760,

	HEAD_SKEW_NS = 800000,
	CYLINDER_SKEW_NS = 1600000, /* a step and the settling for a write */

	/* Seek: 1.0 ms to the next track, 8.5 ms over a third of the disk, 17 ms over all of it. */
	SEEK_ROOT_CYLINDERS = 24000, /* up to here 1.0 ms + 30.1 us x (root of the distance - 1) */
	SEEK_NEXT_NS = 1000000,
	SEEK_ROOT_NS = 30100,
	SEEK_LINE_NS = 4250000, /* beyond 4.25 ms + 58.1 ns x distance */
	SEEK_LINE_PS = 58100,

	WRITE_SETTLE_NS = 500000, /* the arm must be nearer to the middle of the track to write */
};

static uint64_t root(uint64_t x)
{
	uint64_t r, next;

	if (x < 2)
		return x;
	r = UINT64_C(1) << (weir_log2(x) / 2 + 1); /* above the root: Newton falls to it */
	while ((next = (r + x / r) / 2) < r)
		r = next;
	return r;
}

uint64_t hdd_seek_ns(uint32_t cylinders)
{
	if (!cylinders)
		return 0;
	if (cylinders <= SEEK_ROOT_CYLINDERS)
		return SEEK_NEXT_NS + (SEEK_ROOT_NS * root((uint64_t)cylinders << 16) >> 8) -
		       SEEK_ROOT_NS;
	return SEEK_LINE_NS + (uint64_t)SEEK_LINE_PS * cylinders / 1000;
}

void hdd_geometry_init(struct hdd_geometry *g, uint64_t sectors, uint32_t rpm, uint64_t phase)
{
	uint64_t per_cylinder = 0, first_sector = 0;
	uint32_t zone, first_cylinder = 0, cylinders;

	g->sectors = sectors;
	g->heads = HEADS;
	g->rotation_ns = 60 * WEIR_NS_PER_S / rpm;
	g->start_phase_ns = phase % g->rotation_ns;
	for (zone = 0; zone < HDD_ZONES; zone++) {
		g->zone[zone].sectors_per_track = SPT_OUTER -
						  (SPT_OUTER - SPT_INNER) * zone / (HDD_ZONES - 1);
		per_cylinder += (uint64_t)g->zone[zone].sectors_per_track * HEADS;
	}
	/* Zones of equally many cylinders; rounded up, so that the last has room to spare. */
	cylinders = (uint32_t)((sectors + per_cylinder - 1) / per_cylinder);
	for (zone = 0; zone < HDD_ZONES; zone++) {
		struct hdd_zone *z = &g->zone[zone];

		z->first_sector = first_sector;
		z->first_cylinder = first_cylinder;
		first_sector += (uint64_t)cylinders * z->sectors_per_track * HEADS;
		first_cylinder += cylinders;
	}
	g->cylinders = first_cylinder;
}

struct hdd_place hdd_locate(const struct hdd_geometry *g, uint64_t sector)
{
	uint32_t low = 0, high = HDD_ZONES, track, spt, on_track;
	const struct hdd_zone *z;
	struct hdd_place p;
	uint64_t rest, tracks;

	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;

		if (g->zone[middle].first_sector <= sector)
			low = middle;
		else
			high = middle;
	}
	z = &g->zone[low];
	spt = z->sectors_per_track;
	rest = sector - z->first_sector;
	track = (uint32_t)(rest / spt);
	on_track = (uint32_t)(rest % spt);
	p.cylinder = z->first_cylinder + track / HEADS;
	p.head = track % HEADS;
	tracks = (uint64_t)p.cylinder * HEADS + p.head;
	/* Below 2^20 tracks x 2^23 ns x 2: far from overflow. */
	p.phase_ns = tracks * g->rotation_ns + (tracks - p.cylinder) * HEAD_SKEW_NS +
		     (uint64_t)p.cylinder * CYLINDER_SKEW_NS + on_track * g->rotation_ns / spt;
	p.sector_ns = g->rotation_ns / spt;
	return p;
}

uint64_t hdd_media_ns(const struct hdd_geometry *g, const struct hdd_place *first,
		      uint64_t end_sector)
{
	struct hdd_place last = hdd_locate(g, end_sector - 1);

	return last.phase_ns + last.sector_ns - first->phase_ns;
}

uint64_t hdd_rotation_wait_ns(const struct hdd_geometry *g, const struct hdd_place *p,
			      uint64_t at_ns)
{
	uint64_t angle = (p->phase_ns + g->start_phase_ns) % g->rotation_ns;
	uint64_t now = at_ns % g->rotation_ns;

	return angle >= now ? angle - now : angle + g->rotation_ns - now;
}

uint64_t hdd_position_ns(const struct hdd_geometry *g, const struct hdd_arm *arm,
			 const struct hdd_place *to, bool write, uint64_t at_ns)
{
	uint32_t away = arm->cylinder > to->cylinder ? arm->cylinder - to->cylinder
						     : to->cylinder - arm->cylinder;
	uint64_t move_ns = 0;

	if (away)
		move_ns = hdd_seek_ns(away) + (write ? WRITE_SETTLE_NS : 0);
	else if (arm->head != to->head)
		move_ns = HEAD_SKEW_NS;
	return move_ns + hdd_rotation_wait_ns(g, to, at_ns + move_ns);
}
