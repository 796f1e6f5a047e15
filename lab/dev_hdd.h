/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the disk model: where sectors lie and how long it takes to get there (geometry),
 * what the drive remembers (cache), what it reads on (stream), what it does next (arm), and
 * commands. docs/devices.md has the physics.
 */
#ifndef LAB_DEV_HDD_H
#define LAB_DEV_HDD_H

#include "lab/dev_common.h"

/* ---- geometry ---- */

#define HDD_ZONES 16

struct hdd_zone {
	uint64_t first_sector;
	uint32_t first_cylinder;
	uint32_t sectors_per_track;
};

struct hdd_geometry {
	struct hdd_zone zone[HDD_ZONES];
	uint64_t sectors;
	uint32_t cylinders, heads;
	uint64_t rotation_ns;
	uint64_t start_phase_ns; /* where the platters stand at time 0 */
};

/* Where a sector is. */
struct hdd_place {
	uint32_t cylinder, head;
	/*
	 * Phase: time at which a head that streams the whole disk from sector 0 on, never late,
	 * meets the start of this sector. Modulo a rotation it is the sector's angle.
	 */
	uint64_t phase_ns;
	uint64_t sector_ns; /* time that one sector takes to pass */
};

void hdd_geometry_init(struct hdd_geometry *g, uint64_t sectors, uint32_t rpm, uint64_t phase);
struct hdd_place hdd_locate(const struct hdd_geometry *g, uint64_t sector);
uint64_t hdd_seek_ns(uint32_t cylinders);
/* From the start of the first sector under the head to the end of the last. */
uint64_t hdd_media_ns(const struct hdd_geometry *g, const struct hdd_place *first,
		      uint64_t end_sector);
/* From `at` until the place passes under a head that is on its track. */
uint64_t hdd_rotation_wait_ns(const struct hdd_geometry *g, const struct hdd_place *p,
			      uint64_t at_ns);

/* The arm: on which track it is, and since when it can read there. */
struct hdd_arm {
	uint32_t cylinder, head;
};

/* Until the first sector is under the head, from `at` on. write: settles longer. */
uint64_t hdd_position_ns(const struct hdd_geometry *g, const struct hdd_arm *arm,
			 const struct hdd_place *to, bool write, uint64_t at_ns);

/* ---- cache ---- */

#define HDD_SEGMENTS 16
#define HDD_SEGMENT_SECTORS 1024u /* 512 KiB each */
#define HDD_EXTENTS 256
#define HDD_EXTENT_SECTORS 2048u

struct hdd_segment {		   /* sectors [start, end) of the read cache; empty: start == end */
	uint64_t start, end, used; /* used: number of the last use, for LRU */
};

/*
 * The head reads on after the last read, into a segment: that is the stream. It is not simulated
 * sector by sector; how far it has come follows from the time.
 */
struct hdd_stream {
	bool on;
	uint32_t segment;
	uint64_t sector; /* passes under the head at start_ns */
	uint64_t start_ns;
	uint64_t limit; /* reading on ends before this sector */
};

struct hdd_extent { /* sectors written to the cache and not yet to the medium */
	uint64_t sector, since_ns, seq;
	uint32_t nr_sectors;
	bool writing;
	struct hdd_place place;
};

struct hdd_cache {
	struct hdd_segment segment[HDD_SEGMENTS];
	uint64_t uses;
	struct hdd_extent extent[HDD_EXTENTS]; /* the first nr_extents are in use */
	uint32_t nr_extents;
	uint64_t dirty_sectors, dirty_max_sectors;
	uint64_t next_seq;
};

/* Read segment that holds all of the range, or -1. Counts as a use. */
int hdd_cache_find(struct hdd_cache *c, uint64_t sector, uint32_t nr_sectors);
/* A segment for a new stream from `sector` on: the least recently used. */
uint32_t hdd_cache_begin(struct hdd_cache *c, uint64_t sector);
/* The segment now reaches to `end`; its oldest sectors make room. */
void hdd_cache_extend(struct hdd_cache *c, uint32_t segment, uint64_t end);
/* What is written is no longer right in the read cache. */
void hdd_cache_invalidate(struct hdd_cache *c, uint64_t sector, uint32_t nr_sectors);

bool hdd_cache_is_dirty(const struct hdd_cache *c, uint64_t sector, uint32_t nr_sectors);
bool hdd_cache_has_room(const struct hdd_cache *c, uint32_t nr_sectors);
void hdd_cache_write(struct hdd_cache *c, const struct hdd_geometry *g, uint64_t sector,
		     uint32_t nr_sectors, uint64_t now_ns);
/* The extent that was being written is on the medium. */
void hdd_cache_written(struct hdd_cache *c);

/* ---- the drive ---- */

#define HDD_DEPTH_MAX 32
#define HDD_READ_AHEAD_SECTORS 768 /* beyond the last sector asked for */

struct hdd_waiting { /* for the arm */
	struct lab_cmd *cmd;
	struct hdd_place place;
};

struct hdd {
	struct lab_device dev;
	struct hdd_geometry geo;
	struct hdd_cache cache;
	struct hdd_stream stream;
	struct hdd_arm arm; /* where the stream is off */
	struct dev_gate gate;
	bool write_cache;

	struct hdd_waiting queue[HDD_DEPTH_MAX]; /* in order of arrival */
	uint32_t nr_queued;
	struct dev_fifo no_room;  /* writes that the cache cannot take yet */
	struct lab_cmd *flushing; /* a flush, or a write before which one goes */
	bool draining;
	uint64_t quiet_from_ns;
	struct lab_event quiet;

	struct lab_event arm_done;
	bool busy;
	struct lab_cmd *serving; /* NULL while busy: an extent */
	uint64_t link_free_ns;
};

/* ---- stream ---- */

/* First sector that the stream has not read by now. */
uint64_t hdd_stream_at(const struct hdd *h, uint64_t now);
/* Brings the read cache up to date with what has passed under the head; returns the same. */
uint64_t hdd_stream_update(struct hdd *h, uint64_t now);
void hdd_stream_stop(struct hdd *h, uint64_t now);
/* Reading on goes further than before, beyond `end`. */
void hdd_stream_extend(struct hdd *h, uint64_t end, uint64_t now);
/* Has the stream read the start of this command, and goes on to its end? at: hdd_stream_at(). */
bool hdd_on_stream(const struct hdd *h, const struct lab_cmd *cmd, uint64_t at);

/* ---- arm ---- */

/* If the arm is free and something is worth moving it for, starts that; arm_done fires at its end.
 */
void hdd_arm_next(struct hdd *h, uint64_t now);

#endif
