/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TPPS: whose weight counts. A group's is in the total from its first request to the end of its
 * last process, whether it asks for anything or not; tpps_option active_weights_only looks at a
 * second sum, of the groups that have something queued or in the driver. Both are kept up to date
 * at O(1).
 */
#include "policy/tpps/internal.h"

void tpps_count_weight(struct tpps *tpps, struct tpps_group *tg)
{
	bool active = tg->nr_queued || tg->in_driver;
	bool counts = tg->nr_queues || active;

	if (counts != tg->in_total) {
		tg->in_total = counts;
		tpps->total_weight += counts ? tg->weight : -(uint64_t)tg->weight;
	}
	if (active != tg->in_active_total) {
		tg->in_active_total = active;
		tpps->active_weight += active ? tg->weight : -(uint64_t)tg->weight;
	}
}

static char *put_text(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	return at;
}

static char *put_number(char *at, uint32_t n)
{
	char digits[10];
	int nr = 0;

	do {
		digits[nr++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (nr)
		*at++ = digits[--nr];
	return at;
}

static void note_clamped(struct weir *w, const struct tpps_group *tg, uint32_t wanted)
{
	char text[96], *at = text;

	at = put_text(at, "tpps: weight ");
	at = put_number(at, wanted);
	at = put_text(at, " of group ");
	at = put_number(at, weir_group_id(tg->group));
	at = put_text(at, " is outside 10..1000, taken as ");
	at = put_number(at, tg->weight);
	*at = '\0';
	weir_note(w, text);
}

/*
 * Groups compete as equals, wherever they are in the tree, so own_weight has no meaning; except
 * that it is the only weight that the root has.
 */
void tpps_read_weight(struct weir *w, struct tpps_group *tg)
{
	const struct weir_group *g = tg->group;
	uint32_t wanted = g->parent ? g->attr.weight : g->attr.own_weight;

	tg->weight = wanted < TPPS_MIN_WEIGHT	? TPPS_MIN_WEIGHT
		     : wanted > TPPS_MAX_WEIGHT ? TPPS_MAX_WEIGHT
						: wanted;
	if (tg->weight != wanted)
		note_clamped(w, tg, wanted);
}
