// SPDX-License-Identifier: GPL-2.0-only
/* Attributes, configuration and policy as bytes: see record_encode.h. */
#include "core/record_encode.h"

/*
 * Who adds a member to these has to add it below and to the reader, and to count up
 * WEIR_RECORD_VERSION. One initializer a member: compilers warn when one is missing.
 */
__attribute__((unused)) static const struct weir_config every_member = {
	{1, 1, 1, 1, 1, 1, 1, 1, 1, true}, 1, 1, 1, 1, 1, true, true};
__attribute__((unused)) static const struct weir_group_attr every_attribute = {
	1, 1, {{1, 1}, {1, 1}}, {{1, 1}, {1, 1}}, 1};

_Static_assert(WEIR_REC_LARGE_BYTES >=
		       /* START: type, time, version; the configuration; policy and tunables. */
		       64 + 14 * WEIR_VARINT_BYTES_MAX + 1 + WEIR_RECORD_NAME_MAX + 1 +
			       WEIR_TUNABLES_MAX * WEIR_VARINT_BYTES_MAX,
	       "a START fits");

/* A rate for each direction, bytes before requests. */
static uint64_t rate(const struct weir_rates *rates, unsigned int i)
{
	return i < WEIR_NR_DIRS ? rates->bps[i] : rates->iops[i - WEIR_NR_DIRS];
}

static unsigned int attr_mask(const struct weir_group_attr *attr)
{
	unsigned int mask = 0, i;

	if (attr->weight != WEIR_WEIGHT_DEFAULT)
		mask |= WEIR_REC_ATTR_WEIGHT;
	if (attr->own_weight != WEIR_WEIGHT_DEFAULT)
		mask |= WEIR_REC_ATTR_OWN_WEIGHT;
	for (i = 0; i < 2 * WEIR_NR_DIRS; i++) {
		if (rate(&attr->max, i) != WEIR_UNLIMITED)
			mask |= WEIR_REC_ATTR_MAX << i;
		if (rate(&attr->low, i))
			mask |= WEIR_REC_ATTR_LOW << i;
	}
	if (attr->latency_target_ns)
		mask |= WEIR_REC_ATTR_LATENCY;
	return mask;
}

uint8_t *weir_encode_attr(uint8_t *p, const struct weir_group_attr *attr)
{
	unsigned int mask = attr_mask(attr), i;

	p = weir_put_varint(p, mask);
	if (mask & WEIR_REC_ATTR_WEIGHT)
		p = weir_put_varint(p, attr->weight);
	if (mask & WEIR_REC_ATTR_OWN_WEIGHT)
		p = weir_put_varint(p, attr->own_weight);
	for (i = 0; i < 2 * WEIR_NR_DIRS; i++)
		if (mask & WEIR_REC_ATTR_MAX << i)
			p = weir_put_varint(p, rate(&attr->max, i));
	for (i = 0; i < 2 * WEIR_NR_DIRS; i++)
		if (mask & WEIR_REC_ATTR_LOW << i)
			p = weir_put_varint(p, rate(&attr->low, i));
	if (mask & WEIR_REC_ATTR_LATENCY)
		p = weir_put_varint(p, attr->latency_target_ns);
	return p;
}

uint8_t *weir_encode_config(uint8_t *p, const struct weir_config *cfg)
{
	const struct weir_profile *f = &cfg->profile;

	*p++ = (uint8_t)((f->rotational ? WEIR_REC_CFG_ROTATIONAL : 0) |
			 (cfg->merge ? WEIR_REC_CFG_MERGE : 0) |
			 (cfg->accounting ? WEIR_REC_CFG_ACCOUNTING : 0));
	p = weir_put_varint(p, f->rbps);
	p = weir_put_varint(p, f->rseqiops);
	p = weir_put_varint(p, f->rrandiops);
	p = weir_put_varint(p, f->wbps);
	p = weir_put_varint(p, f->wseqiops);
	p = weir_put_varint(p, f->wrandiops);
	p = weir_put_varint(p, f->flush_ns);
	p = weir_put_varint(p, f->latency_ns);
	p = weir_put_varint(p, f->knee_ns);
	p = weir_put_varint(p, cfg->nr_requests);
	p = weir_put_varint(p, cfg->pool);
	p = weir_put_varint(p, cfg->device_depth);
	p = weir_put_varint(p, cfg->max_sectors);
	return weir_put_varint(p, cfg->claim_ns);
}

uint8_t *weir_encode_name(uint8_t *p, const char *name)
{
	uint8_t *length = p++;

	while (*name && p - length <= WEIR_RECORD_NAME_MAX)
		*p++ = (uint8_t)*name++;
	*length = (uint8_t)(p - length - 1);
	weir_assert(!*name);
	return p;
}

uint8_t *weir_encode_policy(uint8_t *p, const struct weir *w)
{
	const struct weir_tunable *t = w->policy->info.tunables;
	uint8_t nr = 0, i;

	while (t && t[nr].name)
		nr++;
	p = weir_encode_name(p, w->policy->info.name);
	*p++ = nr;
	for (i = 0; i < nr; i++)
		p = weir_put_varint(p, w->tunable[i]);
	return p;
}
