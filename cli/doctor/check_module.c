// SPDX-License-Identifier: GPL-2.0-only
/* weir itself: is its module there, would it load; and what this examination could not see. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/findings.h"

static void check_refused(struct doctor *d)
{
	const struct doctor_host *h = &d->host;
	struct finding *f;

	if (h->modules_disabled) {
		f = finding_add(d, WEIR_REFUSED, "kernel.modules_disabled");
		finding_says(f,
			     "kernel.modules_disabled is 1: no module can be loaded until the next "
			     "start.");
		finding_mend(f, "Load weir before that is set, early at start.");
		finding_write(f, "weir", "/etc/modules-load.d/weir.conf");
		return;
	}
	if (!h->signed_only && (!h->lockdown[0] || !strcmp(h->lockdown, "none")))
		return;
	f = finding_add(d, WEIR_REFUSED, "%s", h->signed_only ? "module.sig_enforce" : "lockdown");
	finding_says(f,
		     "%s: the kernel refuses modules that are not signed with a key that it knows.",
		     h->signed_only ? "Signatures are enforced" : "The kernel is locked down");
	finding_mend(f,
		     "Sign the module and enrol the key (DKMS does both with mokutil), or switch "
		     "secure boot off.");
	finding_command(f, "mokutil --import /var/lib/dkms/mok.pub");
}

static void check_chosen(struct doctor *d)
{
	const struct doctor_node *first = NULL;
	struct finding *f;
	unsigned int i;

	for (i = d->stack.nr; i-- > 0;)
		if (d->stack.node[i].acts && d->stack.node[i].elevator &&
		    strcmp(d->stack.node[i].scheduler, "weir") != 0)
			first = &d->stack.node[i];
	if (!first)
		return;
	f = finding_add(d, WEIR_NOT_CHOSEN, "%s", first->name);
	finding_says(f, "weir is loaded, and the scheduler of %s is %s.", first->name,
		     first->scheduler);
	finding_mend(f, "To use it, choose it.");
	finding_write(f, "weir", "/sys/block/%s/queue/scheduler", first->name);
}

void check_module(struct doctor *d)
{
	const struct doctor_host *h = &d->host;
	struct finding *f;
	bool elevator = false;
	char *path;
	unsigned int i;

	for (i = 0; i < d->stack.nr; i++)
		elevator |= d->stack.node[i].acts && d->stack.node[i].elevator;
	if (!elevator)
		return;
	if (h->weir_loaded) {
		check_chosen(d);
		return;
	}
	check_refused(d);
	if (h->weir_module) {
		f = finding_add(d, WEIR_NOT_LOADED, "%s", h->weir_module);
		finding_says(f, "weir's module is installed for this kernel and not loaded.");
		finding_mend(f, "To use it, load it and choose it.");
		path = finding_quoted(h->weir_module);
		finding_command(f, "modprobe weir || insmod %s", path);
		free(path);
	} else if (h->weir_other) {
		f = finding_add(d, WEIR_OTHER_KERNEL, "%s", h->weir_other);
		finding_says(f, "weir's module was built for another kernel than %s, which runs.",
			     h->release);
		finding_mend(f, "Build it for this one.");
		finding_command(f, "make kernel KERNEL=%s", h->release);
	} else {
		f = finding_add(d, WEIR_NOT_BUILT, "%s", h->release);
		finding_says(f, "weir's module is not installed for this kernel.");
		finding_mend(f,
			     "To use it, build it; docs/kernel.md in weir's sources says for which "
			     "kernels.");
		finding_command(f, "make kernel KERNEL=%s", h->release);
	}
}

/* "a; b; c and 4 more" */
static void join(const struct tree_lines *l, const char *between, char *out, size_t bytes)
{
	const unsigned int shown = l->nr < TREE_LINES_MAX ? l->nr : TREE_LINES_MAX;
	size_t used = 0;
	unsigned int i;

	out[0] = 0;
	for (i = 0; i < shown && used < bytes; i++)
		used += (size_t)snprintf(out + used, bytes - used, "%s%s", i ? between : "",
					 l->line[i]);
	if (l->nr > shown && used < bytes)
		snprintf(out + used, bytes - used, " and %u more", l->nr - shown);
}

void check_reading(struct doctor *d)
{
	struct finding *f;
	char list[4096];
	unsigned int i;

	if (d->tree.denied.nr) {
		join(&d->tree.denied, ", ", list, sizeof(list));
		f = finding_add(d, NOT_READ, "%u file%s", d->tree.denied.nr,
				d->tree.denied.nr == 1 ? "" : "s");
		finding_says(f, "Not permitted to read: %s.", list);
		finding_mend(f, "Run this as root to have them looked at.");
	}
	for (i = 0; i < d->tree.odd.nr && i < TREE_LINES_MAX; i++) {
		f = finding_add(d, UNEXPECTED, "%.*s",
				(int)(strstr(d->tree.odd.line[i], ": ") - d->tree.odd.line[i]),
				d->tree.odd.line[i]);
		finding_says(f, "%s%s", d->tree.odd.line[i],
			     i + 1 == TREE_LINES_MAX && d->tree.odd.nr > TREE_LINES_MAX
				     ? "; there are more such files"
				     : "");
		finding_mend(f, "It was taken as if it were not there.");
	}
}
