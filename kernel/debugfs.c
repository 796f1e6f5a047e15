// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/weir/DISK/
 *
 *	record	   "on", "on BYTES" or 1 begins a flight recording, "off" or 0 ends it; reading says
 *		   how it is
 *	recording  what was recorded, for `weir rerun`: reading takes it out of the ring
 *	state	   what waits where, and since when; it needs nothing to move
 *	stall	   what to do wrong, to try the watchdog: only if the module has faults=1
 *
 * A recording starts from a drained instance, so the queue is frozen for that moment.
 *
 * The files go with the elevator, which is taken down with the queue frozen and waits for those who
 * are inside. Who is inside must not wait for I/O to that disk then, neither for memory nor to
 * touch a page of the reader's. So debugfs' usual protection, which lasts for the whole call, won't
 * do: what needs the elevator stands between enter() and leave(), and all that may sleep for I/O
 * outside. Freezing the queue is no such thing: where it is frozen already, that is at once.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "mq.h"

#define RING_BYTES SZ_16M
#define RING_BYTES_MAX SZ_1G

static bool faults;
module_param(faults, bool, 0400);
MODULE_PARM_DESC(faults, "for tests: a file in debugfs that makes the scheduler fail");

static struct dentry *top;

/* NULL: the elevator is gone. */
static struct weir_mq *enter(const struct file *file)
{
	return debugfs_file_get(file->f_path.dentry) ? NULL : file_inode(file)->i_private;
}

static void leave(const struct file *file)
{
	debugfs_file_put(file->f_path.dentry);
}

/* debugfs itself is inside while a file is opened. */
static int open_show(struct file *file, int (*show)(struct seq_file *sf, void *v))
{
	unsigned int noio = memalloc_noio_save();
	int ret = single_open(file, show, NULL);

	memalloc_noio_restore(noio);
	return ret;
}

/* ---- record ---- */

static int start(struct weir_mq *mq, void **ring, size_t bytes)
{
	int ret = -EBUSY;

	blk_mq_freeze_queue(mq->q);
	spin_lock_irq(&mq->lock);
	if (!mq->debug.recording) {
		weir_mq_forget_places(mq);
		ret = weir_record_start(mq->w, *ring, bytes, weir_mq_now());
	}
	if (!ret) {
		swap(mq->debug.ring, *ring);
		mq->debug.ring_bytes = bytes;
		mq->debug.recording = true;
	}
	spin_unlock_irq(&mq->lock);
	blk_mq_unfreeze_queue(mq->q);
	return ret;
}

static void stop(struct weir_mq *mq)
{
	spin_lock_irq(&mq->lock);
	if (mq->debug.recording)
		weir_record_stop(mq->w, weir_mq_now());
	mq->debug.recording = false;
	spin_unlock_irq(&mq->lock);
}

/* bytes 0: stop. */
static int start_or_stop(struct file *file, size_t bytes)
{
	void *ring = bytes ? vmalloc(bytes) : NULL;
	struct weir_mq *mq;
	int ret = 0;

	if (bytes && !ring)
		return -ENOMEM;
	mq = enter(file);
	if (!mq)
		ret = -ENODEV;
	else if (bytes)
		ret = start(mq, &ring, bytes);
	else
		stop(mq);
	if (mq)
		leave(file);
	vfree(ring); /* not needed, or that of the recording before */
	return ret;
}

/* Returns the bytes of the ring, 0 for "off", or a negative errno. */
static long parse(char *line)
{
	char *rest = strim(line), *word = strsep(&rest, " ");
	unsigned long bytes = RING_BYTES;
	int ret;

	if (!strcmp(word, "off") || !strcmp(word, "0"))
		return rest ? -EINVAL : 0;
	if (strcmp(word, "on") && strcmp(word, "1"))
		return -EINVAL;
	ret = rest ? kstrtoul(strim(rest), 0, &bytes) : 0;
	if (ret)
		return ret;
	return bytes < WEIR_RECORD_RING_MIN || bytes > RING_BYTES_MAX ? -ERANGE : (long)bytes;
}

static ssize_t record_write(struct file *file, const char __user *user, size_t count, loff_t *pos)
{
	char line[32];
	long ret;

	if (count >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, user, count))
		return -EFAULT;
	line[count] = '\0';
	ret = parse(line);
	if (ret >= 0)
		ret = start_or_stop(file, ret);
	return ret ?: count;
}

static int record_show(struct seq_file *sf, void *v)
{
	struct weir_mq *mq = enter(sf->file);

	if (!mq)
		return -ENODEV;
	spin_lock_irq(&mq->lock);
	seq_printf(sf, "%s used=%zu ring=%zu overflowed=%d\n", mq->debug.recording ? "on" : "off",
		   mq->debug.ring ? weir_record_used(mq->w) : 0, mq->debug.ring_bytes,
		   mq->debug.ring && weir_record_overflowed(mq->w));
	spin_unlock_irq(&mq->lock);
	leave(sf->file);
	return 0;
}

static int record_open(struct inode *inode, struct file *file)
{
	return open_show(file, record_show);
}

static const struct file_operations record_fops = {
	.owner = THIS_MODULE,
	.open = record_open,
	.read = seq_read,
	.write = record_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* ---- recording ---- */

static ssize_t recording_read(struct file *file, char __user *user, size_t count, loff_t *pos)
{
	void *page = (void *)__get_free_page(GFP_KERNEL);
	struct weir_mq *mq;
	ssize_t n = 0;

	if (!page)
		return -ENOMEM;
	mq = enter(file);
	if (mq) {
		spin_lock_irq(&mq->lock);
		if (mq->debug.ring)
			n = weir_record_read(mq->w, page, min_t(size_t, count, PAGE_SIZE));
		spin_unlock_irq(&mq->lock);
		leave(file);
	} else {
		n = -ENODEV;
	}
	/* What can't be handed over is lost. */
	if (n > 0 && copy_to_user(user, page, n))
		n = -EFAULT;
	free_page((unsigned long)page);
	return n;
}

static const struct file_operations recording_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = recording_read,
	.llseek = noop_llseek,
};

/* ---- state ---- */

/* Of a group in which something is going on. */
static void show_group(struct seq_file *sf, struct weir_mq_group *mg, char *path)
{
	struct weir_group_attr attr;
	struct weir_mq_waiter *wt;
	struct weir_load load;
	unsigned int dir;

	*path = '\0';
	weir_group_get(mg->g, &attr);
	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		u32 nr_waiters = 0;

		weir_group_read_load(mg->g, dir, &load);
		list_for_each_entry(wt, &mg->waiters[dir], list)
			nr_waiters++;
		if (!load.queued && !load.held && !load.in_flight && !nr_waiters &&
		    !weir_admitted(mg->g, dir))
			continue;
		if (!*path)
			cgroup_path(mg->pd.blkg->blkcg->css.cgroup, path, PATH_MAX);
		seq_printf(sf, "group=%u %s weight=%u queued=%u held=%u in_flight=%u",
			   weir_group_id(mg->g), dir == WEIR_READ ? "read" : "write", attr.weight,
			   load.queued, load.held, load.in_flight);
		seq_printf(sf, " admitted=%u limit=%u coming=%u tasks=%u path=%s\n",
			   weir_admitted(mg->g, dir), weir_admit_limit(mg->g, dir),
			   mg->pending[dir], nr_waiters, path);
	}
}

static void show_disk(struct seq_file *sf, struct weir_mq *mq)
{
	u64 now = weir_mq_now(), oldest_ns = weir_mq_oldest_ns(mq);
	u64 waiting = weir_nr_waiting(mq->w), held = weir_nr_held(mq->w);

	seq_printf(sf, "policy=%s passed_through=%u let_go=%u",
		   weir_policy_info(weir_current_policy(mq->w))->name, mq->watch.nr_passed,
		   mq->watch.nr_let_go);
	if (mq->watch.passing_ns)
		seq_printf(sf, " passing_through_ms=%llu past_policy=%d",
			   div_u64(now - mq->watch.passing_ns, NSEC_PER_MSEC), mq->watch.past_core);
	seq_printf(sf, "\nqueued=%llu held=%llu in_flight=%llu dispatched=%llu oldest_ms=%llu\n",
		   waiting - held, held, weir_nr_in_flight(mq->w), mq->nr_dispatched,
		   oldest_ns && now > oldest_ns ? div_u64(now - oldest_ns, NSEC_PER_MSEC) : 0);
	seq_printf(sf, "pool=%u pool_used=%u depth=%u starved=%d timer=%d ask=%d", mq->cfg.pool,
		   weir_pool_used(mq->w), mq->cfg.device_depth, mq->starved,
		   hrtimer_active(&mq->timer), mq->ask);
	if (mq->starved && mq->next_ns == WEIR_NEVER)
		seq_puts(sf, " next_us=never\n");
	else
		seq_printf(sf, " next_us=%lld\n",
			   mq->starved ? div_s64((s64)(mq->next_ns - now), NSEC_PER_USEC) : 0);
}

static int state_show(struct seq_file *sf, void *v)
{
	char *path = kzalloc(PATH_MAX, GFP_KERNEL);
	struct weir_mq_group *mg;
	struct weir_mq *mq;

	if (!path)
		return -ENOMEM;
	mq = enter(sf->file);
	if (mq) {
		spin_lock_irq(&mq->lock);
		show_disk(sf, mq);
		list_for_each_entry(mg, &mq->groups, in_groups)
			show_group(sf, mg, path);
		spin_unlock_irq(&mq->lock);
		leave(sf->file);
	}
	kfree(path);
	return mq ? 0 : -ENODEV;
}

static int state_open(struct inode *inode, struct file *file)
{
	return open_show(file, state_show);
}

static const struct file_operations state_fops = {
	.owner = THIS_MODULE,
	.open = state_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

/* ---- disks ---- */

void weir_mq_debug_add(struct weir_mq *mq)
{
	struct dentry *dir = debugfs_create_dir(mq->q->disk->disk_name, top);

	mq->debug.dir = dir;
	debugfs_create_file_unsafe("record", 0600, dir, mq, &record_fops);
	debugfs_create_file_unsafe("recording", 0400, dir, mq, &recording_fops);
	debugfs_create_file_unsafe("state", 0400, dir, mq, &state_fops);
	if (faults)
		debugfs_create_u32("stall", 0600, dir, &mq->watch.stall);
}

/* Waits for those who are inside. */
void weir_mq_debug_remove(struct weir_mq *mq)
{
	debugfs_remove(mq->debug.dir);
	stop(mq);
}

void weir_mq_debugfs_init(void)
{
	top = debugfs_create_dir("weir", NULL);
}

void weir_mq_debugfs_exit(void)
{
	debugfs_remove(top);
}
