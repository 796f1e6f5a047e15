/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside the page cache: what its files share.
 *
 *	pagecache.c        set-up, files, invalidation, statistics
 *	cache_tree.c       pages of a file: a radix tree of 64-page leaves
 *	cache_pages.c      states of pages, their counts, eviction
 *	cache_read.c       buffered reads
 *	readahead.c        windows ahead of a sequential reader
 *	cache_write.c      buffered writes, and holding writers back
 *	cache_share.c      each group's part of the dirty limits
 *	cache_writeback.c  from dirty pages to bios
 *	flusher.c          when, and what, to write back
 *	cache_fsync.c      fsync and fdatasync
 *	journal.c          commits
 */
#ifndef LAB_CACHE_IMPL_H
#define LAB_CACHE_IMPL_H

#include "core/assert.h"
#include "core/fixed.h"
#include "core/list.h"
#include "lab/cache_pool.h"
#include "lab/pagecache.h"

enum {
	CACHE_PAGE_SHIFT = 12,
	CACHE_PAGE_BYTES = 1 << CACHE_PAGE_SHIFT,
	CACHE_PAGE_SECTORS = CACHE_PAGE_BYTES >> WEIR_SECTOR_SHIFT,
	CACHE_LEAF_PAGES = 64, /* one bit of a word each */
	CACHE_RUN_PAGES = 256, /* longest bio: 1 MiB, which devices take in few commands */
	CACHE_QUANTUM_PAGES =
		1024, /* written of one file before the flusher turns to the next: 4 MiB */
	CACHE_SHARE_MIN_PAGES =
		16, /* no group's part of a dirty limit is smaller: it must progress */
	CACHE_GROUPS_MAX = UINT16_MAX,
};

#define CACHE_NO_PAGE UINT64_MAX

/* Operations waiting in line, linked by their `next`. */
struct cache_opq {
	struct lab_fileop *head, *tail;
};

/* What lies where in lab_fileop.priv. */
enum cache_op_word {
	CACHE_OP_PAGE,	     /* reads and writes: next page to copy */
	CACHE_OP_END,	     /* and the page after the last */
	CACHE_OP_BUSY_NS,    /* when the copying done so far is over */
	CACHE_OP_SEQUENTIAL, /* reads: it continues the reader's previous read */
	CACHE_OP_BLOCKED_NS, /* writes: since when it is held back */
	CACHE_OP_STAGE,	     /* fsync: enum in cache_fsync.c */
	CACHE_OP_SEQ,	     /* fsync: waits for the file's bios up to this one */
};

/*
 * 64 pages of a file. A page is dirty only if it is present. It may be under write-back and dirty
 * again, or under write-back and not present (dropped meanwhile). A leaf without any bit is freed.
 */
struct cache_leaf {
	struct lab_file *file;
	uint64_t index; /* page / 64 */
	uint64_t present, reading, dirty, writeback;
	struct cache_opq readers;	  /* wait for a page that is being read */
	struct weir_list lru;		  /* linked while it has clean pages */
	uint16_t owner[CACHE_LEAF_PAGES]; /* slot of the group that dirtied a dirty page */
};

struct cache_node;

struct lab_file {
	struct lab_cache *cache;
	struct lab_file *next;
	uint64_t sector, end_sector; /* its run */
	uint64_t nr_pages;	     /* that the run holds */
	uint64_t size_bytes;	     /* that exist */

	struct cache_node *root; /* NULL: no page is cached */
	struct cache_leaf *last; /* looked up last, or NULL */
	unsigned int height;	 /* levels of nodes above the leaves */

	struct lab_reader *readers;
	struct weir_list dirt;		   /* struct cache_dirt by `in_file` */
	uint64_t flush_page;		   /* where the flusher goes on */
	struct weir_list writes;	   /* struct cache_io in flight, in order of submission */
	uint64_t write_seq;		   /* of the newest */
	struct cache_opq syncers;	   /* fsyncs that wait for `writes` */
	bool meta_dirty, size_dirty;	   /* changed since the last commit with this file began */
	uint64_t meta_commit, size_commit; /* numbers of the commits with the change; 0: none */
};

struct lab_reader {
	struct lab_file *file;
	struct lab_reader *next;
	uint64_t read_end; /* page after the last one of the latest read */
	/* The stream, while there is one. */
	bool streaming;
	uint64_t end_page;     /* first page that no window covers yet */
	uint64_t trigger_page; /* reading from here on asks for more windows */
	uint32_t window_pages; /* size of the latest window */
	uint32_t nr_windows;   /* entered last, or not yet: where they start, oldest first */
	uint64_t window[LAB_READ_AHEAD_WINDOWS_MAX];
};

/* Dirty pages of one file that one lane writes back. */
struct cache_dirt {
	struct lab_file *file;
	struct cache_group *lane;
	struct weir_list in_file, in_lane;
	uint64_t nr_dirty;
	uint64_t nr_due;   /* of them too old: written whatever the limits say */
	uint64_t since_ns; /* when the oldest became dirty */
};

enum cache_lane_state {
	CACHE_LANE_IDLE,
	CACHE_LANE_KICKED,    /* ev is scheduled */
	CACHE_LANE_CONGESTED, /* the host has ev */
};

/* A stream of write-back: one for all with LAB_CHARGE_ROOT, else one per group. */
struct cache_lane {
	struct weir_ctx *ctx; /* NULL until something is dirty */
	struct lab_event ev;
	enum cache_lane_state state;
	struct weir_list dirt; /* the first is being written */
	uint32_t nr_dirt;
	uint32_t nr_due; /* dirt with due pages */
	uint32_t quantum_pages;
	bool background; /* above its background limit; goes off a little below it */
	bool stuck;	 /* all that it should write is under write-back already */
};

/* What the cache knows of a group. One for each group that dirtied a page, and for its ancestors.
 */
struct cache_group {
	struct lab_cache *cache;
	struct weir_group *group;
	struct cache_group *parent;
	uint16_t slot;
	uint64_t nr_dirty, nr_writeback; /* pages */
	uint64_t dirtied_ns;		 /* last time */
	struct cache_lane lane;

	struct cache_opq writers; /* held back */
	struct weir_list held;	  /* in lab_cache.held while there are some */

	/* cache_share.c. */
	uint32_t weight, own_weight;
	bool own_active;
	uint32_t nr_active;	 /* active children, and 1 for its own pages */
	uint64_t active_weights; /* of these */
};

/* A bio of the cache's. */
struct cache_io {
	struct lab_bio bio;
	struct lab_cache *cache;
	struct lab_file *file;
	uint64_t page;
	uint32_t nr_pages;
	struct cache_group *owner; /* write-back: who dirtied the pages */
	uint64_t seq;
	struct weir_list link; /* write-back: in file->writes */
	struct lab_fileop *op; /* a lone flush: for whom */
};

struct cache_journal {
	struct weir_ctx *ctx;
	struct lab_event ev;	  /* the thread wakes */
	struct cache_opq waiting; /* for the next commit to begin */
	struct cache_opq committing;
	struct cache_opq late; /* their change is in the commit under way, their data came after */
	bool running;
	uint64_t commit; /* number of the one under way, or of the last */
	uint32_t nr_bios;
	uint64_t head_page; /* next free one of the area */
};

struct lab_cache {
	struct lab_host *host;
	struct lab_engine *engine;
	struct weir *weir;
	struct lab_cache_config cfg;
	uint64_t max_pages, dirty_pages, background_pages;
	uint32_t window_pages;
	bool stopping;

	struct lab_file *files;
	struct cache_pool leaves, nodes, dirts, ios;
	struct weir_list lru; /* leaves with clean pages, the longest unused first */
	uint64_t nr_pages;    /* that occupy memory */
	uint64_t nr_dirty, nr_writeback;
	uint64_t nr_ops, nr_ios; /* in flight */

	struct cache_group **group; /* by slot */
	uint32_t nr_groups, room_groups;
	uint32_t *slot_of_id; /* by weir_group_id(): slot + 1, or 0 */
	uint32_t room_ids;
	struct cache_group *root_group;
	uint64_t share_fresh_ns; /* shares were counted anew */

	struct weir_list held; /* groups with held back writers, in turn */
	bool held_by_total;    /* one of them is held by the total alone */
	struct lab_event tick; /* looks for expired pages; armed while there are dirty ones */
	struct cache_journal journal;
	struct lab_cache_stats stats;
};

/* ---- cache_tree.c: all O(height) ---- */

void cache_tree_pool_init(struct cache_pool *nodes);
void cache_tree_init(struct lab_file *f);
struct cache_leaf *cache_leaf_find(struct lab_file *f, uint64_t page);
struct cache_leaf *cache_leaf_get(struct lab_file *f, uint64_t page); /* makes it */
void cache_leaf_remove(struct cache_leaf *leaf);
void cache_leaf_tag_dirty(struct cache_leaf *leaf, bool dirty);
/* The leaf of this page or the first after it that exists (dirty: that has dirty pages), or NULL.
 */
struct cache_leaf *cache_leaf_next(struct lab_file *f, uint64_t page, bool dirty);

/* ---- cache_pages.c ---- */

/* Bits of the pages [page, end) that lie in the page's leaf. */
uint64_t cache_leaf_mask(uint64_t page, uint64_t end);
static inline uint64_t cache_leaf_end(uint64_t page)
{
	return (page | (CACHE_LEAF_PAGES - 1)) + 1;
}
/* Pages from `page` on that are present, up to end; they count as used now. */
uint64_t cache_present_run(struct lab_file *f, uint64_t page, uint64_t end);
bool cache_is_reading(struct lab_file *f, uint64_t page);
/* First page in [page, end) that is neither present nor being read, or end. */
uint64_t cache_next_missing(struct lab_file *f, uint64_t page, uint64_t end);
void cache_read_begin(struct lab_file *f, uint64_t page, uint64_t end);
void cache_read_end(struct lab_file *f, uint64_t page, uint64_t end);
void cache_dirty(struct lab_file *f, uint64_t page, uint64_t end, struct cache_group *g,
		 uint64_t now_ns);
/* The pages are dirty, not under write-back, and of one owner. */
void cache_writeback_begin(struct lab_file *f, uint64_t page, uint64_t end,
			   struct cache_group *owner);
void cache_writeback_end(struct lab_file *f, uint64_t page, uint64_t end,
			 struct cache_group *owner);
/* Something became clean: the cache may be above its size for want of clean pages. */
void cache_shrink(struct lab_cache *c);
/* Clean pages leave; with gone, those under write-back (and not dirty) are no longer present. */
void cache_drop(struct lab_file *f, uint64_t page, uint64_t end, bool gone);

/* ---- pagecache.c ---- */

struct cache_group *cache_group_get(struct lab_cache *c, struct weir_group *g, uint64_t now_ns);
struct cache_io *cache_io_new(struct lab_cache *c, enum weir_op op,
			      void (*done)(struct lab_bio *bio, uint64_t now_ns));
void cache_io_free(struct cache_io *io);
/* Takes the file, page and length of the io. */
void cache_io_submit_pages(struct cache_io *io, uint64_t now_ns);
static inline bool cache_op_fits(const struct lab_fileop *op)
{
	return op->offset + op->bytes <= op->file->nr_pages << CACHE_PAGE_SHIFT;
}
void cache_op_begin(struct lab_fileop *op, uint64_t now_ns);
/* done is called when `at_ns` has come. */
void cache_op_end(struct lab_fileop *op, uint64_t at_ns);
void cache_opq_push(struct cache_opq *q, struct lab_fileop *op);
void cache_opq_push_front(struct cache_opq *q, struct lab_fileop *op);
struct lab_fileop *cache_opq_pop(struct cache_opq *q);

/* ---- cache_read.c ---- */

/* Reads what is missing in [page, end). Returns pages asked for. */
uint64_t cache_read_missing(struct lab_file *f, uint64_t page, uint64_t end,
			    const struct lab_fileop *op, uint64_t now_ns);

/* ---- readahead.c ---- */

/* op->reader comes to a page: begins, continues or ignores a stream. */
void cache_readahead(const struct lab_fileop *op, uint64_t page, uint64_t now_ns);
/* The page (after `page`) at which it must be asked again. */
uint64_t cache_readahead_next(const struct lab_reader *r, uint64_t page);

/* ---- cache_write.c ---- */

/* A page of g (or of anybody) is no longer dirty or under write-back: who can go on? */
void cache_writers_wake(struct lab_cache *c, struct cache_group *g, uint64_t now_ns);

/* ---- cache_share.c ---- */

void cache_share_activate(struct cache_group *g);
void cache_share_refresh(struct lab_cache *c, uint64_t now_ns);
/* Part of a limit that the group's own pages may take. O(depth). */
uint64_t cache_share_pages(const struct cache_group *g, uint64_t limit_pages);

/* ---- cache_writeback.c ---- */

struct cache_writer {
	struct lab_file *file;
	const struct lab_fileop *op;	/* fsync: in whose name; NULL: the lane's */
	const struct cache_group *only; /* pages of this owner, or NULL */
	uint16_t flags;			/* of the bios */
};
/*
 * Writes touching dirty pages, the first found in [page, end), up to `most` of them. Returns the
 * number, and in *next where to go on. 0: there is none that is not under write-back already.
 */
uint64_t cache_write_some(const struct cache_writer *w, uint64_t page, uint64_t end, uint64_t most,
			  uint64_t *next, uint64_t now_ns);
/* All in [page, end) that is not under write-back. True: dirty pages were left out because of that.
 */
bool cache_write_all(const struct cache_writer *w, uint64_t page, uint64_t end, uint64_t now_ns);

/* ---- flusher.c ---- */

void cache_flusher_init(struct lab_cache *c);
void cache_lane_init(struct cache_group *g);
/* The lane that writes this owner's pages. */
struct cache_group *cache_lane_of(struct cache_group *owner);
void cache_flusher_dirtied(struct lab_file *f, struct cache_group *owner, uint64_t nr,
			   uint64_t now_ns);
void cache_flusher_cleaned(struct lab_file *f, struct cache_group *owner, uint64_t nr);
/* Wakes the lane if it has a reason to write and sleeps. */
void cache_flusher_kick(struct cache_group *lane, uint64_t now_ns);
void cache_flusher_kick_all(struct lab_cache *c, uint64_t now_ns);
/* Write-back of pages of the file completed: a lane may have waited for just that. */
void cache_flusher_unstick(struct lab_file *f, uint64_t now_ns);
void cache_flusher_stop(struct lab_cache *c);

/* ---- cache_fsync.c ---- */

/* Write-back of the file completed: who waits for no more of it? */
void cache_syncers_wake(struct lab_file *f, uint64_t now_ns);
/* Sends the flush that makes op's data durable, or ends op where there are no barriers. */
void cache_fsync_finish(struct lab_fileop *op, uint64_t now_ns);

/* ---- journal.c ---- */

void cache_journal_init(struct lab_cache *c);
/* op's data is on the device: it waits for a commit that begins from now on. */
void cache_journal_join(struct lab_fileop *op, uint64_t now_ns);
/* Is a commit under way with the file's latest change? Then op waits for its end, and is finished.
 */
bool cache_journal_join_late(struct lab_fileop *op);

#endif
