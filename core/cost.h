/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a request costs in device time, by the instance's profile: the linear model of iocost
 * (Tejun Heo, blk-iocost, 2019), restated.
 *
 *	per_byte = 1 s / bps
 *	base     = max(0, 1 s / iops - 4096 x per_byte), of sequential and of random requests
 *	cost     = base + max(4096, bytes) x per_byte, at least 1 ns
 *
 * Example: rbps 500 MB/s, rrandiops 6250: 4 KiB random read = 160 us, 128 KiB = 414 us.
 */
#ifndef WEIR_CORE_COST_H
#define WEIR_CORE_COST_H

#include <weir/profile.h>
#include <weir/request.h>

#include "core/fixed.h"

/* More than this from the previous end is random: 16 MiB, as iocost. */
#define WEIR_RANDOM_SECTORS (UINT64_C(16) << (20 - WEIR_SECTOR_SHIFT))

/* Coefficients in ns << COST_SHIFT; the per-sector one is at most 2^30 x 512 << 16 < 2^56. */
#define WEIR_COST_SHIFT 16

struct weir_cost_model {
	uint64_t per_sector[WEIR_NR_DIRS];
	uint64_t base[WEIR_NR_DIRS][2]; /* [random] */
	uint64_t flush_ns;
};

void weir_cost_model_init(struct weir_cost_model *m, const struct weir_profile *p);

/* O(1). At least 1, at most WEIR_COST_MAX_NS. */
static inline uint64_t weir_cost_ns(const struct weir_cost_model *m, enum weir_op op,
				    uint32_t nr_sectors, bool random)
{
	enum weir_dir dir = weir_op_dir(op);
	uint64_t sectors = nr_sectors > 8 ? nr_sectors : 8, cost;

	if (weir_unlikely(op > WEIR_OP_WRITE)) {
		if (op == WEIR_OP_FLUSH)
			return m->flush_ns ? m->flush_ns : 1;
		sectors = 8; /* no data crosses: priced as one small write */
	}
	cost = (m->base[dir][random] + sectors * m->per_sector[dir]) >> WEIR_COST_SHIFT;
	/* 0 is more than any. */
	if (weir_unlikely(cost - 1 >= WEIR_COST_MAX_NS))
		return cost ? WEIR_COST_MAX_NS : 1;
	return cost;
}

/* What nr_sectors more cost when they join a request: no base. */
static inline uint64_t weir_cost_added_ns(const struct weir_cost_model *m, enum weir_op op,
					  uint32_t nr_sectors)
{
	uint64_t cost = nr_sectors * m->per_sector[weir_op_dir(op)] >> WEIR_COST_SHIFT;

	return cost > WEIR_COST_MAX_NS ? WEIR_COST_MAX_NS : cost;
}

/*
 * Virtual time: device time / weight, in ns << VTIME_SHIFT. cost_ns <= 2^32, so the result of one
 * request is at most 2^52; the clock wraps after 2^44 ns = 4.9 h of service at weight 1, which
 * weir_vtime_before() bears among those that compete, and weir_vtime_enter() for who was away.
 */
#define WEIR_VTIME_SHIFT 20

static inline uint64_t weir_cost_per_weight(uint64_t cost_ns, uint32_t weight)
{
	return weir_div64(cost_ns << WEIR_VTIME_SHIFT, weight);
}

/*
 * The tag of who comes back: its own, or `earliest` if that has passed it. Nobody is ahead by more
 * than ahead_max: a tag that seems to be is so old that the clock has wrapped since, and would shut
 * its owner out for hours.
 */
static inline uint64_t weir_vtime_enter(uint64_t tag, uint64_t earliest, uint64_t ahead_max)
{
	return tag - earliest > ahead_max ? earliest : tag;
}

/* Is it further away, on either side? Sectors are less than 2^63. */
static inline bool weir_is_random(uint64_t sector, uint64_t end)
{
	return sector - end + WEIR_RANDOM_SECTORS > 2 * WEIR_RANDOM_SECTORS;
}

/* Prices rq by where the last request of its context or group ended, and moves that on. */
static inline void weir_price(const struct weir_cost_model *m, struct weir_rq *rq, enum weir_op op,
			      uint64_t *end)
{
	rq->cost_ns = weir_cost_ns(m, op, rq->nr_sectors, weir_is_random(rq->sector, *end));
	if (weir_likely(op != WEIR_OP_FLUSH))
		*end = weir_rq_end(rq);
}

#endif
