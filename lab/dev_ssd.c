// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flash drive: what happens to a command.
 *
 * Read: each unit (16 KiB) occupies its die; when the page is in the die's register, an event
 * claims the channel and the link in that order of arrival; when the last unit is through, the
 * command claims the controller, and is done after a fixed time. Two events for a small read. The
 * controller comes last because that is where commands queue on a drive bound by it: first ready,
 * first served, and those that a slow die holds back hold back nobody.
 *
 * Write: link, controller, buffer; done when it is in the buffer. Programs empty the buffer. When
 * it is full writes wait for room in order of arrival, and so go at the pace of the dies, garbage
 * collection included.
 *
 * Flush: what entered the buffer before it is programmed, if need be with part of a program empty.
 * With power loss protection (plp=1) the buffer is as good as flash and there is nothing to do.
 *
 * Reads that the buffer could serve go to the die all the same: in random loads they are too few to
 * see.
 */
#include "lab/dev_ssd.h"

#include <stdlib.h>

#define SLAB_PARTS 256

struct ssd_slab {
	struct ssd_slab *next;
	struct ssd_part part[SLAB_PARTS];
};

/* Use of cmd->priv. */
enum {
	PRIV_SSD,
	PRIV_LEFT, /* read: units to come; else: STAGE_* */
	PRIV_AT,   /* read: when its last unit so far is through; flush: epoch that it waits for */
	PRIV_DIE,
};

enum {
	STAGE_WRITE,
	STAGE_FLUSH, /* the command is a flush */
	STAGE_PREFLUSH,
	STAGE_FUA, /* in the buffer, must be in flash */
};

static struct ssd *ssd_of_cmd(const struct lab_cmd *cmd)
{
	return (struct ssd *)(uintptr_t)cmd->priv[PRIV_SSD];
}

static struct lab_cmd *cmd_of(struct lab_event *ev)
{
	return dev_container(ev, struct lab_cmd, ev);
}

static void begin(struct ssd *s, struct lab_cmd *cmd, uint64_t now);

static void release_held(struct ssd *s, uint64_t now)
{
	struct lab_cmd *cmd;

	while ((cmd = dev_gate_next(&s->gate)))
		begin(s, cmd, now);
}

static void finish(struct ssd *s, struct lab_cmd *cmd, uint64_t now)
{
	if (!s->preset->ata) {
		dev_complete(&s->dev, cmd, now);
		return;
	}
	dev_gate_leave(&s->gate);
	dev_complete(&s->dev, cmd, now);
	release_held(s, now);
}

static void finish_event(struct lab_event *ev, uint64_t now)
{
	struct lab_cmd *cmd = cmd_of(ev);

	finish(ssd_of_cmd(cmd), cmd, now);
}

static uint64_t link_ns(const struct ssd *s, uint32_t sectors)
{
	return (uint64_t)sectors * s->preset->link_sector_ps / 1000;
}

static uint64_t controller(struct ssd *s, uint64_t from, uint32_t sectors)
{
	return dev_claim(&s->controller_free_ns, from,
			 s->controller_ns + dev_pages(sectors) * s->preset->controller_page_ns);
}

/* ---- reads ---- */

/* A unit is in its die's register: over the channel, and unless whole commands go, the link. */
static uint64_t unit_through(struct ssd *s, uint32_t die, uint32_t sectors, uint64_t now)
{
	uint64_t at = dev_claim(&s->channel_free_ns[s->die[die].channel], now,
				dev_pages(sectors) * s->preset->channel_page_ns);

	if (s->preset->ata)
		return at;
	return dev_claim(&s->link_free_ns[WEIR_READ], at, link_ns(s, sectors));
}

static void read_through(struct ssd *s, struct lab_cmd *cmd, uint64_t at)
{
	if (s->preset->ata)
		at = dev_claim(&s->link_free_ns[WEIR_READ], at,
			       s->preset->link_command_ns + link_ns(s, cmd->nr_sectors));
	at = controller(s, at, cmd->nr_sectors);
	dev_schedule(&s->dev, cmd, finish_event, at + s->preset->read_fixed_ns);
}

static void only_unit_event(struct lab_event *ev, uint64_t now)
{
	struct lab_cmd *cmd = cmd_of(ev);
	struct ssd *s = ssd_of_cmd(cmd);

	read_through(s, cmd, unit_through(s, (uint32_t)cmd->priv[PRIV_DIE], cmd->nr_sectors, now));
}

static void part_event(struct lab_event *ev, uint64_t now)
{
	struct ssd_part *part = dev_container(ev, struct ssd_part, ev);
	struct lab_cmd *cmd = part->cmd;
	struct ssd *s = part->ssd;
	uint64_t at = unit_through(s, part->die, part->sectors, now);

	part->next = s->free_parts;
	s->free_parts = part;
	cmd->priv[PRIV_AT] = weir_max64(cmd->priv[PRIV_AT], at);
	if (!--cmd->priv[PRIV_LEFT])
		read_through(s, cmd, cmd->priv[PRIV_AT]);
}

static struct ssd_part *new_part(struct ssd *s)
{
	struct ssd_part *part;
	struct ssd_slab *slab;
	unsigned int i;

	if (!s->free_parts) { /* the first time so many are in flight */
		slab = dev_zalloc(1, sizeof(*slab));
		slab->next = s->slabs;
		s->slabs = slab;
		for (i = SLAB_PARTS; i--;) {
			slab->part[i].ssd = s;
			slab->part[i].next = s->free_parts;
			s->free_parts = &slab->part[i];
		}
	}
	part = s->free_parts;
	s->free_parts = part->next;
	lab_event_init(&part->ev, part_event);
	return part;
}

static void begin_read(struct ssd *s, struct lab_cmd *cmd, uint64_t now)
{
	uint64_t unit = cmd->sector / SSD_UNIT_SECTORS, end = cmd->sector + cmd->nr_sectors;
	uint64_t last = (end - 1) / SSD_UNIT_SECTORS, sector = cmd->sector;
	uint32_t die;

	if (unit == last) {
		die = ssd_die_of(s, unit);
		cmd->priv[PRIV_DIE] = die;
		dev_schedule(&s->dev, cmd, only_unit_event, ssd_die_read(s, die, unit, now));
		return;
	}
	cmd->priv[PRIV_LEFT] = last - unit + 1;
	cmd->priv[PRIV_AT] = 0;
	for (; unit <= last; unit++) {
		struct ssd_part *part = new_part(s);
		uint64_t unit_end = weir_min64((unit + 1) * SSD_UNIT_SECTORS, end);

		part->cmd = cmd;
		part->die = ssd_die_of(s, unit);
		part->sectors = (uint32_t)(unit_end - sector);
		sector = unit_end;
		lab_event_at(s->dev.engine, &part->ev, ssd_die_read(s, part->die, unit, now));
	}
}

/* ---- flushes ---- */

static void flushed_event(struct lab_event *ev, uint64_t now)
{
	struct lab_cmd *cmd = cmd_of(ev);
	struct ssd *s = ssd_of_cmd(cmd);

	if (cmd->priv[PRIV_LEFT] != STAGE_PREFLUSH) {
		finish(s, cmd, now);
		return;
	}
	cmd->priv[PRIV_LEFT] = STAGE_WRITE;
	if (s->preset->ata)
		dev_gate_not_alone(&s->gate);
	begin(s, cmd, now);
	if (s->preset->ata)
		release_held(s, now);
}

/* Flushes whose epoch is in flash. */
static void wake_flushing(struct ssd *s, uint64_t now)
{
	while (s->first_epoch < s->open_epoch &&
	       !s->epoch[s->first_epoch & s->epoch_mask].unwritten)
		s->first_epoch++;
	while (s->flushing.head && s->flushing.head->priv[PRIV_AT] < s->first_epoch) {
		struct lab_cmd *cmd = dev_fifo_pop(&s->flushing);
		bool fua = cmd->priv[PRIV_LEFT] == STAGE_FUA;

		dev_schedule(&s->dev, cmd, flushed_event, now + (fua ? 0 : s->preset->flush_ns));
	}
}

/* Waits until all that is in the buffer now is in flash. */
static void wait_for_epoch(struct ssd *s, struct lab_cmd *cmd, uint64_t now)
{
	if (s->epoch[s->open_epoch & s->epoch_mask].unwritten) {
		s->open_epoch++;
		s->epoch[s->open_epoch & s->epoch_mask] = (struct ssd_epoch){0, 0};
	}
	cmd->priv[PRIV_AT] = s->open_epoch - 1;
	dev_fifo_push(&s->flushing, cmd);
	wake_flushing(s, now);
	ssd_program(s, now);
}

static void flush_event(struct lab_event *ev, uint64_t now)
{
	struct lab_cmd *cmd = cmd_of(ev);
	struct ssd *s = ssd_of_cmd(cmd);

	if (s->plp)
		flushed_event(ev, now);
	else
		wait_for_epoch(s, cmd, now);
}

static void begin_flush(struct ssd *s, struct lab_cmd *cmd, uint64_t now)
{
	cmd->priv[PRIV_LEFT] = cmd->op == WEIR_OP_FLUSH ? STAGE_FLUSH : STAGE_PREFLUSH;
	dev_schedule(&s->dev, cmd, flush_event, controller(s, now, 0) + s->preset->write_fixed_ns);
}

/* ---- writes ---- */

static bool has_room(const struct ssd *s, uint32_t pages)
{
	/* Less than a program waits for company, and must not keep a large write out. */
	return s->buffered_pages + pages <= s->buffer_pages ||
	       s->buffered_pages < s->preset->program_pages;
}

static void enter_buffer(struct ssd *s, struct lab_cmd *cmd, uint64_t now)
{
	struct ssd_epoch *ep = &s->epoch[s->open_epoch & s->epoch_mask];
	uint32_t pages = dev_pages(cmd->nr_sectors);

	s->buffered_pages += pages;
	ep->waiting += pages;
	ep->unwritten += pages;
	ftl_write(&s->ftl, cmd->sector, cmd->nr_sectors);
	if ((cmd->flags & WEIR_RQ_FUA) && !s->plp) {
		cmd->priv[PRIV_LEFT] = STAGE_FUA;
		wait_for_epoch(s, cmd, now);
	} else {
		finish(s, cmd, now);
	}
}

static void fill_buffer(struct ssd *s, uint64_t now)
{
	while (s->no_room.head && has_room(s, dev_pages(s->no_room.head->nr_sectors)))
		enter_buffer(s, dev_fifo_pop(&s->no_room), now);
}

void ssd_programmed(struct ssd *s, uint64_t epoch, uint32_t pages, uint64_t now)
{
	s->epoch[epoch & s->epoch_mask].unwritten -= pages;
	s->buffered_pages -= pages;
	wake_flushing(s, now);
	fill_buffer(s, now);
}

static void buffer_event(struct lab_event *ev, uint64_t now)
{
	struct lab_cmd *cmd = cmd_of(ev);
	struct ssd *s = ssd_of_cmd(cmd);

	dev_fifo_push(&s->no_room, cmd);
	fill_buffer(s, now);
	ssd_program(s, now);
}

static void write_arrived_event(struct lab_event *ev, uint64_t now)
{
	struct lab_cmd *cmd = cmd_of(ev);
	struct ssd *s = ssd_of_cmd(cmd);

	dev_schedule(&s->dev, cmd, buffer_event,
		     controller(s, now, cmd->nr_sectors) + s->preset->write_fixed_ns);
}

static void begin_write(struct ssd *s, struct lab_cmd *cmd, uint64_t now)
{
	enum weir_dir link = s->preset->ata ? WEIR_READ : WEIR_WRITE;

	dev_schedule(&s->dev, cmd, write_arrived_event,
		     dev_claim(&s->link_free_ns[link], now,
			       s->preset->link_command_ns + link_ns(s, cmd->nr_sectors)));
}

/* Discard, and zeroes, which are what is read from where nothing is. */
static void begin_discard(struct ssd *s, struct lab_cmd *cmd, uint64_t now)
{
	ftl_discard(&s->ftl, cmd->sector, cmd->nr_sectors);
	dev_schedule(&s->dev, cmd, finish_event, controller(s, now, 0) + s->preset->write_fixed_ns);
}

static void begin(struct ssd *s, struct lab_cmd *cmd, uint64_t now)
{
	if (dev_runs_alone(cmd) && cmd->priv[PRIV_LEFT] != STAGE_WRITE) {
		begin_flush(s, cmd, now);
		return;
	}
	switch (cmd->op) {
	case WEIR_OP_READ:
		begin_read(s, cmd, now);
		break;
	case WEIR_OP_WRITE:
		begin_write(s, cmd, now);
		break;
	default:
		begin_discard(s, cmd, now);
		break;
	}
}

static void ssd_submit(struct lab_device *d, struct lab_cmd *cmd, uint64_t now)
{
	struct ssd *s = dev_container(d, struct ssd, dev);

	cmd->priv[PRIV_SSD] = (uintptr_t)s;
	cmd->priv[PRIV_LEFT] = STAGE_FLUSH; /* of one that runs alone */
	if (!s->preset->ata || dev_gate_enter(&s->gate, cmd))
		begin(s, cmd, now);
}

/* ---- the drive ---- */

static void ssd_destroy(struct lab_device *d)
{
	struct ssd *s = dev_container(d, struct ssd, dev);
	struct ssd_slab *slab;
	uint32_t i;

	for (i = 0; i < s->nr_dies; i++)
		lab_event_cancel(d->engine, &s->die[i].program_done);
	while ((slab = s->slabs)) {
		s->slabs = slab->next;
		free(slab);
	}
	ftl_free(&s->ftl);
	free(s->die);
	free(s->channel_free_ns);
	free(s->epoch);
	free(s);
}

static void set_values(struct ssd *s, const uint64_t *v)
{
	s->read_ns = v[SSD_READ_US] * WEIR_NS_PER_US;
	s->program_ns = v[SSD_PROGRAM_US] * WEIR_NS_PER_US;
	s->erase_ns = v[SSD_ERASE_US] * WEIR_NS_PER_US;
	s->suspend_ns = v[SSD_SUSPEND_US] * WEIR_NS_PER_US;
	s->controller_ns = v[SSD_CONTROLLER_NS];
	s->buffer_pages = (uint32_t)(v[SSD_BUFFER_KB] / 4);
	s->plp = v[SSD_PLP];
	s->stall = v[SSD_STALL];
	s->stall_every_ns = v[SSD_STALL_EVERY_MS] * WEIR_NS_PER_MS;
	s->stall_min_ns = v[SSD_STALL_MIN_US] * WEIR_NS_PER_US;
	if (v[SSD_STALL_MAX_US] > v[SSD_STALL_MIN_US])
		s->stall_span_ns = v[SSD_STALL_MAX_US] * WEIR_NS_PER_US - s->stall_min_ns;
}

struct lab_device *ssd_create(const struct lab_device_model *model, struct lab_engine *e,
			      const uint64_t *values, const char *arg, uint64_t seed)
{
	struct ssd *s = dev_zalloc(1, sizeof(*s));
	const struct ssd_preset *p = model->preset;
	uint64_t sectors = values[SSD_CAPACITY_GB] * WEIR_NS_PER_S >> WEIR_SECTOR_SHIFT;

	(void)arg;
	s->preset = p;
	set_values(s, values);
	s->dev = (struct lab_device){
		.info =
			{
				.sectors = sectors,
				.queue_depth = (uint32_t)values[SSD_DEPTH],
				.max_sectors = p->max_sectors,
				.max_segments = p->max_sectors / DEV_PAGE_SECTORS,
				.read_ahead_windows = p->read_ahead_windows,
				.profile = p->profile,
			},
		.engine = e,
		.submit = ssd_submit,
		.destroy = ssd_destroy,
	};
	/* A closed epoch has a flush that waits for it, so depth + 1 are enough. */
	for (s->epoch_mask = 1; s->epoch_mask < values[SSD_DEPTH] + 1;)
		s->epoch_mask = s->epoch_mask << 1 | 1;
	s->epoch = dev_zalloc(s->epoch_mask + 1, sizeof(*s->epoch));
	s->first_epoch = s->open_epoch = 1;
	ssd_nand_init(s, (uint32_t)values[SSD_CHANNELS], (uint32_t)values[SSD_DIES], seed);
	ftl_init(&s->ftl, sectors, (uint32_t)values[SSD_SPARE], (uint32_t)values[SSD_FILL],
		 values[SSD_AGED], seed);
	return &s->dev;
}
