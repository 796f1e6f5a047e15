/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lab's block layer: between the jobs (or the page cache) and a modelled device stands one weir
 * instance. It splits what is larger than a command, merges, asks the core for admission,
 * dispatches up to the device's queue depth and spends host_ns of CPU under the queue lock per
 * scheduler call.
 */
#ifndef LAB_HOST_H
#define LAB_HOST_H

#include <weir/weir.h>

#include "lab/device.h"
#include "lab/engine.h"

/* One read, write, flush or discard as a file system or a direct job issues it. */
struct lab_bio {
	enum weir_op op;
	uint16_t flags; /* WEIR_RQ_* */
	uint64_t sector;
	uint32_t nr_sectors;
	struct weir_group *group;
	struct weir_ctx *ctx;
	uint8_t ioprio_class, ioprio_level;
	void (*done)(struct lab_bio *bio, uint64_t now_ns);
	void *owner;

	/* The block layer's. */
	struct lab_bio *next;
	uint64_t submit_ns;
	uint32_t parts; /* split pieces not completed yet */
};

#define LAB_PLUG_MAX 128

struct lab_host_config {
	struct weir_config core;
	uint64_t host_ns; /* CPU under the queue lock per scheduler call (insert, dispatch,
			     complete) */
	uint32_t plug; /* requests that a plug gathers before it flushes by itself: 1..LAB_PLUG_MAX
			*/
	/* What the core or its policy has to say to the operator; may be NULL. */
	void (*note)(void *priv, const char *text);
	void *note_priv;
};

/* Defaults that fit the device: its profile, its depth, requests no larger than it takes. */
void lab_host_config_init(struct lab_host_config *cfg, const struct lab_device_info *info);

struct lab_host;

/* cfg->core.max_sectors is lowered to what the device takes. */
struct lab_host *lab_host_new(struct lab_engine *e, struct lab_device *d,
			      const struct lab_host_config *cfg, const struct weir_policy *policy,
			      const uint64_t *tunables, char *err, size_t err_bytes);
/* Everything has completed. */
void lab_host_free(struct lab_host *h);
struct weir *lab_host_weir(struct lab_host *h);
/* Largest request in force. */
uint32_t lab_host_max_sectors(const struct lab_host *h);
struct lab_engine *lab_host_engine(struct lab_host *h);
struct lab_device *lab_host_device(struct lab_host *h);

/*
 * Submits; bio->done is called from an event, never from within. Without admission the bio waits in
 * order behind its group's others.
 */
void lab_host_submit(struct lab_host *h, struct lab_bio *bio, uint64_t now_ns);
/* Between plug and unplug bios gather and merge with each other before the core sees them. Nests.
 */
void lab_host_plug(struct lab_host *h);
void lab_host_unplug(struct lab_host *h, uint64_t now_ns);
/* Is the group's request pool congested (a flusher then moves on)? */
bool lab_host_congested(struct lab_host *h, struct weir_group *g, enum weir_dir dir);
/* Calls fn once when g is no longer congested (at once, from an event, if it is not). */
void lab_host_wait_uncongested(struct lab_host *h, struct weir_group *g, enum weir_dir dir,
			       struct lab_event *ev);

/* From now on everything goes to the device as fast as that takes it, past limits and shares. */
void lab_host_drain(struct lab_host *h, uint64_t now_ns);
/* Bios submitted and not done. */
uint64_t lab_host_outstanding(const struct lab_host *h);

/* Counters since the last reset. */
struct lab_host_stats {
	uint64_t commands;    /* completed by the device */
	uint64_t splits;      /* pieces beyond the first of each bio */
	uint64_t plug_merges; /* pieces that joined another one in a plug */
	uint64_t bio_merges;  /* that joined a waiting request */
	uint64_t rq_merges;   /* waiting requests that joined another one */
	uint64_t admit_waits; /* pieces that had to wait for admission */
	uint64_t flushes;     /* flush commands completed */
	uint64_t flush_joins; /* flushes that rode along with another one */
};
void lab_host_read_stats(const struct lab_host *h, struct lab_host_stats *out);
void lab_host_reset_stats(struct lab_host *h);

struct lab_recording;
/* The recording of this host's instance: its ring is emptied while the host works. NULL: no more.
 */
void lab_host_set_recording(struct lab_host *h, struct lab_recording *rec);

#endif
