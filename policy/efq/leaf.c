/* SPDX-License-Identifier: GPL-2.0-only */
/* efq: the leaf queues. Each group has one, in the order that the tunable `leaf` names. */
#include "policy/efq/internal.h"

static const struct weir_order *const orders[] = {
	&weir_order_noop,
	&weir_order_deadline,
	&weir_order_anticipatory,
};

const struct weir_order *efq_leaf_order(const struct weir *w)
{
	return orders[weir_policy_tunable(w, EFQ_LEAF)];
}

void efq_leaf_init(struct weir *w, struct efq *e, struct efq_group *eg)
{
	void *device = NULL;

	if (e->order == &weir_order_deadline)
		device = &e->deadline;
	if (e->order == &weir_order_anticipatory)
		device = &e->antic;
	e->order->init(w, &eg->leaf, device);
}

void efq_leaf_exit(struct efq *e, struct efq_group *eg)
{
	if (e->order->exit)
		e->order->exit(&eg->leaf);
}

/* All that the queue has, into a tree by the order of insertion. */
static void take_all(struct weir *w, struct efq *e, struct efq_group *eg, struct weir_rb_tree *all)
{
	struct weir_verdict v = {.at_ns = WEIR_NEVER};
	uint32_t n;

	for (n = 0; n < eg->nr_queued; n++) {
		struct weir_rq *rq = e->order->dispatch(w, &eg->leaf, true, &v);

		weir_assert(rq);
		if (e->order->undispatch)
			e->order->undispatch(w, &eg->leaf, rq);
		weir_rb_insert(all, &efq_rq(rq)->by_seq, rq->seq);
	}
}

static struct weir_rq *rq_of(struct weir_rb *node)
{
	char *policy = (char *)weir_container_of(node, struct efq_rq, by_seq) - ORDER_RQ_BYTES;

	return weir_container_of(policy, struct weir_rq, policy);
}

void efq_leaf_change(struct weir *w, struct efq *e)
{
	struct weir_rb_tree all;
	struct efq_group *eg;
	struct weir_rb *node;

	if (e->order == efq_leaf_order(w))
		return;
	weir_rb_init(&all);
	list_for_each(eg, &e->groups, struct efq_group, all) {
		take_all(w, e, eg, &all);
		efq_leaf_exit(e, eg);
	}
	e->order = efq_leaf_order(w);
	e->generation++;
	list_for_each(eg, &e->groups, struct efq_group, all)
		efq_leaf_init(w, e, eg);
	while ((node = weir_rb_first(&all))) {
		struct weir_rq *rq = rq_of(node);

		weir_rb_erase(&all, node);
		efq_rq(rq)->generation = e->generation;
		e->order->insert(w, &efq_group(rq->group)->leaf, rq);
	}
}
