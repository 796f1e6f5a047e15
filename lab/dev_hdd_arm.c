// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arm: what it does next, and how long that takes.
 *
 * It positions (seek, then the rest of a rotation) and transfers, one thing at a time. When it is
 * done the drive chooses what is nearest in time among all that waits, reads and uncached writes of
 * the queue and, when it is time to empty the write cache, its extents: shortest positioning time
 * first, less a thirty-second of the time waited, so that nothing starves. Example: two reads wait,
 * one 3 ms away, the other 9 ms; the second goes first once it has waited 192 ms longer.
 */
#include "lab/dev_hdd.h"

#include <string.h>

enum {
	AGEING_SHIFT = 5,	      /* 256 ms of waiting outweigh 8 ms of positioning */
	EXTENT_AGEING_SHIFT = 8,      /* nobody waits for an extent */
	READ_PREFERENCE_NS = 4000000, /* so much further than an extent a command may be */
	EXTENT_AGE_NS = 2000000000,   /* an extent as old as this is not kept waiting by reads */
};

static void start_read(struct hdd *h, struct lab_cmd *cmd, const struct hdd_place *place,
		       uint64_t now)
{
	uint64_t end = cmd->sector + cmd->nr_sectors, done_ns;
	struct hdd_stream *s = &h->stream;
	struct hdd_place from;

	if (s->on && hdd_on_stream(h, cmd, hdd_stream_update(h, now))) {
		hdd_stream_extend(h, end, now);
	} else {
		hdd_stream_stop(h, now);
		s->on = true;
		s->segment = hdd_cache_begin(&h->cache, cmd->sector);
		s->sector = cmd->sector;
		s->start_ns = now + hdd_position_ns(&h->geo, &h->arm, place, false, now);
		s->limit = weir_min64(end + HDD_READ_AHEAD_SECTORS, h->geo.sectors);
	}
	from = hdd_locate(&h->geo, s->sector);
	done_ns = end > s->sector ? s->start_ns + hdd_media_ns(&h->geo, &from, end) : now;
	h->serving = cmd;
	lab_event_at(h->dev.engine, &h->arm_done, done_ns);
}

static void start_write(struct hdd *h, uint64_t sector, uint32_t nr_sectors,
			const struct hdd_place *place, uint64_t now)
{
	struct hdd_place last = hdd_locate(&h->geo, sector + nr_sectors - 1);
	uint64_t start_ns;

	hdd_stream_stop(h, now);
	hdd_cache_invalidate(&h->cache, sector, nr_sectors);
	start_ns = now + hdd_position_ns(&h->geo, &h->arm, place, true, now);
	h->arm.cylinder = last.cylinder;
	h->arm.head = last.head;
	lab_event_at(h->dev.engine, &h->arm_done,
		     start_ns + hdd_media_ns(&h->geo, place, sector + nr_sectors));
}

/* Is it time to write what is in the cache? */
static bool want_extents(struct hdd *h, uint64_t now)
{
	const struct hdd_cache *c = &h->cache;
	uint32_t i;

	if (!c->nr_extents)
		return false;
	if (c->nr_extents >= HDD_EXTENTS * 3 / 4 ||
	    c->dirty_sectors >= c->dirty_max_sectors / 4 * 3)
		h->draining = true;
	else if (c->nr_extents <= HDD_EXTENTS / 2 && c->dirty_sectors <= c->dirty_max_sectors / 2)
		h->draining = false;
	if (h->draining || h->flushing || h->no_room.head)
		return true;
	if (!h->nr_queued && now >= h->quiet_from_ns)
		return true;
	for (i = 0; i < c->nr_extents; i++)
		if (now - c->extent[i].since_ns >= EXTENT_AGE_NS)
			return true;
	return false;
}

/* Positioning time, less a part of the time waited: smallest goes first. */
static int64_t rank(const struct hdd *h, const struct hdd_place *place, bool write,
		    uint64_t waited_ns, uint64_t now)
{
	return (int64_t)hdd_position_ns(&h->geo, &h->arm, place, write, now) - (int64_t)waited_ns;
}

static int nearest_queued(struct hdd *h, uint64_t now, int64_t *best_rank)
{
	uint64_t at = h->stream.on ? hdd_stream_update(h, now) : 0;
	int best = -1;
	uint32_t i;

	for (i = 0; i < h->nr_queued; i++) {
		struct lab_cmd *cmd = h->queue[i].cmd;
		uint64_t waited_ns = (now - cmd->submit_ns) >> AGEING_SHIFT;
		int64_t r = -(int64_t)waited_ns;

		if (!hdd_on_stream(h, cmd, at))
			r = rank(h, &h->queue[i].place, cmd->op != WEIR_OP_READ, waited_ns, now);
		if (best < 0 || r < *best_rank) {
			best = (int)i;
			*best_rank = r;
		}
	}
	return best;
}

static struct hdd_extent *nearest_extent(struct hdd *h, uint64_t now, int64_t *best_rank)
{
	struct hdd_extent *best = NULL;
	uint32_t i;

	for (i = 0; i < h->cache.nr_extents; i++) {
		struct hdd_extent *x = &h->cache.extent[i];
		uint64_t waited_ns = (now - x->since_ns) >> EXTENT_AGEING_SHIFT;
		int64_t r = rank(h, &x->place, true, waited_ns, now);

		if (!best || r < *best_rank || (r == *best_rank && x->seq < best->seq)) {
			best = x;
			*best_rank = r;
		}
	}
	return best;
}

/* Where the arm stands while it reads on. */
static void arm_update(struct hdd *h, uint64_t now)
{
	struct hdd_place p;

	if (!h->stream.on)
		return;
	p = hdd_locate(&h->geo, weir_min64(hdd_stream_at(h, now), h->geo.sectors - 1));
	h->arm.cylinder = p.cylinder;
	h->arm.head = p.head;
}

void hdd_arm_next(struct hdd *h, uint64_t now)
{
	int64_t queued_rank = 0, extent_rank = 0;
	struct hdd_extent *x = NULL;
	struct hdd_waiting w;
	int i;

	if (h->busy || (!h->nr_queued && !h->cache.nr_extents))
		return;
	arm_update(h, now);
	i = nearest_queued(h, now, &queued_rank);
	if (want_extents(h, now))
		x = nearest_extent(h, now, &extent_rank);
	if (x && (i < 0 || extent_rank + READ_PREFERENCE_NS < queued_rank)) {
		h->busy = true;
		h->serving = NULL;
		x->writing = true;
		start_write(h, x->sector, x->nr_sectors, &x->place, now);
	} else if (i >= 0) {
		h->busy = true;
		w = h->queue[i];
		h->nr_queued--;
		memmove(&h->queue[i], &h->queue[i + 1], (h->nr_queued - (uint32_t)i) * sizeof(w));
		h->serving = w.cmd;
		if (w.cmd->op == WEIR_OP_READ)
			start_read(h, w.cmd, &w.place, now);
		else
			start_write(h, w.cmd->sector, w.cmd->nr_sectors, &w.place, now);
	} else {
		lab_event_at(h->dev.engine, &h->quiet, h->quiet_from_ns);
	}
}
