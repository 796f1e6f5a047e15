/* SPDX-License-Identifier: GPL-2.0-only */
/* queue/iosched/: see sysfs.c and tunables.c. */
#ifndef WEIR_KERNEL_SYSFS_H
#define WEIR_KERNEL_SYSFS_H

#include <linux/sysfs.h>

#include "mq.h"

/* A file, whose handlers are told which it is. They may sleep, and hold nothing of the queue's. */
struct weir_mq_attr {
	struct attribute attr;
	ssize_t (*show)(struct weir_mq *mq, const struct weir_mq_attr *a, char *page);
	ssize_t (*store)(struct weir_mq *mq, const struct weir_mq_attr *a, const char *page,
			 size_t count);
};

static inline struct weir_mq *weir_mq_of_kobj(struct kobject *kobj)
{
	return container_of(kobj, struct elevator_queue, kobj)->elevator_data;
}

/* From init_sched: the elevator's files will be ours. */
void weir_mq_sysfs_adopt(struct elevator_queue *eq);

/* tunables.c */
extern struct attribute_group weir_mq_tunables_group;
/* Makes the table of all policies' tunables. -ENOMEM. With the module, before any elevator. */
int weir_mq_tunables_init(void);
void weir_mq_tunables_exit(void);
/*
 * Files for the tunables of p, which are not there yet; they answer -ENODEV until p is the policy.
 * On error none was added.
 */
int weir_mq_tunables_add(struct weir_mq *mq, const struct weir_policy *p);
/* Removes those of p that are not the current policy's too, and waits for who reads them. */
void weir_mq_tunables_remove(struct weir_mq *mq, const struct weir_policy *p);
/* `tunables`: all at once, with what they are. */
ssize_t weir_mq_tunables_show(struct weir_mq *mq, const struct weir_mq_attr *a, char *page);

#endif
