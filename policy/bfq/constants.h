/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ's constants, with the kernel's values. Times are exact; where the kernel counts in ticks, a
 * tick is 4 ms here (HZ = 250).
 */
#ifndef WEIR_POLICY_BFQ_CONSTANTS_H
#define WEIR_POLICY_BFQ_CONSTANTS_H

#include "core/fixed.h"

enum {
	/* Queues: ioprio 7 weighs 10, ioprio 0 weighs 80. */
	BFQ_LEVELS = 8,
	BFQ_LEVEL_NORMAL = 4,
	BFQ_WEIGHT_OF_LEVEL = 10,
	/* Groups. */
	BFQ_WEIGHT_MIN = 1,
	BFQ_WEIGHT_MAX = 1000,

	/* Virtual time is (sectors << 22) / weight: 2^42 sectors fit, at a weight of 1. */
	BFQ_VTIME_SHIFT = 22,

	/* Budgets, in sectors. 8 MiB until the peak rate is known. */
	BFQ_DEFAULT_BUDGET = 16384,
	/* The smallest is so small a part of the largest. */
	BFQ_MIN_BUDGET_PART = 32,
	/* A moving average of 8 turns that goes towards 256: 194 are about 11 turns. */
	BFQ_BUDGETS_NEEDED = 194,
	/* Writes that nobody waits for are held back by being expensive. */
	BFQ_ASYNC_CHARGE = 3,

	/* More than 3 in the driver within 32 samples: the device queues. */
	BFQ_QUEUEING_DEPTH = 3,
	BFQ_QUEUEING_SAMPLES = 32,

	/* Sectors between two requests that make a seek; without a head, only small ones count. */
	BFQ_SEEK_SECTORS = 800,
	BFQ_SMALL_ON_FLASH = 64,
	/* Of the last 32 requests. */
	BFQ_SEEKY_BITS = 19,
	/* A request below this doesn't end a wait for throughput alone. */
	BFQ_SMALL_REQUEST = 32,
	/* Think time: a moving average over 8, valid with more samples (of 256). */
	BFQ_THINK_VALID = 80,

	/* Queues created one shortly after another that make a large burst. */
	BFQ_LARGE_BURST = 8,

	/* Raised weights: interactive, and so much more for soft real-time. */
	BFQ_RAISE = 30,
	BFQ_RAISE_SOFT_RT = 100,
	/* An interactive queue that has had so many sectors (60 MB) isn't. */
	BFQ_RAISE_SECTORS = 120000,
	/* A soft real-time stream has at most 3.5 MB/s, in sectors per second. */
	BFQ_SOFT_RT_RATE = 7000,
	BFQ_SOFT_RT_TICKS = 4,

	/* Cooperators are so close, in sectors. */
	BFQ_CLOSE_SECTORS = 8192,

	/* A queue seen so often to be woken by another is. */
	BFQ_WAKER_HITS = 3,
	/* ... within so many times slice_idle. */
	BFQ_WAKER_WINDOW = 128,
	/* Queues looked at for one to inject from: the kernel looks at all. */
	BFQ_INJECT_SEARCH = 32,
	/* A raised queue is waited for if the driver has so many more than its own. */
	BFQ_RAISED_OTHERS = 4,

	/* Peak rate, in sectors per us << 16. 20 sectors/us, 10 GB/s, are no device's. */
	BFQ_RATE_SHIFT = 16,
	BFQ_RATE_SAMPLES = 32,
	BFQ_RATE_HIGHEST = 20,
	BFQ_REF_RATE_ROTATIONAL = 14000,
	BFQ_REF_RATE_FLASH = 33000,
};

#define BFQ_TICK_NS (4 * WEIR_NS_PER_MS)
/* Shortest wait and shortest interval that means anything. */
#define BFQ_MIN_THINK_NS (2 * WEIR_NS_PER_MS)
/* Idle class: served once in so long even if others are busy. */
#define BFQ_IDLE_CLASS_NS (200 * WEIR_NS_PER_MS)
/* A raised queue is waited for at least so long. */
#define BFQ_RAISED_IDLE_NS (20 * WEIR_NS_PER_MS)
/* Above this, service and not seeks tell whether a queue is slow. */
#define BFQ_SLOW_INTERVAL_NS (20 * WEIR_NS_PER_MS)
#define BFQ_SHORTEST_TURN_NS (1 * WEIR_NS_PER_MS)
#define BFQ_IO_WINDOW_NS (200 * WEIR_NS_PER_MS)

#define BFQ_BURST_NS (180 * WEIR_NS_PER_MS)
#define BFQ_BURST_FORGET_NS (10 * WEIR_NS_PER_S)
#define BFQ_SPLIT_RECENT_NS (10 * WEIR_NS_PER_MS)

#define BFQ_RAISE_MIN_IDLE_NS (2 * WEIR_NS_PER_S)
#define BFQ_RAISE_MIN_ASYNC_NS (500 * WEIR_NS_PER_MS)
#define BFQ_RAISE_SOFT_RT_NS (300 * WEIR_NS_PER_MS)
/* Interactive: the reference device's time to load a large program, and its bounds. */
#define BFQ_REF_RAISE_ROTATIONAL_MS 7000
#define BFQ_REF_RAISE_FLASH_MS 2500
#define BFQ_RAISE_SHORTEST_MS 3000
#define BFQ_RAISE_LONGEST_MS 25000

#define BFQ_MERGE_LIMIT_NS (100 * WEIR_NS_PER_MS)
#define BFQ_STABLE_MERGE_NS (600 * WEIR_NS_PER_MS)

#define BFQ_WAKER_NS (4 * WEIR_NS_PER_MS)
#define BFQ_INJECT_RESET_NS (1000 * WEIR_NS_PER_MS)
#define BFQ_INJECT_STEP_NS (10 * WEIR_NS_PER_MS)
#define BFQ_INJECT_THINK_NS (100 * WEIR_NS_PER_MS)

/* Peak rate: an observation ends after 1 s, counts from 300 ms, and a pause of 100 ms breaks it. */
#define BFQ_RATE_INTERVAL_NS (1000 * WEIR_NS_PER_MS)
#define BFQ_RATE_MIN_NS (300 * WEIR_NS_PER_MS)
#define BFQ_RATE_PAUSE_NS (100 * WEIR_NS_PER_MS)

#define BFQ_STRICT_IDLE_NS (8 * WEIR_NS_PER_MS)

#endif
