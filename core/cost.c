/* SPDX-License-Identifier: GPL-2.0-only */
/* What a request costs: see cost.h. */
#include "core/core.h"

static uint64_t per_sector(uint64_t bps)
{
	return weir_div64((WEIR_NS_PER_S << WEIR_COST_SHIFT) << WEIR_SECTOR_SHIFT, bps);
}

static uint64_t base(uint64_t iops, uint64_t sector_cost)
{
	uint64_t whole = weir_div64(WEIR_NS_PER_S << WEIR_COST_SHIFT, iops);
	uint64_t page = 8 * sector_cost;

	return whole > page ? whole - page : 0;
}

void weir_cost_model_init(struct weir_cost_model *m, const struct weir_profile *p)
{
	m->per_sector[WEIR_READ] = per_sector(p->rbps);
	m->per_sector[WEIR_WRITE] = per_sector(p->wbps);
	m->base[WEIR_READ][0] = base(p->rseqiops, m->per_sector[WEIR_READ]);
	m->base[WEIR_READ][1] = base(p->rrandiops, m->per_sector[WEIR_READ]);
	m->base[WEIR_WRITE][0] = base(p->wseqiops, m->per_sector[WEIR_WRITE]);
	m->base[WEIR_WRITE][1] = base(p->wrandiops, m->per_sector[WEIR_WRITE]);
	m->flush_ns = weir_min64(p->flush_ns, WEIR_COST_MAX_NS);
}

const char *weir_profile_check(const struct weir_profile *p)
{
	const uint64_t bps_min = 1024, max = UINT64_C(1) << 50;

	if (p->rbps < bps_min || p->wbps < bps_min || p->rbps > max || p->wbps > max)
		return "rbps and wbps must lie between 1024 and 2^50 bytes/s";
	if (!p->rseqiops || !p->rrandiops || !p->wseqiops || !p->wrandiops || p->rseqiops > max ||
	    p->rrandiops > max || p->wseqiops > max || p->wrandiops > max)
		return "the four IOPS figures must lie between 1 and 2^50";
	return NULL;
}

uint64_t weir_profile_cost_ns(const struct weir_profile *p, enum weir_op op, uint32_t nr_sectors,
			      bool random)
{
	struct weir_cost_model m;

	weir_cost_model_init(&m, p);
	return weir_cost_ns(&m, op, nr_sectors, random);
}
