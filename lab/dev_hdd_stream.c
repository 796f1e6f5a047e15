// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading on: after a read the head stays on its track and fills the read cache until something
 * else is wanted or it is far enough ahead of the reader.
 *
 * Nothing happens for that in virtual time. The stream is known by one sector and the time at which
 * that passed under the head; whoever needs to know looks up how far it has come since.
 */
#include "lab/dev_hdd.h"

/* First sector that the stream has not read by now. */
uint64_t hdd_stream_at(const struct hdd *h, uint64_t now)
{
	const struct hdd_stream *s = &h->stream;
	struct hdd_place first;
	uint64_t phase, low = s->sector, high = s->limit;

	if (now <= s->start_ns)
		return s->sector;
	first = hdd_locate(&h->geo, s->sector);
	phase = first.phase_ns + (now - s->start_ns);
	while (low < high) { /* [.., low) is read, [high, ..) is not */
		uint64_t middle = low + (high - low) / 2;
		struct hdd_place p = hdd_locate(&h->geo, middle);

		if (p.phase_ns + p.sector_ns <= phase)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Brings the read cache up to date with what has passed under the head. */
uint64_t hdd_stream_update(struct hdd *h, uint64_t now)
{
	uint64_t at = hdd_stream_at(h, now);

	hdd_cache_extend(&h->cache, h->stream.segment, at);
	return at;
}

void hdd_stream_stop(struct hdd *h, uint64_t now)
{
	struct hdd_place p;

	if (!h->stream.on)
		return;
	p = hdd_locate(&h->geo, weir_min64(hdd_stream_update(h, now), h->geo.sectors - 1));
	h->arm.cylinder = p.cylinder;
	h->arm.head = p.head;
	h->stream.on = false;
}

/* Reading on goes further now. Where it had stopped, the sector must come round again. */
void hdd_stream_extend(struct hdd *h, uint64_t end, uint64_t now)
{
	struct hdd_stream *s = &h->stream;
	uint64_t limit = weir_min64(end + HDD_READ_AHEAD_SECTORS, h->geo.sectors), at;

	if (limit <= s->limit)
		return;
	at = hdd_stream_update(h, now);
	if (at == s->limit) {
		struct hdd_place p = hdd_locate(&h->geo, at);

		s->sector = at;
		s->start_ns = now + hdd_rotation_wait_ns(&h->geo, &p, now);
	}
	s->limit = limit;
}

/* Has the stream read the start of this command, and goes on to its end? */
bool hdd_on_stream(const struct hdd *h, const struct lab_cmd *cmd, uint64_t at)
{
	const struct hdd_segment *s = &h->cache.segment[h->stream.segment];

	return h->stream.on && cmd->op == WEIR_OP_READ && cmd->sector >= s->start &&
	       cmd->sector <= at;
}
