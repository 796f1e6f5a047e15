// SPDX-License-Identifier: GPL-2.0-only
/*
 * The block layer's main road: a bio becomes one request or several, the core says which goes next,
 * the device does it, and the completion goes the way back.
 *
 * On a completion the freed place is filled before the owner hears of it. That is the order in a
 * kernel too: the interrupt runs the queue, and the task that waits is woken to issue its next I/O
 * later. So a job of depth 1 does not get in front of those that queued before.
 *
 * Requests come from chunks that are never given back before the end, so that a warm run allocates
 * nothing per I/O.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fixed.h"
#include "lab/blkhost.h"
#include "lab/record_file.h"

enum {
	CHUNK_RQS = 64,
	PAGE_SECTORS = 8,
	DEFAULT_PLUG = 16,
	RECORD_VISITS = 1024,
};

struct host_chunk {
	struct host_chunk *next;
	struct host_rq rq[CHUNK_RQS];
};

void *host_alloc(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p) {
		fputs("weir: out of memory in the lab's block layer\n", stderr);
		abort();
	}
	return p;
}

/* ---- requests ---- */

static void cmd_done(struct lab_cmd *cmd, uint64_t now_ns)
{
	struct host_rq *r = weir_container_of(cmd, struct host_rq, cmd);

	if (r->host->host_ns)
		host_cpu_call(r->host, &r->work, HOST_COMPLETE, now_ns);
	else
		host_complete(r->host, r, now_ns);
}

static void grow(struct lab_host *h)
{
	struct host_chunk *chunk = host_alloc(sizeof(*chunk));
	unsigned int i;

	chunk->next = h->chunks;
	h->chunks = chunk;
	for (i = CHUNK_RQS; i--;) {
		struct host_rq *r = &chunk->rq[i];

		r->host = h;
		r->cmd.done = cmd_done;
		r->next = h->free;
		h->free = r;
	}
}

struct host_rq *host_rq_get(struct lab_host *h)
{
	struct host_rq *r;

	if (weir_unlikely(!h->free))
		grow(h);
	r = h->free;
	h->free = r->next;
	r->chain = NULL;
	r->chain_tail = r;
	r->admitted = false;
	return r;
}

void host_rq_put(struct lab_host *h, struct host_rq *r)
{
	r->next = h->free;
	h->free = r;
}

/* r and all that hang behind it now complete with `into`. */
void host_chain(struct host_rq *into, struct host_rq *r)
{
	into->chain_tail->chain = r;
	into->chain_tail = r->chain_tail;
}

struct host_group *host_group(struct lab_host *h, struct weir_group *g)
{
	uint32_t id = weir_group_id(g), room = h->nr_groups;
	unsigned int dir;

	if (id >= room) {
		room = id + 16;
		h->groups = realloc(h->groups, room * sizeof(*h->groups));
		if (!h->groups)
			abort();
		memset(h->groups + h->nr_groups, 0, (room - h->nr_groups) * sizeof(*h->groups));
		h->nr_groups = room;
	}
	if (!h->groups[id]) {
		h->groups[id] = host_alloc(sizeof(**h->groups));
		for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
			h->groups[id]->wait[dir].group = g;
			h->groups[id]->wait[dir].dir = (enum weir_dir)dir;
		}
	}
	return h->groups[id];
}

/* ---- down ---- */

static bool try_merge(struct lab_host *h, struct host_rq *r, uint64_t now_ns)
{
	struct weir_rq *into, *other;
	struct host_rq *host, *first, *second;
	enum weir_merge kind = weir_merge_find(h->weir, &r->rq, &into, now_ns);

	if (kind == WEIR_MERGE_NONE)
		return false;
	host = weir_container_of(into, struct host_rq, rq);
	host_chain(host, r);
	h->stats.bio_merges++;
	other = weir_merge_bio(h->weir, into, &r->rq, kind, now_ns);
	if (!other)
		return true;
	/* It filled a gap: three become one. */
	first = host;
	second = weir_container_of(other, struct host_rq, rq);
	if (second->rq.sector < first->rq.sector) {
		second = host;
		first = weir_container_of(other, struct host_rq, rq);
	}
	weir_merge_rq(h->weir, &first->rq, &second->rq, now_ns);
	host_chain(first, second);
	h->stats.rq_merges++;
	host_release(h, second, now_ns);
	return true;
}

void host_insert(struct lab_host *h, struct host_rq *r, uint64_t now_ns)
{
	if (h->merge && try_merge(h, r, now_ns)) {
		if (r->admitted) /* it had waited for a place that it does not need any more */
			host_release(h, r, now_ns);
		return;
	}
	if (h->pooled && !r->admitted && !host_admit(h, r, now_ns))
		return;
	weir_insert(h->weir, &r->rq, WEIR_TAIL, now_ns);
}

void host_enter(struct lab_host *h, struct host_rq *r, uint64_t now_ns)
{
	if (h->host_ns)
		host_cpu_call(h, &r->work, HOST_INSERT, now_ns);
	else
		host_insert(h, r, now_ns);
}

static void submit_piece(struct lab_host *h, struct lab_bio *bio, uint64_t sector,
			 uint32_t nr_sectors, uint64_t now_ns)
{
	struct host_rq *r = host_rq_get(h);
	uint16_t flags = bio->flags & (uint16_t)~WEIR_RQ_PREFLUSH;

	if (weir_unlikely(flags & WEIR_RQ_FUA)) {
		if (!h->write_cache)
			flags &= (uint16_t)~WEIR_RQ_FUA;
		else
			flags |= WEIR_RQ_NOMERGE;
	}
	r->bio = bio;
	weir_rq_init(&r->rq, bio->op, sector, nr_sectors, bio->group, bio->ctx);
	r->rq.flags = flags;
	r->rq.ioprio_class = bio->ioprio_class;
	r->rq.ioprio_level = bio->ioprio_level;
	if (h->plug_depth)
		host_plug_add(h, r, now_ns);
	else
		host_enter(h, r, now_ns);
}

void host_submit_data(struct lab_host *h, struct lab_bio *bio, uint64_t now_ns)
{
	uint64_t sector = bio->sector;
	uint32_t left = bio->nr_sectors, most = h->max_sectors;

	weir_assert(left > 0);
	weir_assert(sector + left <= h->device->info.sectors);
	bio->parts = 1;
	if (weir_likely(left <= most)) {
		submit_piece(h, bio, sector, left, now_ns);
		return;
	}
	bio->parts = left / most + (left % most != 0);
	h->stats.splits += bio->parts - 1;
	while (left) {
		uint32_t now = left < most ? left : most;

		submit_piece(h, bio, sector, now, now_ns);
		sector += now;
		left -= now;
	}
}

void lab_host_submit(struct lab_host *h, struct lab_bio *bio, uint64_t now_ns)
{
	const uint16_t sequence = WEIR_RQ_FUA | WEIR_RQ_PREFLUSH;

	bio->submit_ns = now_ns;
	h->outstanding++;
	if (weir_unlikely(bio->op == WEIR_OP_FLUSH || (bio->flags & sequence)))
		host_flush_submit(h, bio, now_ns);
	else
		host_submit_data(h, bio, now_ns);
	if (!h->plug_depth)
		host_run(h, now_ns);
}

/* ---- dispatch ---- */

static void start(struct lab_host *h, struct host_rq *r, uint64_t now_ns)
{
	r->cmd.op = (enum weir_op)r->rq.op;
	r->cmd.flags = r->rq.flags;
	r->cmd.sector = r->rq.sector;
	r->cmd.nr_sectors = r->rq.nr_sectors;
	lab_device_submit(h->device, &r->cmd, now_ns);
}

bool host_dispatch_one(struct lab_host *h, uint64_t now_ns)
{
	struct weir_next next;
	struct weir_rq *rq;

	if (h->device->in_flight >= h->depth || !weir_may_dispatch(h->weir, now_ns))
		return false;
	rq = weir_dispatch(h->weir, now_ns, &next);
	if (rq) {
		start(h, weir_container_of(rq, struct host_rq, rq), now_ns);
		return true;
	}
	/* An earlier alarm is left alone: kick() moves it on, which is cheaper than moving it each
	 * time. */
	h->ask_at_ns = next.at_ns;
	if (next.at_ns != WEIR_NEVER &&
	    (!lab_event_pending(&h->kick) || h->kick.at_ns > next.at_ns))
		lab_event_at(h->engine, &h->kick, next.at_ns);
	return false;
}

/* A visit makes a few records, of some 50 bytes each; the ring has room for a million. */
void host_record_pump(struct lab_host *h)
{
	if (++h->visits < RECORD_VISITS)
		return;
	h->visits = 0;
	lab_record_pump(h->recording);
}

void host_run(struct lab_host *h, uint64_t now_ns)
{
	if (weir_unlikely(h->host_ns)) {
		host_cpu_dispatch(h, now_ns);
		return;
	}
	while (host_dispatch_one(h, now_ns))
		;
	if (weir_unlikely(h->recording))
		host_record_pump(h);
}

static void kick(struct lab_event *ev, uint64_t now_ns)
{
	struct lab_host *h = weir_container_of(ev, struct lab_host, kick);

	host_run(h, now_ns);
	/* It was too early: the core was not even asked, and has named a later time before. */
	if (!lab_event_pending(ev) && h->ask_at_ns != WEIR_NEVER && h->ask_at_ns > now_ns)
		lab_event_at(h->engine, ev, h->ask_at_ns);
}

/* ---- up ---- */

void host_bio_done(struct lab_host *h, struct lab_bio *bio, uint64_t now_ns)
{
	h->outstanding--;
	bio->done(bio, now_ns);
}

void host_complete(struct lab_host *h, struct host_rq *r, uint64_t now_ns)
{
	struct host_rq *next;

	h->stats.commands++;
	weir_complete(h->weir, &r->rq, now_ns);
	if (h->pooled)
		host_release(h, r, now_ns);
	host_run(h, now_ns);
	if (weir_unlikely(!r->bio)) {
		host_flush_done(h, r, now_ns);
		return;
	}
	for (; r; r = next) {
		struct lab_bio *bio = r->bio;

		next = r->chain;
		host_rq_put(h, r);
		if (!--bio->parts)
			host_bio_done(h, bio, now_ns);
	}
}

/* ---- set-up ---- */

static void *core_alloc(void *priv, size_t bytes)
{
	(void)priv;
	return calloc(1, bytes);
}

static void core_free(void *priv, void *p, size_t bytes)
{
	(void)priv, (void)bytes;
	free(p);
}

static void core_note(void *priv, const char *text)
{
	struct lab_host *h = priv;

	if (h->cfg.note)
		h->cfg.note(h->cfg.note_priv, text);
}

static uint32_t device_max_sectors(const struct lab_device_info *info)
{
	uint32_t most = info->max_sectors;

	if (info->max_segments && info->max_segments < most / PAGE_SECTORS)
		most = info->max_segments * PAGE_SECTORS;
	return most;
}

void lab_host_config_init(struct lab_host_config *cfg, const struct lab_device_info *info)
{
	memset(cfg, 0, sizeof(*cfg));
	weir_config_init(&cfg->core);
	cfg->core.profile = info->profile;
	cfg->core.device_depth = info->queue_depth;
	if (cfg->core.max_sectors > device_max_sectors(info))
		cfg->core.max_sectors = device_max_sectors(info);
	cfg->plug = DEFAULT_PLUG;
}

static const char *config_wrong(const struct lab_host_config *cfg)
{
	if (!cfg->plug || cfg->plug > LAB_PLUG_MAX)
		return "a plug holds 1 to 128 requests";
	return weir_profile_check(&cfg->core.profile);
}

struct lab_host *lab_host_new(struct lab_engine *e, struct lab_device *d,
			      const struct lab_host_config *cfg, const struct weir_policy *policy,
			      const uint64_t *tunables, char *err, size_t err_bytes)
{
	struct lab_host *h = host_alloc(sizeof(*h));
	struct weir_host core = {
		.alloc = core_alloc,
		.free = core_free,
		.wake = host_wake,
		.note = core_note,
		.priv = h,
	};
	const char *wrong = config_wrong(cfg);
	int code = 0;

	h->engine = e;
	h->device = d;
	h->cfg = *cfg;
	if (h->cfg.core.max_sectors > device_max_sectors(&d->info))
		h->cfg.core.max_sectors = device_max_sectors(&d->info);
	h->max_sectors = h->cfg.core.max_sectors;
	h->depth = d->info.queue_depth;
	h->merge = h->cfg.core.merge;
	h->write_cache = d->info.profile.flush_ns != 0;
	h->host_ns = h->cfg.host_ns;
	h->waiters_tail = &h->waiters;
	lab_event_init(&h->kick, kick);
	h->ask_at_ns = WEIR_NEVER;
	host_cpu_init(h);
	host_flush_init(h);
	if (!wrong)
		h->weir = weir_create(&h->cfg.core, &core, policy, tunables, lab_now(e), &code);
	if (h->weir) {
		h->pooled = !weir_admits_all(h->weir);
		return h;
	}
	if (!wrong)
		wrong = code == -WEIR_ERANGE   ? "a tunable of the policy is out of range"
			: code == -WEIR_ENOMEM ? "out of memory"
					       : "settings of the block layer are out of range";
	snprintf(err, err_bytes, "%s", wrong);
	free(h);
	return NULL;
}

void lab_host_free(struct lab_host *h)
{
	struct host_chunk *chunk;
	uint32_t i;

	if (!h)
		return;
	weir_assert(!h->outstanding && !h->nr_plugged && !h->waiters);
	lab_event_cancel(h->engine, &h->kick);
	weir_destroy(h->weir);
	while ((chunk = h->chunks)) {
		h->chunks = chunk->next;
		free(chunk);
	}
	for (i = 0; i < h->nr_groups; i++)
		free(h->groups[i]);
	free(h->groups);
	free(h);
}

struct weir *lab_host_weir(struct lab_host *h)
{
	return h->weir;
}

uint32_t lab_host_max_sectors(const struct lab_host *h)
{
	return h->max_sectors;
}

struct lab_engine *lab_host_engine(struct lab_host *h)
{
	return h->engine;
}

struct lab_device *lab_host_device(struct lab_host *h)
{
	return h->device;
}

void lab_host_drain(struct lab_host *h, uint64_t now_ns)
{
	weir_set_drain(h->weir, true, now_ns);
	host_run(h, now_ns);
}

uint64_t lab_host_outstanding(const struct lab_host *h)
{
	return h->outstanding;
}

void lab_host_set_recording(struct lab_host *h, struct lab_recording *rec)
{
	h->recording = rec;
}

void lab_host_read_stats(const struct lab_host *h, struct lab_host_stats *out)
{
	*out = h->stats;
}

void lab_host_reset_stats(struct lab_host *h)
{
	memset(&h->stats, 0, sizeof(h->stats));
}
