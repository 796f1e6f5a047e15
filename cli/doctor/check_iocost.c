// SPDX-License-Identifier: GPL-2.0-only
/*
 * iocost where it is on: is its model one of this device, and does it get by with it?
 *
 * The six coefficients are bytes and 4 KiB I/Os per second. They must fit each other (a page of random
 * I/O cannot be cheaper than its bytes, nor than one of sequential I/O by much) and the kind of disk.
 * The built-in sets pass all of these tests; a coefficient with a digit too many does not.
 */
#include <stdio.h>
#include <string.h>

#include "cli/doctor/findings.h"

#define PAGE_BYTES 4096

/* No spinning disk does more random I/Os in a second, no flash fewer. */
#define SPINNING_IOPS_MAX 5000
#define FLASH_IOPS_MIN 500

/* Room for what measuring brings: a tenth over the bytes, and twice the sequential figure. */
static bool contradicts(uint64_t bps, uint64_t seq, uint64_t rand, const char *way, char *out,
			size_t bytes)
{
	if (!bps || !seq || !rand)
		snprintf(out, bytes, "a coefficient for %s is 0 or missing", way);
	else if (rand / 2 > seq)
		snprintf(out, bytes, "%llu random %s a second against %llu sequential ones",
			 (unsigned long long)rand, way, (unsigned long long)seq);
	else if (rand > bps / PAGE_BYTES + bps / PAGE_BYTES / 10)
		snprintf(out, bytes,
			 "%llu random %s of 4 KiB a second are more bytes than the %llu that it "
			 "allows",
			 (unsigned long long)rand, way, (unsigned long long)bps);
	else
		return false;
	return true;
}

static void check_model(struct doctor *d, const struct doctor_node *n)
{
	uint64_t r[3] = {0}, w[3] = {0};
	char why[160];
	struct finding *f;
	bool bad;

	if (!n->cost_model[0])
		return;
	doctor_key_number(n->cost_model, "rbps", &r[0]);
	doctor_key_number(n->cost_model, "rseqiops", &r[1]);
	doctor_key_number(n->cost_model, "rrandiops", &r[2]);
	doctor_key_number(n->cost_model, "wbps", &w[0]);
	doctor_key_number(n->cost_model, "wseqiops", &w[1]);
	doctor_key_number(n->cost_model, "wrandiops", &w[2]);
	bad = contradicts(r[0], r[1], r[2], "reads", why, sizeof(why)) ||
	      contradicts(w[0], w[1], w[2], "writes", why, sizeof(why));
	if (!bad && n->has_rotational && n->rotational && r[2] > SPINNING_IOPS_MAX) {
		bad = true;
		snprintf(why, sizeof(why), "%llu random reads a second, and the disk spins",
			 (unsigned long long)r[2]);
	} else if (!bad && n->has_rotational && !n->rotational && r[2] < FLASH_IOPS_MIN) {
		bad = true;
		snprintf(why, sizeof(why), "%llu random reads a second, and the disk is flash",
			 (unsigned long long)r[2]);
	}
	if (bad) {
		f = finding_add(d, IOCOST_MODEL, "io.cost.model of %s", n->name);
		finding_says(f, "iocost's model can't be right: %s.", why);
		finding_mend(f,
			     "Measure the disk (iocost_coef_gen.py in the kernel's tools/cgroup) "
			     "and write the six coefficients, or go back to the built-in ones.");
		snprintf(why, sizeof(why), "%s ctrl=auto", node_number(n));
		finding_write(f, why, "%s/io.cost.model", cgroup_mount(d));
	} else if (strstr(n->cost_model, "ctrl=auto")) {
		f = finding_add(d, IOCOST_AUTO, "io.cost.model of %s", n->name);
		finding_says(f,
			     "iocost prices I/O on %s by a built-in model of some disk of that "
			     "kind.",
			     n->name);
		finding_mend(f, "Measure this one: iocost_coef_gen.py in the kernel's tools/cgroup "
				"prints the line.");
	}
}

static void check_qos(struct doctor *d, const struct doctor_node *n)
{
	uint64_t rpct = 0, wpct = 0, min = 0, max = 0;
	struct finding *f;
	bool low, high;
	char value[96];

	doctor_key_percent100(n->qos, "rpct", &rpct);
	doctor_key_percent100(n->qos, "wpct", &wpct);
	doctor_key_percent100(n->qos, "min", &min);
	doctor_key_percent100(n->qos, "max", &max);
	if (n->qos[0] && !rpct && !wpct) {
		f = finding_add(d, IOCOST_NO_TARGET, "io.cost.qos of %s", n->name);
		finding_says(f,
			     "iocost has no latency to keep (rpct and wpct are 0): it notices that "
			     "%s is full only when requests run out.",
			     n->name);
		finding_mend(f, "Give it what you would accept, microseconds.");
		snprintf(value, sizeof(value), "%s enable=1 rpct=95 rlat=5000 wpct=95 wlat=10000",
			 node_number(n));
		finding_write(f, value, "%s/io.cost.qos", cgroup_mount(d));
	}
	/* With several disks it isn't known whose rate that is. */
	low = min && d->groups.vrate_percent100 <= min;
	high = max && d->groups.vrate_percent100 >= max;
	if (!d->groups.vrate_percent100 || min >= max || (!low && !high))
		return;
	f = finding_add(d, IOCOST_VRATE, "io.cost.qos of %s", n->name);
	finding_says(
		f,
		"iocost corrects its model by %llu.%02llu %%, the %s that it may: %s is %s than "
		"the model says.",
		(unsigned long long)(d->groups.vrate_percent100 / 100),
		(unsigned long long)(d->groups.vrate_percent100 % 100), low ? "least" : "most",
		n->name, low ? "slower" : "faster");
	finding_mend(f, "Measure the disk anew and write io.cost.model.");
}

void check_iocost(struct doctor *d)
{
	unsigned int i;

	for (i = 0; i < d->stack.nr; i++) {
		if (!d->stack.node[i].iocost)
			continue;
		check_model(d, &d->stack.node[i]);
		check_qos(d, &d->stack.node[i]);
	}
}
