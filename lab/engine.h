/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual time: a queue of events. Nothing happens between two events, and events of one instant
 * run in the order in which they were scheduled, so a run is a function of its inputs alone.
 */
#ifndef LAB_ENGINE_H
#define LAB_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAB_NEVER UINT64_MAX

struct lab_engine;

struct lab_event {
	void (*fn)(struct lab_event *ev, uint64_t now_ns); /* set by lab_event_init() */
	uint64_t at_ns, seq;
	uint32_t heap_at; /* UINT32_MAX: not scheduled */
};

struct lab_engine *lab_engine_new(void);
void lab_engine_free(struct lab_engine *e);
uint64_t lab_now(const struct lab_engine *e);

void lab_event_init(struct lab_event *ev, void (*fn)(struct lab_event *ev, uint64_t now_ns));
/* Schedules, or moves what is scheduled already. at_ns in the past means now. */
void lab_event_at(struct lab_engine *e, struct lab_event *ev, uint64_t at_ns);
void lab_event_cancel(struct lab_engine *e, struct lab_event *ev);
static inline bool lab_event_pending(const struct lab_event *ev)
{
	return ev->heap_at != UINT32_MAX;
}

/* Runs until the queue is empty, until_ns has passed, or lab_engine_stop(). */
void lab_engine_run(struct lab_engine *e, uint64_t until_ns);
void lab_engine_stop(struct lab_engine *e);

#endif
