/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * iocost: the linear model of what a request costs, and the parameters.
 *
 *	page = 1 s / (bps / 4096)
 *	base = max(0, 1 s / iops - page)		of sequential and of random requests
 *	cost = base + max(1, whole pages) x page	growth by merging: without the base
 *
 * Example, rbps 500 MB/s and rrandiops 6250: page 8.2 us, base 151.8 us; a random read of 4 KiB is
 * 160 us, one of 128 KiB 414 us.
 *
 * Random is a start more than 16 MiB away from the end of the group's last request, of whichever
 * direction and process: one cursor for each group, as in the original.
 */
#include "policy/iocost/internal.h"

/* sysfs takes more; these are what the clock can bear. */
#define BPS_MAX (UINT64_C(1) << 50)
#define LATENCY_MAX_US 10000000

const struct weir_tunable iocost_tunables[] = {
	[IOCOST_RPCT] = {"rpct", WEIR_UNIT_PERCENT, 0, 100, 0,
			 "reads that must be within rlat; 0: latencies of reads don't matter"},
	[IOCOST_RLAT] = {"rlat", WEIR_UNIT_US, 0, LATENCY_MAX_US, 0,
			 "latency of reads; 0: 250 ms on rotational devices, else 25 ms"},
	[IOCOST_WPCT] = {"wpct", WEIR_UNIT_PERCENT, 0, 100, 0,
			 "writes that must be within wlat; 0: latencies of writes don't matter"},
	[IOCOST_WLAT] = {"wlat", WEIR_UNIT_US, 0, LATENCY_MAX_US, 0,
			 "latency of writes; 0: as of reads"},
	[IOCOST_MIN] = {"min", WEIR_UNIT_PERCENT, 1, 10000, 1,
			"least rate at which the model's device time is given out"},
	[IOCOST_MAX] = {"max", WEIR_UNIT_PERCENT, 1, 10000, 10000,
			"highest rate at which the model's device time is given out"},
	[IOCOST_AUTO] = {"auto", WEIR_UNIT_BOOL, 0, 1, 0,
			 "model and latencies: 1: of the kernel's built-in devices; 0: as given"},
	[IOCOST_RBPS] = {"rbps", WEIR_UNIT_BYTES, 0, BPS_MAX, 0,
			 "sequential reads, bytes/s; 0: as in the device's profile"},
	[IOCOST_RSEQIOPS] = {"rseqiops", WEIR_UNIT_COUNT, 0, BPS_MAX, 0,
			     "sequential 4 KiB reads/s; 0: profile"},
	[IOCOST_RRANDIOPS] = {"rrandiops", WEIR_UNIT_COUNT, 0, BPS_MAX, 0,
			      "random 4 KiB reads/s; 0: profile"},
	[IOCOST_WBPS] = {"wbps", WEIR_UNIT_BYTES, 0, BPS_MAX, 0,
			 "sequential writes, bytes/s; 0: profile"},
	[IOCOST_WSEQIOPS] = {"wseqiops", WEIR_UNIT_COUNT, 0, BPS_MAX, 0,
			     "sequential 4 KiB writes/s; 0: profile"},
	[IOCOST_WRANDIOPS] = {"wrandiops", WEIR_UNIT_COUNT, 0, BPS_MAX, 0,
			      "random 4 KiB writes/s; 0: profile"},
	[IOCOST_NR_TUNABLES] = {.name = NULL},
};

enum {
	BUILTIN_HDD,
	BUILTIN_SSD_QD1, /* an SSD without a queue */
	BUILTIN_SSD,
	BUILTIN_SSD_FAST,
};

struct builtin {
	uint32_t latency_us;
	uint64_t figures[6];	     /* in the order of the tunables */
	uint32_t too_fast, too_slow; /* percent of the rate; 0: never */
};

static const struct builtin builtins[] = {
	[BUILTIN_HDD] = {250000, {174019176, 41708, 370, 178075866, 42705, 378}, 0, 0},
	[BUILTIN_SSD_QD1] = {25000, {245855193, 61575, 6946, 141365009, 33716, 26796}, 0, 0},
	[BUILTIN_SSD] = {25000, {488636629, 8932, 8518, 427891549, 28755, 21940}, 500, 0},
	[BUILTIN_SSD_FAST] = {5000,
			      {3102524156, 724816, 778122, 1742780862, 425702, 443193},
			      0,
			      10},
};

static uint32_t builtin_kind(const struct iocost *ioc)
{
	const struct weir_config *cfg = weir_cfg(ioc->w);

	if (cfg->profile.rotational)
		return BUILTIN_HDD;
	if (cfg->device_depth == 1)
		return BUILTIN_SSD_QD1;
	return ioc->builtin < BUILTIN_SSD ? BUILTIN_SSD : ioc->builtin;
}

/* ---- the six figures ---- */

static uint64_t figure(const struct iocost *ioc, unsigned int nr, uint64_t of_profile)
{
	uint64_t given = weir_policy_tunable(ioc->w, IOCOST_RBPS + nr);

	if (given)
		return given;
	if (weir_policy_tunable(ioc->w, IOCOST_AUTO))
		return builtins[ioc->builtin].figures[nr];
	return of_profile;
}

static void set_coefficients(struct iocost_model *m, enum weir_dir dir, uint64_t bps, uint64_t seq,
			     uint64_t random)
{
	const uint64_t second = WEIR_NS_PER_S << IOCOST_VTIME_SHIFT;
	uint64_t page = iocost_div_up(second, iocost_div_up(bps, 4096));

	m->page[dir] = page;
	seq = iocost_div_up(second, seq);
	random = iocost_div_up(second, random);
	m->base[dir][0] = seq > page ? seq - page : 0;
	m->base[dir][1] = random > page ? random - page : 0;
}

uint64_t iocost_cost(const struct iocost *ioc, const struct weir_rq *rq, uint32_t sectors,
		     const uint64_t *cursor)
{
	const struct iocost_model *m = &ioc->model;
	enum weir_dir dir = weir_op_dir(rq->op);
	uint64_t pages = sectors >= 8 ? sectors / 8 : 1, away = 0, cost;

	if (rq->op > WEIR_OP_WRITE || !sectors)
		return 0;
	cost = pages * m->page[dir];
	if (cursor) {
		if (*cursor)
			away = rq->sector > *cursor ? rq->sector - *cursor : *cursor - rq->sector;
		cost += m->base[dir][away / 8 > IOCOST_RANDOM_PAGES];
	}
	return weir_min64(cost, WEIR_COST_MAX_NS << IOCOST_VTIME_SHIFT);
}

uint64_t iocost_size_ns(const struct iocost *ioc, const struct weir_rq *rq)
{
	if (rq->op > WEIR_OP_WRITE)
		return 0;
	return rq->nr_sectors / 8 * ioc->model.page[weir_op_dir(rq->op)] >> IOCOST_VTIME_SHIFT;
}

/* ---- what follows from the parameters ---- */

void iocost_refresh_margins(struct iocost *ioc)
{
	uint64_t whole = iocost_vtime(ioc->period_ns, ioc->base_rate);

	ioc->margin_min = weir_div64(whole * IOCOST_MARGIN_MIN, 100);
	ioc->margin_low = weir_div64(whole * IOCOST_MARGIN_LOW, 100);
	ioc->margin_target = weir_div64(whole * IOCOST_MARGIN_TARGET, 100);
}

/* Twice the latency that must hold for 90 % or more, and up to ten times for 50 %. */
static void set_period(struct iocost *ioc)
{
	enum weir_dir dir = ioc->latency_ns[WEIR_READ] >= ioc->latency_ns[WEIR_WRITE] ? WEIR_READ
										      : WEIR_WRITE;
	uint64_t times = 2;

	if (ioc->miss_ppm[dir] < 1000000)
		times = weir_max64(ioc->miss_ppm[dir] / 50000, 2);
	ioc->period_ns = weir_min64(weir_max64(times * ioc->latency_ns[dir], IOCOST_PERIOD_MIN_NS),
				    IOCOST_PERIOD_MAX_NS);
	ioc->slack_ns = weir_div64(ioc->period_ns * IOCOST_SLACK, 100);
	iocost_refresh_margins(ioc);
}

static void set_latencies(struct iocost *ioc)
{
	uint64_t otherwise = weir_cfg(ioc->w)->profile.rotational ? 250000 : 25000;
	uint64_t us;

	if (weir_policy_tunable(ioc->w, IOCOST_AUTO))
		otherwise = builtins[ioc->builtin].latency_us;
	us = weir_policy_tunable(ioc->w, IOCOST_RLAT);
	us = us ? us : otherwise;
	ioc->latency_ns[WEIR_READ] = us * WEIR_NS_PER_US;
	if (weir_policy_tunable(ioc->w, IOCOST_WLAT))
		us = weir_policy_tunable(ioc->w, IOCOST_WLAT);
	ioc->latency_ns[WEIR_WRITE] = us * WEIR_NS_PER_US;
	/* 0 % must be within: all may miss. */
	ioc->miss_ppm[WEIR_READ] = 1000000 -
				   10000 * (uint32_t)weir_policy_tunable(ioc->w, IOCOST_RPCT);
	ioc->miss_ppm[WEIR_WRITE] = 1000000 -
				    10000 * (uint32_t)weir_policy_tunable(ioc->w, IOCOST_WPCT);
}

static uint64_t rate_of_percent(uint64_t percent)
{
	return iocost_div_up(percent * IOCOST_RATE_ONE, 100);
}

void iocost_refresh(struct iocost *ioc)
{
	const struct weir_profile *p = &weir_cfg(ioc->w)->profile;
	uint32_t kind = builtin_kind(ioc);

	if (kind != ioc->builtin) {
		/* Another device: what was learned of the old one is void. */
		ioc->builtin = kind;
		ioc->base_rate = IOCOST_RATE_ONE;
		iocost_set_rate(ioc, IOCOST_RATE_ONE);
	}
	ioc->too_fast_since_ns = 0;
	ioc->too_slow_since_ns = 0;
	set_coefficients(&ioc->model, WEIR_READ, figure(ioc, 0, p->rbps),
			 figure(ioc, 1, p->rseqiops), figure(ioc, 2, p->rrandiops));
	set_coefficients(&ioc->model, WEIR_WRITE, figure(ioc, 3, p->wbps),
			 figure(ioc, 4, p->wseqiops), figure(ioc, 5, p->wrandiops));
	set_latencies(ioc);
	ioc->rate_min = rate_of_percent(weir_policy_tunable(ioc->w, IOCOST_MIN));
	/* The kernel refuses min above max; here each is set on its own, and max gives way. */
	ioc->rate_max = weir_max64(ioc->rate_min,
				   rate_of_percent(weir_policy_tunable(ioc->w, IOCOST_MAX)));
	set_period(ioc);
}

static bool beyond_for_long(const struct iocost *ioc, bool beyond, uint64_t *since_ns)
{
	if (!beyond) {
		*since_ns = 0;
		return false;
	}
	if (!*since_ns)
		*since_ns = ioc->now;
	return ioc->now - *since_ns >= IOCOST_MODEL_NS;
}

void iocost_try_model(struct iocost *ioc)
{
	const struct builtin *b = &builtins[ioc->builtin];
	uint64_t percent = weir_div64(ioc->base_rate * 100, IOCOST_RATE_ONE);
	bool up, down;

	if (!weir_policy_tunable(ioc->w, IOCOST_AUTO))
		return;
	up = beyond_for_long(ioc, b->too_fast && percent >= b->too_fast, &ioc->too_fast_since_ns);
	down = beyond_for_long(ioc, b->too_slow && percent <= b->too_slow, &ioc->too_slow_since_ns);
	if (!up && !down)
		return;
	ioc->builtin += up ? 1 : -1u;
	ioc->base_rate = IOCOST_RATE_ONE;
	iocost_set_rate(ioc, IOCOST_RATE_ONE);
	iocost_refresh(ioc);
}
