/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: groups. A group is an entity of its parent's level, with the weight that was set for it; its
 * own queues are entities of its level beside the groups below it, with the weights of their ioprio:
 * 40, where a group has 100 by default. So own_weight has no meaning here, and the root has none.
 */
#include "policy/bfq/internal.h"

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

static void note_clamped(struct weir *w, const struct weir_group *g, uint32_t weight)
{
	char text[96], *at = text;

	at = put_text(at, "bfq: weight ");
	at = put_number(at, g->attr.weight);
	at = put_text(at, " of group ");
	at = put_number(at, weir_group_id(g));
	at = put_text(at, " is outside 1..1000, taken as ");
	at = put_number(at, weight);
	*at = '\0';
	weir_note(w, text);
}

/* Takes effect when the group gets active the next time, or its turn ends. */
static void read_weight(struct weir *w, struct bfq_group *bg)
{
	const struct weir_group *g = bg->group;
	uint32_t weight = g->attr.weight;

	if (!g->parent)
		return;
	if (weight < BFQ_WEIGHT_MIN)
		weight = BFQ_WEIGHT_MIN;
	if (weight > BFQ_WEIGHT_MAX)
		weight = BFQ_WEIGHT_MAX;
	if (weight != g->attr.weight)
		note_clamped(w, g, weight);
	bg->entity.new_weight = weight;
	bg->entity.weight_changed = weight != bg->entity.weight;
}

static void init_queue(struct bfq *bfq, struct bfq_group *bg, struct bfq_queue *q, bool sync,
		       enum bfq_class class, unsigned int level)
{
	bfq_queue_init(bfq, q, bg, sync);
	bfq_queue_set_ioprio(q, class, (uint8_t)level);
	bfq_entity_first_weight(&q->entity);
}

void bfq_group_online(struct weir *w, struct weir_group *g)
{
	struct bfq *bfq = weir_policy_data(w);
	struct bfq_group *bg = bfq_group(g);
	unsigned int level;

	bfq->now = weir_max64(weir_now(w), 1);
	bg->group = g;
	bfq_trees_init(bg);
	weir_rb_init(&bg->positions);
	bg->idle_class_ns = bfq->now;
	bg->entity.class = BFQ_BE;
	bg->entity.new_class = BFQ_BE;
	if (g->parent) {
		bg->entity.in = bfq_group(g->parent);
		read_weight(w, bg);
		bfq_entity_first_weight(&bg->entity);
	} else {
		bfq->root = bg;
	}
	init_queue(bfq, bg, &bg->anonymous, true, BFQ_BE, BFQ_LEVEL_NORMAL);
	init_queue(bfq, bg, &bg->async_idle, false, BFQ_IDLE, BFQ_LEVELS - 1);
	for (level = 0; level < BFQ_LEVELS; level++) {
		init_queue(bfq, bg, &bg->async[BFQ_RT][level], false, BFQ_RT, level);
		init_queue(bfq, bg, &bg->async[BFQ_BE][level], false, BFQ_BE, level);
	}
}

static void retire(struct bfq *bfq, struct bfq_queue *q)
{
	if (q == bfq->served)
		bfq_expire(bfq, q, false, BFQ_NO_MORE_REQUESTS);
	bfq_waker_forget(bfq, q);
	bfq_burst_leave(q);
	bfq_entity_forget(&q->entity);
}

void bfq_group_offline(struct weir *w, struct weir_group *g)
{
	struct bfq *bfq = weir_policy_data(w);
	struct bfq_group *bg = bfq_group(g);
	unsigned int level;

	bfq->now = weir_max64(weir_now(w), 1);
	bfq_idle_check(bfq);
	retire(bfq, &bg->anonymous);
	retire(bfq, &bg->async_idle);
	for (level = 0; level < BFQ_LEVELS; level++) {
		retire(bfq, &bg->async[BFQ_RT][level]);
		retire(bfq, &bg->async[BFQ_BE][level]);
	}
	if (bg->entity.in)
		bfq_entity_forget(&bg->entity);
	if (bfq->burst_group == bg)
		bfq->burst_group = NULL;
}

void bfq_group_changed(struct weir *w, struct weir_group *g, unsigned int what)
{
	if (what & WEIR_CHANGED_WEIGHT)
		read_weight(w, bfq_group(g));
}
