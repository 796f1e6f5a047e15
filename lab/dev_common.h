/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the device models share: resources as "free at" times, FIFOs of commands, completion, and
 * the gate that makes a flush of an ATA drive wait for everything before it and hold everything
 * after it.
 */
#ifndef LAB_DEV_COMMON_H
#define LAB_DEV_COMMON_H

#include <stddef.h>

#include "core/fixed.h"
#include "lab/device.h"

#define dev_container(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#define DEV_PAGE_SECTORS 8u

/* Zeroed memory; without memory there is no lab: says so and aborts. */
void *dev_zalloc(size_t nr, size_t bytes);

/* Occupies a resource for a while, no earlier than `from`. Returns when it is done. */
static inline uint64_t dev_claim(uint64_t *free_ns, uint64_t from_ns, uint64_t hold_ns)
{
	uint64_t start = *free_ns > from_ns ? *free_ns : from_ns;

	return *free_ns = start + hold_ns;
}

/* Commands in order of arrival, through cmd->next. */
struct dev_fifo {
	struct lab_cmd *head, *tail;
};

static inline void dev_fifo_push(struct dev_fifo *f, struct lab_cmd *cmd)
{
	cmd->next = NULL;
	if (f->head)
		f->tail->next = cmd;
	else
		f->head = cmd;
	f->tail = cmd;
}

static inline struct lab_cmd *dev_fifo_pop(struct dev_fifo *f)
{
	struct lab_cmd *cmd = f->head;

	if (cmd)
		f->head = cmd->next;
	return cmd;
}

/* The command leaves the device. Its owner may submit another from within done(). */
static inline void dev_complete(struct lab_device *d, struct lab_cmd *cmd, uint64_t now_ns)
{
	d->in_flight--;
	cmd->done(cmd, now_ns);
}

static inline void dev_schedule(struct lab_device *d, struct lab_cmd *cmd,
				void (*fn)(struct lab_event *ev, uint64_t now_ns), uint64_t at_ns)
{
	lab_event_init(&cmd->ev, fn);
	lab_event_at(d->engine, &cmd->ev, at_ns);
}

static inline uint32_t dev_pages(uint32_t sectors)
{
	return (sectors + DEV_PAGE_SECTORS - 1) / DEV_PAGE_SECTORS;
}

/*
 * ATA's FLUSH CACHE is not a queued command: the queue drains, it runs alone, then the queue fills
 * again. The gate stands before a model's submit function and calls it in that order.
 */
struct dev_gate {
	struct dev_fifo held;
	uint32_t active; /* commands behind the gate */
	bool exclusive;	 /* one of them must be alone */
};

static inline bool dev_runs_alone(const struct lab_cmd *cmd)
{
	return cmd->op == WEIR_OP_FLUSH || (cmd->flags & WEIR_RQ_PREFLUSH);
}

/* May cmd start now? If not it is held, and comes out of dev_gate_next(). */
bool dev_gate_enter(struct dev_gate *g, struct lab_cmd *cmd);
/* A command behind the gate is done, or (alone set) its flush is and its write goes on. */
void dev_gate_leave(struct dev_gate *g);
void dev_gate_not_alone(struct dev_gate *g);
/* The next held command that may start, or NULL. */
struct lab_cmd *dev_gate_next(struct dev_gate *g);

#endif
