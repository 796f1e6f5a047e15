/* SPDX-License-Identifier: GPL-2.0-only */
/* Order of arrival: noop's queue, for who has one. See noop.c. */
#ifndef WEIR_POLICY_NOOP_H
#define WEIR_POLICY_NOOP_H

#include "policy/order.h"

struct noop_queue {
	struct weir_list fifo; /* rq->link */
};

#endif
