/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffered files over the block layer: read-ahead, dirty pages with limits per group, a flusher,
 * fsync with a journal thread in the root group. docs/page-cache.md says what is modelled, where
 * the defaults come from and what is left out.
 *
 * A file is a contiguous run of sectors. Pages are 4 KiB. Groups and contexts outlive the cache.
 */
#ifndef LAB_PAGECACHE_H
#define LAB_PAGECACHE_H

#include "lab/host.h"

struct lab_cache;
struct lab_file;
struct lab_reader; /* read-ahead state of one open file description */

enum lab_charge {
	LAB_CHARGE_ROOT,    /* write-back belongs to the flusher: the root group */
	LAB_CHARGE_DIRTIER, /* write-back belongs to the group that dirtied the page */
};

#define LAB_READ_AHEAD_WINDOWS_MAX 32

struct lab_cache_config {
	uint64_t cache_bytes;	     /* clean and dirty pages together; oldest clean go first */
	uint32_t read_ahead_bytes;   /* one window; 0: no read-ahead */
	uint32_t read_ahead_windows; /* windows in flight or ahead of the reader */
	uint64_t dirty_bytes;	     /* writers are throttled above this, shared by group weight */
	uint64_t dirty_background_bytes;
	uint64_t dirty_expire_ns;
	uint64_t flush_interval_ns;
	enum lab_charge charge;
	bool barriers;		 /* journal commits end with a flush or FUA */
	uint64_t copy_ns;	 /* CPU time of a page served from or copied into the cache */
	uint64_t journal_sector; /* where the journal lies, and how long it is */
	uint32_t journal_sectors;
};

/* Defaults for a device. The journal lies at its end: files belong below journal_sector. */
void lab_cache_config_init(struct lab_cache_config *cfg, const struct lab_device_info *info);
/* NULL if the configuration can be used, else what is wrong with it and what would be accepted. */
const char *lab_cache_config_check(const struct lab_cache_config *cfg);

/* cfg has passed lab_cache_config_check(). */
struct lab_cache *lab_cache_new(struct lab_host *h, const struct lab_cache_config *cfg);
/*
 * The run is over. No write-back, read-ahead or commit is begun any more, blocked writers and
 * fsyncs are let go, and timers are off, so that the engine runs dry with every operation done.
 */
void lab_cache_stop(struct lab_cache *c, uint64_t now_ns);
/* Nothing is in flight: neither operations nor bios. */
void lab_cache_free(struct lab_cache *c);

/*
 * The run of sectors from `sector` on belongs to the file; all of it exists. A file that is to grow
 * is told after opening how much of it exists: reads end there, and a write beyond extends it.
 */
struct lab_file *lab_file_open(struct lab_cache *c, uint64_t sector, uint64_t bytes);
void lab_file_set_size(struct lab_file *f, uint64_t bytes);
struct lab_reader *lab_reader_new(struct lab_file *f); /* freed with its file */
/* Clean pages of the file leave (fio's invalidate=1). */
void lab_file_invalidate(struct lab_file *f);

/* A buffered operation of a task; embedded by the owner, which sets the first part. */
struct lab_fileop {
	struct lab_file *file;
	struct lab_reader *reader; /* reads; NULL: no read-ahead, as after a "random" hint */
	struct weir_group *group;
	struct weir_ctx *ctx;
	uint8_t ioprio_class, ioprio_level;
	uint64_t offset, bytes; /* within the file's run; fsync: not looked at */
	bool data_only;		/* fsync: fdatasync, no journal commit unless the size changed */
	void (*done)(struct lab_fileop *op, uint64_t now_ns);
	void *owner;

	/* The cache's. */
	struct lab_fileop *next;
	struct lab_event ev;
	uint64_t priv[8];
};

/* done is called from an event, never from within. */
void lab_file_read(struct lab_fileop *op, uint64_t now_ns);
void lab_file_write(struct lab_fileop *op, uint64_t now_ns);
void lab_file_fsync(struct lab_fileop *op, uint64_t now_ns);
/*
 * Direct I/O on the range begins: dirty pages are written now (without waiting for them), and
 * nothing of the range is cached afterwards, but for pages that are in a bio just now and were
 * dirtied again, or are being read. O(1) for a file without pages.
 */
void lab_file_discard_range(struct lab_file *f, uint64_t offset, uint64_t bytes);

/* Work that the cache, the flusher and the journal did, for reports. */
struct lab_cache_stats {
	uint64_t written_bytes, flusher_wakeups, commits, throttled_ns;
	uint64_t read_bytes;	   /* from the device, whole pages */
	uint64_t read_ahead_bytes; /* of them, asked for by read-ahead windows */
	uint64_t hit_pages;	   /* pages of reads that were there when the reader came to them */
	uint64_t evicted_pages;	   /* clean pages that made room */
	uint64_t cached_bytes, dirty_bytes, writeback_bytes; /* now */
};
void lab_cache_read_stats(const struct lab_cache *c, struct lab_cache_stats *out);
/* Dirty pages and pages under write-back of one group, now. */
uint64_t lab_cache_group_dirty_bytes(const struct lab_cache *c, const struct weir_group *g);

#endif
