/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: the peak rate of the device, in sectors per microsecond with 16 bits below the point, and
 * what follows from it: the largest budget (what the peak rate serves in timeout_sync), and how long
 * interactive queues are raised (slow devices take longer to load a program).
 *
 * Dispatches are observed for a second. The rate of that interval changes the estimate if most of
 * the requests were sequential, or if it is above it; the more so, the more of them were sequential
 * and the longer the interval. A pause with an idle device ends the interval before it.
 */
#include "policy/bfq/internal.h"

static uint32_t reference_rate(const struct bfq *bfq)
{
	return bfq->rotational ? BFQ_REF_RATE_ROTATIONAL : BFQ_REF_RATE_FLASH;
}

void bfq_rate_apply(struct bfq *bfq)
{
	uint64_t us = bfq_tunable(bfq, BFQ_TIMEOUT_SYNC) * 1000;

	uint64_t sectors = weir_mul_div(bfq->rate.peak, us, 1 << BFQ_RATE_SHIFT);

	sectors = weir_max64(sectors, BFQ_MIN_BUDGET_PART);
	bfq->max_budget = (uint32_t)weir_min64(sectors, INT32_MAX);
}

void bfq_rate_init(struct bfq *bfq)
{
	bfq->rate.peak = reference_rate(bfq) * 2 / 3;
	bfq->max_budget = BFQ_DEFAULT_BUDGET;
}

uint64_t bfq_raise_length_ns(const struct bfq *bfq)
{
	uint64_t ref_ms = bfq->rotational ? BFQ_REF_RAISE_ROTATIONAL_MS : BFQ_REF_RAISE_FLASH_MS;
	uint64_t ms = weir_div64((uint64_t)reference_rate(bfq) * ref_ms,
				 weir_max64(bfq->rate.peak, 1));

	ms = weir_max64(ms, BFQ_RAISE_SHORTEST_MS);
	return weir_min64(ms, BFQ_RAISE_LONGEST_MS) * WEIR_NS_PER_MS;
}

static void begin(struct bfq *bfq, const struct weir_rq *rq)
{
	struct bfq_rate *r = &bfq->rate;

	r->samples = rq != NULL;
	r->sequential = 0;
	r->sectors = rq ? rq->nr_sectors : 0;
	r->max_sectors = r->sectors;
	r->first_ns = bfq->now;
	r->last_ns = bfq->now;
}

static void estimate(struct bfq *bfq, uint64_t length_ns)
{
	struct bfq_rate *r = &bfq->rate;
	uint64_t us = weir_max64(weir_div64(length_ns, 1000), 1);
	uint64_t rate = weir_mul_div(r->sectors, 1 << BFQ_RATE_SHIFT, us);
	uint64_t weight, divisor;

	if ((uint64_t)r->sequential * 4 < (uint64_t)r->samples * 3 && rate <= r->peak)
		return;
	if (rate > (uint64_t)BFQ_RATE_HIGHEST << BFQ_RATE_SHIFT)
		return;
	weight = weir_div64(9 * (uint64_t)r->sequential, r->samples);
	weight = weir_min64(weir_mul_div(weight, length_ns, BFQ_RATE_INTERVAL_NS), 8);
	divisor = 10 - weight;
	r->peak = weir_div64(r->peak * (divisor - 1), divisor) + weir_div64(rate, divisor);
	r->peak = weir_max64(r->peak, 1);
	bfq_rate_apply(bfq);
}

/* The interval is over; rq, if any, begins the next. */
static void end(struct bfq *bfq, const struct weir_rq *rq)
{
	struct bfq_rate *r = &bfq->rate;
	uint64_t length_ns = weir_max64(r->last_ns, bfq->last_completion_ns);

	length_ns = length_ns > r->first_ns ? length_ns - r->first_ns : 0;
	if (r->samples >= BFQ_RATE_SAMPLES && r->last_ns - r->first_ns >= BFQ_RATE_MIN_NS)
		estimate(bfq, length_ns);
	begin(bfq, rq);
}

static void observe(struct bfq *bfq, const struct weir_rq *rq)
{
	struct bfq_rate *r = &bfq->rate;
	bool idle = !bfq->in_driver;

	if (!r->samples) {
		begin(bfq, rq);
		return;
	}
	if (idle && bfq->now - r->last_ns > BFQ_RATE_PAUSE_NS) {
		end(bfq, rq);
		return;
	}
	r->samples++;
	if ((!idle || bfq->now - bfq->last_completion_ns < BFQ_MIN_THINK_NS) &&
	    !bfq_is_seek(bfq, bfq->last_sector, rq))
		r->sequential++;
	r->sectors += rq->nr_sectors;
	r->max_sectors = r->samples % 32 ? weir_max64(r->max_sectors, rq->nr_sectors)
					 : rq->nr_sectors;
	r->last_ns = bfq->now;
	if (bfq->now - r->first_ns >= BFQ_RATE_INTERVAL_NS)
		end(bfq, rq);
}

void bfq_rate_dispatched(struct bfq *bfq, const struct bfq_queue *q, const struct weir_rq *rq)
{
	observe(bfq, rq);
	bfq->last_sector = weir_rq_end(rq);
	if (q == bfq->served)
		bfq->served_last_sector = bfq->last_sector;
}

/* A completion after a long time, at a very low rate, says nothing about the peak. */
void bfq_rate_completed(struct bfq *bfq)
{
	uint64_t gap_ns = bfq->now - bfq->last_completion_ns;

	if (gap_ns > BFQ_MIN_THINK_NS &&
	    weir_div64(bfq->rate.max_sectors << BFQ_RATE_SHIFT, weir_div64(gap_ns, 1000)) <
		    1 << (BFQ_RATE_SHIFT - 10))
		end(bfq, NULL);
	bfq->last_completion_ns = bfq->now;
}
