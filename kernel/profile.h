/* SPDX-License-Identifier: GPL-2.0-only */
/* What requests cost on a disk: see profile.c. */
#ifndef WEIR_KERNEL_PROFILE_H
#define WEIR_KERNEL_PROFILE_H

#include "mq.h"

struct weir_mq_attr;

/* cfg->profile, as far as it was not written: what it is for a disk like mq->q. */
void weir_mq_profile_follow(struct weir_mq *mq, struct weir_config *cfg);

/* queue/iosched/profile. */
ssize_t weir_mq_profile_show(struct weir_mq *mq, const struct weir_mq_attr *a, char *page);
ssize_t weir_mq_profile_store(struct weir_mq *mq, const struct weir_mq_attr *a, const char *page,
			      size_t count);

#endif
