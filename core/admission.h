/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Admission: one pool of requests, shared by groups.
 *
 * Problem: a pool that is handed out first come, first served belongs to whoever asks most (thread
 * 002's request pools; the kernel's scheduler tags). Then no policy behind it can keep a share, and
 * a group that is held by its ceiling empties the pool for the others.
 *
 * Rule: a group may hold pool x share requests, share being its entitlement among the active groups
 * (weir_entitle_share()), but at least MIN; writes at most 3/4 of that, so that reads never wait
 * behind write-back for a place. A group with HELD requests that wait for a ceiling gets no more in
 * that direction: what cannot go need not queue. Unless it uses the other direction, its share of the
 * pool is lent to all others until it is woken. A lone group has the whole pool. Who is promised more
 * than its weight gives (a floor) has as much of the pool as of the device.
 *
 * Hysteresis as in the single-queue block layer: congested from n - n/8 + 1 on, no longer below
 * n - n/8 - n/16 - 1; against the reads' limit the group's writes count too. Who was refused at its
 * own limit is woken below the off mark; who was refused because the pool was full is woken by the
 * next free place, in order of asking.
 *
 * A policy may have a rule of its own for a group's places and marks: struct weir_places in spi.h. A
 * ceiling that holds requests, and the pool as the limit of all, are in force under any.
 */
#ifndef WEIR_CORE_ADMISSION_H
#define WEIR_CORE_ADMISSION_H

#include <weir/weir.h>

enum {
	WEIR_ADMIT_MIN = 2,  /* one in the device, one behind it */
	WEIR_ADMIT_HELD = 2, /* requests held by a ceiling, per direction */
};

struct weir_admission {
	struct weir_group *group;
	enum weir_dir dir;
	uint32_t admitted;
	bool congested;
	bool waiting;	       /* was refused and not woken yet */
	uint64_t lent;	       /* of its share, to the others, while waiting for its ceiling */
	struct weir_list wait; /* in weir->admit_waiters while waiting */
};

void weir_admission_init(struct weir_group *g);
/* Something that refusals depend on has changed: wakes those who may ask again. */
void weir_admission_wake(struct weir *w);
/* The policy's rule has changed: the same, and congestion is looked at anew. O(groups) */
void weir_admission_changed(struct weir *w);
/* g disappears: nobody is woken for it any more. */
void weir_admission_forget(struct weir_group *g);

#endif
