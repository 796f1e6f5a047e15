// SPDX-License-Identifier: GPL-2.0-only
/* Random settings for property tests: see model_draw.h. */
#include "tests/model_draw.h"
#include "tests/util_host.h"

bool draw_one_in(uint64_t *seed, uint32_t n)
{
	return !util_below(seed, n);
}

uint64_t draw_log(uint64_t *seed, uint64_t min, uint64_t max)
{
	uint64_t range = max - min, bits = 1, value;

	switch (util_below(seed, 8)) {
	case 0:
		return min;
	case 1:
		return max;
	}
	while (bits < 64 && range >> bits)
		bits++;
	value = util_random(seed) >> (64 - 1 - util_below(seed, bits));
	return value > range ? max : min + value;
}

void draw_config(uint64_t *seed, struct weir_config *cfg)
{
	uint64_t bps = draw_log(seed, 1 << 20, UINT64_C(1) << 36);
	uint64_t iops = draw_log(seed, 100, 1 << 21);

	weir_config_init(cfg);
	cfg->profile = (struct weir_profile){
		.rbps = bps,
		.wbps = bps / 2,
		.rseqiops = iops,
		.rrandiops = iops,
		.wseqiops = iops,
		.wrandiops = iops / 2,
		.flush_ns = draw_one_in(seed, 2) ? 0 : draw_log(seed, 1, 100000000),
		.latency_ns = draw_one_in(seed, 2) ? 0 : draw_log(seed, 1000, 10000000),
		.knee_ns = draw_one_in(seed, 2) ? 0 : draw_log(seed, 1000, 100000000),
		.rotational = draw_one_in(seed, 4),
	};
	cfg->nr_requests = (uint32_t)draw_log(seed, 1, 512);
	cfg->pool = draw_one_in(seed, 2) ? 0 : (uint32_t)draw_log(seed, 2, 128);
	cfg->device_depth = draw_one_in(seed, 2) ? 0 : (uint32_t)draw_log(seed, 1, 64);
	cfg->max_sectors = (uint32_t)draw_log(seed, 8, 1024);
	cfg->claim_ns = (uint32_t)draw_log(seed, 0, 10000000);
	cfg->merge = !draw_one_in(seed, 8);
}

static void draw_max(uint64_t *seed, struct weir_group_attr *attr)
{
	int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		if (draw_one_in(seed, 2))
			attr->max.bps[dir] = draw_log(seed, 1, UINT64_C(1) << 34);
		if (draw_one_in(seed, 2))
			attr->max.iops[dir] = draw_log(seed, 1, 1 << 24);
	}
}

static uint64_t draw_floor(uint64_t *seed, uint64_t max)
{
	uint64_t most = max < UINT64_C(1) << 34 ? max : UINT64_C(1) << 34;

	return draw_one_in(seed, 2) ? 0 : draw_log(seed, 0, most);
}

static void draw_low(uint64_t *seed, struct weir_group_attr *attr)
{
	int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		attr->low.bps[dir] = draw_floor(seed, attr->max.bps[dir]);
		attr->low.iops[dir] = draw_floor(seed, attr->max.iops[dir]);
	}
}

void draw_attr(uint64_t *seed, struct weir_group_attr *attr, bool root)
{
	weir_group_attr_init(attr);
	attr->own_weight = (uint32_t)draw_log(seed, WEIR_WEIGHT_MIN, WEIR_WEIGHT_MAX);
	if (draw_one_in(seed, root ? 4 : 2))
		draw_max(seed, attr);
	if (draw_one_in(seed, 3))
		draw_low(seed, attr);
	if (root)
		return;
	attr->weight = (uint32_t)draw_log(seed, WEIR_WEIGHT_MIN, WEIR_WEIGHT_MAX);
	if (draw_one_in(seed, 4))
		attr->latency_target_ns = draw_log(seed, 1000, UINT64_C(1000000000));
}

void draw_bad_attr(uint64_t *seed, struct weir_group_attr *attr)
{
	switch (util_below(seed, 5)) {
	case 0:
		attr->weight = draw_one_in(seed, 2) ? 0 : WEIR_WEIGHT_MAX + 1;
		break;
	case 1:
		attr->own_weight = draw_one_in(seed, 2) ? 0 : UINT32_MAX;
		break;
	case 2:
		attr->max.bps[WEIR_WRITE] = 0;
		break;
	case 3:
		attr->max.iops[WEIR_READ] = 10;
		attr->low.iops[WEIR_READ] = 11;
		break;
	default:
		attr->low.bps[WEIR_READ] = WEIR_UNLIMITED;
	}
}

void draw_tunables(uint64_t *seed, const struct weir_policy *p, uint64_t values[WEIR_TUNABLES_MAX])
{
	const struct weir_tunable *t = weir_policy_info(p)->tunables;
	unsigned int n;

	util_defaults(p, values);
	for (n = 0; t[n].name; n++)
		if (draw_one_in(seed, 3))
			values[n] = draw_log(seed, t[n].min, t[n].max);
}

void draw_rq(uint64_t *seed, struct weir_rq *rq, struct weir_group *g, struct weir_ctx *ctx)
{
	static const enum weir_op ops[] = {WEIR_OP_READ,    WEIR_OP_READ,  WEIR_OP_READ,
					   WEIR_OP_WRITE,   WEIR_OP_WRITE, WEIR_OP_WRITE,
					   WEIR_OP_DISCARD, WEIR_OP_FLUSH, WEIR_OP_WRITE_ZEROES};
	enum weir_op op = ops[util_below(seed, draw_one_in(seed, 4) ? 9 : 6)];
	uint64_t sector = util_below(seed, 48) * 8;
	uint32_t nr_sectors = 8 * (1 + (uint32_t)util_below(seed, 3));

	if (draw_one_in(seed, 16))
		sector = draw_log(seed, 0, UINT64_C(1) << 50);
	if (draw_one_in(seed, 16))
		nr_sectors = (uint32_t)draw_log(seed, 1, WEIR_RQ_SECTORS_MAX);
	weir_rq_init(rq, op, sector, op == WEIR_OP_FLUSH ? 0 : nr_sectors, g, ctx);
	if (draw_one_in(seed, 3))
		rq->flags |= WEIR_RQ_SYNC;
	if (draw_one_in(seed, 10))
		rq->flags |= WEIR_RQ_META;
	if (draw_one_in(seed, 4))
		rq->flags |= (uint16_t)(util_random(seed) & (WEIR_RQ_FUA | WEIR_RQ_PREFLUSH |
							     WEIR_RQ_NOMERGE | WEIR_RQ_IDLE_OK));
	if (draw_one_in(seed, 4)) {
		rq->ioprio_class = (uint8_t)util_below(seed, 4);
		rq->ioprio_level = (uint8_t)util_below(seed, 8);
	}
	/* The policy may not rely on what it finds there. */
	memset(rq->policy, (int)util_below(seed, 256), sizeof(rq->policy));
}

uint64_t draw_step_ns(uint64_t *seed)
{
	switch (util_below(seed, 16)) {
	case 0:
	case 1:
	case 2:
	case 3:
		return 0;
	case 4:
		return 1;
	case 5:
	case 6:
		return util_below(seed, 1000);
	case 7:
	case 8:
	case 9:
	case 10:
		return util_below(seed, 1000000);
	case 11:
	case 12:
	case 13:
		return util_below(seed, 20000000);
	case 14:
		return util_below(seed, 500000000);
	default:
		return util_below(seed, UINT64_C(20000000000));
	}
}
