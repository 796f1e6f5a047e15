// SPDX-License-Identifier: GPL-2.0-only
/*
 * io.weir.* of each cgroup, with the grammar of cgroup v2:
 *
 *	io.weir.weight	 "default WEIGHT", or "MAJ:MIN WEIGHT" and "MAJ:MIN default"; 1 to 10000
 *	io.weir.max	 "MAJ:MIN rbps=N wbps=N riops=N wiops=N"; "max" is no ceiling
 *	io.weir.low	 the same; 0 is no floor
 *	io.weir.latency	 "MAJ:MIN target=MICROSECONDS"; 0 is none
 *	io.weir.stat	 a line for each disk, read only
 */
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "mq.h"

/* What a rates file is about: where it stands in the attributes, and what "none" is. */
enum rates_of {
	OF_MAX,
	OF_LOW,
};

static struct weir_rates *rates_in(struct weir_group_attr *attr, enum rates_of which)
{
	return which == OF_MAX ? &attr->max : &attr->low;
}

static struct blkcg *seq_blkcg(struct seq_file *sf)
{
	return css_to_blkcg(seq_css(sf));
}

static void print_disk(struct seq_file *sf, struct weir_mq_group *mg)
{
	dev_t dev = disk_devt(mg->mq->q->disk);

	seq_printf(sf, "%u:%u", MAJOR(dev), MINOR(dev));
}

/* ---- weight ---- */

static u64 print_weight(struct seq_file *sf, struct blkg_policy_data *pd, int unused)
{
	struct weir_mq_group *mg = weir_mq_group(pd);

	if (mg->own_weight) {
		print_disk(sf, mg);
		seq_printf(sf, " %u\n", mg->attr.weight);
	}
	return 0;
}

static int weight_show(struct seq_file *sf, void *v)
{
	struct blkcg *blkcg = seq_blkcg(sf);
	struct blkcg_policy_data *cpd = blkcg_to_cpd(blkcg, &weir_mq_blkcg_policy);

	seq_printf(sf, "default %u\n", container_of(cpd, struct weir_mq_cgroup, cpd)->weight);
	blkcg_print_blkgs(sf, blkcg, print_weight, &weir_mq_blkcg_policy, 0, false);
	return 0;
}

static int set_default_weight(struct blkcg *blkcg, u32 weight)
{
	struct blkcg_policy_data *cpd = blkcg_to_cpd(blkcg, &weir_mq_blkcg_policy);
	struct blkcg_gq *blkg;
	int ret = 0;

	spin_lock_irq(&blkcg->lock);
	container_of(cpd, struct weir_mq_cgroup, cpd)->weight = weight;
	hlist_for_each_entry(blkg, &blkcg->blkg_list, blkcg_node) {
		struct blkg_policy_data *pd = blkg_to_pd(blkg, &weir_mq_blkcg_policy);

		if (pd)
			ret = weir_mq_apply(weir_mq_group(pd)) ?: ret;
	}
	spin_unlock_irq(&blkcg->lock);
	return ret;
}

static bool is_weight(u32 weight)
{
	return weight >= WEIR_WEIGHT_MIN && weight <= WEIR_WEIGHT_MAX;
}

/* Opens the disk that a line begins with; what follows is in ctx->body. Ends with blkg_conf_exit. */
static struct weir_mq_group *open_line(struct kernfs_open_file *of, char *buf,
				       struct blkg_conf_ctx *ctx, int *ret)
{
	blkg_conf_init(ctx, buf);
	*ret = blkg_conf_prep(css_to_blkcg(of_css(of)), &weir_mq_blkcg_policy, ctx);
	return *ret ? NULL : weir_mq_group(blkg_to_pd(ctx->blkg, &weir_mq_blkcg_policy));
}

static ssize_t weight_write(struct kernfs_open_file *of, char *buf, size_t nbytes, loff_t off)
{
	struct weir_mq_group *mg;
	struct blkg_conf_ctx ctx;
	u32 weight;
	int ret;

	if (sscanf(buf, "default %u", &weight) == 1 || !strchr(buf, ':')) {
		if (sscanf(buf, "default %u", &weight) != 1 && kstrtou32(strim(buf), 10, &weight))
			return -EINVAL;
		if (!is_weight(weight))
			return -ERANGE;
		return set_default_weight(css_to_blkcg(of_css(of)), weight) ?: nbytes;
	}
	mg = open_line(of, buf, &ctx, &ret);
	if (mg) {
		char *word = strim(ctx.body);

		if (!strcmp(word, "default")) {
			mg->own_weight = false;
		} else if (kstrtou32(word, 10, &weight)) {
			ret = -EINVAL;
		} else if (!is_weight(weight)) {
			ret = -ERANGE;
		} else {
			mg->own_weight = true;
			mg->attr.weight = weight;
		}
		ret = ret ?: weir_mq_apply(mg);
	}
	blkg_conf_exit(&ctx);
	return ret ?: nbytes;
}

/* ---- ceilings and floors ---- */

static const char *const rate_names[] = {"rbps", "wbps", "riops", "wiops"};

static u64 *rate_in(struct weir_rates *r, unsigned int n)
{
	return n < 2 ? &r->bps[n] : &r->iops[n - 2];
}

static u64 print_rates(struct seq_file *sf, struct blkg_policy_data *pd, int which)
{
	struct weir_mq_group *mg = weir_mq_group(pd);
	struct weir_rates *r = rates_in(&mg->attr, which), none;
	struct weir_group_attr fresh;
	unsigned int n;

	weir_group_attr_init(&fresh);
	none = *rates_in(&fresh, which);
	if (!memcmp(r, &none, sizeof(none)))
		return 0;
	print_disk(sf, mg);
	for (n = 0; n < ARRAY_SIZE(rate_names); n++) {
		u64 rate = *rate_in(r, n);

		if (rate == WEIR_UNLIMITED)
			seq_printf(sf, " %s=max", rate_names[n]);
		else
			seq_printf(sf, " %s=%llu", rate_names[n], rate);
	}
	seq_putc(sf, '\n');
	return 0;
}

static int rates_show(struct seq_file *sf, void *v)
{
	blkcg_print_blkgs(sf, seq_blkcg(sf), print_rates, &weir_mq_blkcg_policy,
			  seq_cft(sf)->private, false);
	return 0;
}

static int parse_rate(char *word, struct weir_rates *r, enum rates_of which)
{
	char *value = word;
	unsigned int n;
	u64 rate;

	strsep(&value, "=");
	if (!value)
		return -EINVAL;
	for (n = 0; n < ARRAY_SIZE(rate_names); n++)
		if (!strcmp(word, rate_names[n]))
			break;
	if (n == ARRAY_SIZE(rate_names))
		return -EINVAL;
	if (which == OF_MAX && !strcmp(value, "max"))
		rate = WEIR_UNLIMITED;
	else if (kstrtou64(value, 10, &rate) || (which == OF_MAX && !rate))
		return -EINVAL;
	*rate_in(r, n) = rate;
	return 0;
}

static ssize_t rates_write(struct kernfs_open_file *of, char *buf, size_t nbytes, loff_t off)
{
	enum rates_of which = of_cft(of)->private;
	struct weir_group_attr before;
	struct weir_mq_group *mg;
	struct blkg_conf_ctx ctx;
	char *word;
	int ret;

	mg = open_line(of, buf, &ctx, &ret);
	if (mg) {
		before = mg->attr;
		while (!ret && (word = strsep(&ctx.body, " \t\n")))
			if (*word)
				ret = parse_rate(word, rates_in(&mg->attr, which), which);
		ret = ret ?: weir_mq_apply(mg);
		if (ret)
			mg->attr = before;
	}
	blkg_conf_exit(&ctx);
	return ret ?: nbytes;
}

/* ---- latency targets ---- */

static u64 print_latency(struct seq_file *sf, struct blkg_policy_data *pd, int unused)
{
	struct weir_mq_group *mg = weir_mq_group(pd);

	if (mg->attr.latency_target_ns) {
		print_disk(sf, mg);
		seq_printf(sf, " target=%llu\n", div_u64(mg->attr.latency_target_ns, 1000));
	}
	return 0;
}

static int latency_show(struct seq_file *sf, void *v)
{
	blkcg_print_blkgs(sf, seq_blkcg(sf), print_latency, &weir_mq_blkcg_policy, 0, false);
	return 0;
}

static ssize_t latency_write(struct kernfs_open_file *of, char *buf, size_t nbytes, loff_t off)
{
	struct weir_mq_group *mg;
	struct blkg_conf_ctx ctx;
	u64 us, before;
	int ret;

	mg = open_line(of, buf, &ctx, &ret);
	if (mg) {
		before = mg->attr.latency_target_ns;
		if (sscanf(ctx.body, " target=%llu", &us) != 1 || us > U64_MAX / 1000)
			ret = -EINVAL;
		else
			mg->attr.latency_target_ns = us * 1000;
		ret = ret ?: weir_mq_apply(mg);
		if (ret)
			mg->attr.latency_target_ns = before;
	}
	blkg_conf_exit(&ctx);
	return ret ?: nbytes;
}

/* ---- statistics ---- */

static void print_hist(struct seq_file *sf, struct weir_mq_group *mg, enum weir_dir dir,
		       enum weir_hist_kind kind, const char *name, struct weir_hist *h)
{
	weir_group_read_hist(mg->g, dir, kind, h);
	seq_printf(sf, " %s_mean_us=%llu %s_p50_us=%llu %s_p99_us=%llu %s_max_us=%llu", name,
		   h->count ? div64_u64(h->sum_ns, h->count * 1000) : 0, name,
		   div_u64(weir_hist_percentile_ns(h, 500000), 1000), name,
		   div_u64(weir_hist_percentile_ns(h, 990000), 1000), name,
		   div_u64(h->max_ns, 1000));
}

static u64 print_stat(struct seq_file *sf, struct blkg_policy_data *pd, int unused)
{
	struct weir_mq_group *mg = weir_mq_group(pd);
	struct weir_mq *mq = mg->mq;
	struct weir_group_stats *s;
	struct weir_hist *h;
	unsigned int n;

	/* Under queue_lock: what is needed must come at once, or the line is left out. */
	s = kzalloc(sizeof(*s) + sizeof(*h), GFP_NOWAIT);
	if (!s)
		return 0;
	h = (struct weir_hist *)(s + 1);
	spin_lock(&mq->lock);
	if (!mg->g)
		goto out;
	weir_group_read_stats(mg->g, weir_mq_now(), s);
	print_disk(sf, mg);
	seq_printf(sf, " rbytes=%llu wbytes=%llu rios=%llu wios=%llu merges=%llu", s->dir[0].bytes,
		   s->dir[1].bytes, s->dir[0].completed, s->dir[1].completed,
		   s->dir[0].merged + s->dir[1].merged);
	print_hist(sf, mg, WEIR_READ, WEIR_HIST_QUEUE_WAIT, "rwait", h);
	print_hist(sf, mg, WEIR_READ, WEIR_HIST_SERVICE, "rservice", h);
	print_hist(sf, mg, WEIR_WRITE, WEIR_HIST_QUEUE_WAIT, "wwait", h);
	print_hist(sf, mg, WEIR_WRITE, WEIR_HIST_SERVICE, "wservice", h);
	seq_printf(sf, " device_us=%llu entitled_us=%llu in_use_us=%llu backlogged_us=%llu",
		   div_u64(s->dir[0].device_ns + s->dir[1].device_ns, 1000),
		   div_u64(s->entitled_ns, 1000), div_u64(s->in_use_ns, 1000),
		   div_u64(s->backlogged_ns, 1000));
	for (n = 0; n < WEIR_NR_WAITS; n++)
		seq_printf(sf, " wait_%s_us=%llu", weir_wait_cause_name(n),
			   div_u64(s->wait_ns[n], 1000));
	seq_printf(sf, " floor_deficit_device=%llu floor_deficit_demand=%llu latency_missed=%llu",
		   s->floor_deficit_device_bytes + s->floor_deficit_device_ios,
		   s->floor_deficit_demand_bytes + s->floor_deficit_demand_ios, s->latency_missed);
	seq_putc(sf, '\n');
out:
	spin_unlock(&mq->lock);
	kfree(s);
	return 0;
}

static int stat_show(struct seq_file *sf, void *v)
{
	blkcg_print_blkgs(sf, seq_blkcg(sf), print_stat, &weir_mq_blkcg_policy, 0, false);
	return 0;
}

struct cftype weir_mq_files[] = {
	{
		.name = "weir.weight",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = weight_show,
		.write = weight_write,
	},
	{
		.name = "weir.max",
		.flags = CFTYPE_NOT_ON_ROOT,
		.private = OF_MAX,
		.seq_show = rates_show,
		.write = rates_write,
	},
	{
		.name = "weir.low",
		.flags = CFTYPE_NOT_ON_ROOT,
		.private = OF_LOW,
		.seq_show = rates_show,
		.write = rates_write,
	},
	{
		.name = "weir.latency",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = latency_show,
		.write = latency_write,
	},
	{
		.name = "weir.stat",
		.seq_show = stat_show,
	},
	{},
};
