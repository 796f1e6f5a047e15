// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tunables as files of queue/iosched/: each shows its value, a plain number, and takes one. A choice
 * shows its names, with brackets around the one in force, and takes a name. -EINVAL is what is no
 * number, or no name of the choice; -ERANGE what is out of range; `tunables` tells what is accepted.
 *
 * A file belongs to a name, not to a policy: the table has each name once, whatever number of
 * policies have such a tunable, and a handler asks the policy of the moment. So no reader gets what
 * a policy had that is gone.
 */
#include <linux/slab.h>

#include "sysfs.h"

static struct weir_mq_attr *files; /* of every name that any policy has */
static unsigned int nr_files;

static const struct weir_tunable *tunable_of(struct weir_mq *mq, int n)
{
	return &weir_policy_info(weir_current_policy(mq->w))->tunables[n];
}

/* A number, or "noop [deadline] anticipatory", as queue/scheduler shows what there is. */
static int show_value(char *page, const struct weir_tunable *t, u64 value)
{
	int at = 0;
	u64 n;

	if (t->unit != WEIR_UNIT_CHOICE)
		return sysfs_emit(page, "%llu\n", value);
	for (n = 0; n <= t->max; n++)
		at += sysfs_emit_at(page, at, n == value ? "%s[%s]" : "%s%s", n ? " " : "",
				    t->names[n]);
	return at + sysfs_emit_at(page, at, "\n");
}

static ssize_t tunable_show(struct weir_mq *mq, const struct weir_mq_attr *a, char *page)
{
	unsigned long flags;
	int n, ret = -ENODEV;

	spin_lock_irqsave(&mq->lock, flags);
	n = weir_tunable_find(weir_current_policy(mq->w), a->attr.name);
	if (n >= 0)
		ret = show_value(page, tunable_of(mq, n), weir_tunable_get(mq->w, n));
	spin_unlock_irqrestore(&mq->lock, flags);
	return ret;
}

/* One word, and the newline that echo sends. */
static int parse_choice(const struct weir_tunable *t, const char *page, u64 *value)
{
	int n;

	for (n = 0; t->names[n]; n++)
		if (sysfs_streq(page, t->names[n])) {
			*value = n;
			return 0;
		}
	return -EINVAL;
}

static ssize_t tunable_store(struct weir_mq *mq, const struct weir_mq_attr *a, const char *page,
			     size_t count)
{
	unsigned long flags;
	u64 value;
	int n, ret;

	spin_lock_irqsave(&mq->lock, flags);
	n = weir_tunable_find(weir_current_policy(mq->w), a->attr.name);
	if (n < 0)
		ret = -ENODEV;
	else if (tunable_of(mq, n)->unit == WEIR_UNIT_CHOICE)
		ret = parse_choice(tunable_of(mq, n), page, &value);
	else
		ret = kstrtou64(page, 10, &value);
	if (!ret)
		ret = weir_tunable_set(mq->w, n, value, weir_mq_now());
	spin_unlock_irqrestore(&mq->lock, flags);
	if (ret)
		return ret;
	weir_mq_kick(mq);
	return count;
}

/* A line of `tunables`. */
static int list_one(char *page, int at, const struct weir_tunable *t, u64 value)
{
	int begin = at;
	u64 n;

	if (t->unit != WEIR_UNIT_CHOICE)
		return sysfs_emit_at(page, at, "%s=%llu %s %llu-%llu default=%llu %s\n", t->name,
				     value, weir_unit_name(t->unit), t->min, t->max, t->def,
				     t->help);
	at += sysfs_emit_at(page, at, "%s=%s choice ", t->name, t->names[value]);
	for (n = 0; n <= t->max; n++)
		at += sysfs_emit_at(page, at, "%s%s", n ? "|" : "", t->names[n]);
	at += sysfs_emit_at(page, at, " default=%s %s\n", t->names[t->def], t->help);
	return at - begin;
}

ssize_t weir_mq_tunables_show(struct weir_mq *mq, const struct weir_mq_attr *a, char *page)
{
	const struct weir_tunable *t;
	unsigned long flags;
	unsigned int n;
	int at = 0;

	spin_lock_irqsave(&mq->lock, flags);
	t = weir_policy_info(weir_current_policy(mq->w))->tunables;
	for (n = 0; t && t[n].name; n++)
		at += list_one(page, at, &t[n], weir_tunable_get(mq->w, n));
	spin_unlock_irqrestore(&mq->lock, flags);
	return at;
}

/* ---- which files there are ---- */

static bool has(const struct weir_policy *p, const struct weir_mq_attr *file)
{
	return weir_tunable_find(p, file->attr.name) >= 0;
}

static umode_t is_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	return has(weir_current_policy(weir_mq_of_kobj(kobj)->w), &files[n]) ? attr->mode : 0;
}

struct attribute_group weir_mq_tunables_group = {
	.is_visible = is_visible,
};

static struct kobject *kobj_of(struct weir_mq *mq)
{
	return &mq->q->elevator->kobj;
}

int weir_mq_tunables_add(struct weir_mq *mq, const struct weir_policy *p)
{
	const struct weir_policy *now = weir_current_policy(mq->w);
	unsigned int n;
	int ret = 0;

	for (n = 0; n < nr_files && !ret; n++)
		if (has(p, &files[n]) && !has(now, &files[n]))
			ret = sysfs_create_file(kobj_of(mq), &files[n].attr);
	if (ret)
		weir_mq_tunables_remove(mq, p);
	return ret;
}

void weir_mq_tunables_remove(struct weir_mq *mq, const struct weir_policy *p)
{
	const struct weir_policy *now = weir_current_policy(mq->w);
	unsigned int n;

	for (n = 0; n < nr_files; n++)
		if (has(p, &files[n]) && !has(now, &files[n]))
			sysfs_remove_file(kobj_of(mq), &files[n].attr);
}

/* ---- the table ---- */

static bool is_listed(const char *name)
{
	unsigned int n;

	for (n = 0; n < nr_files; n++)
		if (!strcmp(files[n].attr.name, name))
			return true;
	return false;
}

static void list(const char *name)
{
	struct weir_mq_attr *file = &files[nr_files++];

	sysfs_attr_init(&file->attr);
	file->attr.name = name;
	file->attr.mode = 0644;
	file->show = tunable_show;
	file->store = tunable_store;
}

static unsigned int nr_tunables(void)
{
	const struct weir_policy *p;
	unsigned int n, i, sum = 0;

	for (n = 0; (p = weir_policy_at(n)); n++) {
		const struct weir_tunable *t = weir_policy_info(p)->tunables;

		for (i = 0; t && t[i].name; i++)
			sum++;
	}
	return sum;
}

int weir_mq_tunables_init(void)
{
	unsigned int n, i, most = nr_tunables();
	const struct weir_policy *p;
	struct attribute **attrs;

	files = kcalloc(most, sizeof(*files), GFP_KERNEL);
	attrs = kcalloc(most + 1, sizeof(*attrs), GFP_KERNEL);
	weir_mq_tunables_group.attrs = attrs;
	if (!files || !attrs) {
		weir_mq_tunables_exit();
		return -ENOMEM;
	}
	for (n = 0; (p = weir_policy_at(n)); n++) {
		const struct weir_tunable *t = weir_policy_info(p)->tunables;

		for (i = 0; t && t[i].name; i++)
			if (!is_listed(t[i].name))
				list(t[i].name);
	}
	for (n = 0; n < nr_files; n++)
		attrs[n] = &files[n].attr;
	return 0;
}

void weir_mq_tunables_exit(void)
{
	kfree(weir_mq_tunables_group.attrs);
	kfree(files);
}
