// SPDX-License-Identifier: GPL-2.0-only
/* The table of findings, and the list of those of this host. */
#define _GNU_SOURCE
#include "cli/doctor/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names that findings show before they only count. */
#define NAMES_SHOWN 3

static const struct {
	const char *name;
	enum severity severity;
	const char *help;
} table[NR_FINDING_IDS] = {
	[IO_WEIGHT_UNREAD] = {"io-weight-unread", SEVERITY_ERROR,
			      "io.weight is set, and iocost is off on the device"},
	[BFQ_WEIGHT_UNREAD] = {"bfq-weight-unread", SEVERITY_ERROR,
			       "BFQ's weights are set, and the scheduler is another"},
	[WEIR_SETTING_UNREAD] = {"weir-setting-unread", SEVERITY_ERROR,
				 "io.weir.* is set, and the scheduler is another"},
	[WEIR_POLICY_LACKS] = {"weir-policy-lacks", SEVERITY_ERROR,
			       "weir runs a policy that does not keep what is set"},
	[SETTING_ON_STACKED] = {"setting-on-stacked", SEVERITY_ERROR,
				"a line names a device on which no requests are scheduled"},
	[SETTING_ON_PARTITION] = {"setting-on-partition", SEVERITY_ERROR,
				  "a line names a partition"},
	[PRIO_UNREAD] = {"prio-unread", SEVERITY_ERROR,
			 "io.prio.class is set, and the scheduler knows no priorities"},
	[IO_LOW_INCOMPLETE] = {"io-low-incomplete", SEVERITY_ERROR,
			       "io.low has rates, but not both idle and latency"},
	[CGROUP_NONE] = {"cgroup-none", SEVERITY_WARNING,
			 "the block I/O controller is in no hierarchy that is mounted"},
	[CGROUP_V1] = {"cgroup-v1", SEVERITY_WARNING, "cgroups are version 1"},
	[CGROUP_HYBRID] = {"cgroup-hybrid", SEVERITY_WARNING,
			   "version 2 is mounted, but block I/O is controlled by version 1"},
	[IO_NOT_ENABLED] = {"io-not-enabled", SEVERITY_WARNING, "no cgroup has the io controller"},
	[WEIGHT_ALONE] = {"weight-alone", SEVERITY_WARNING,
			  "a weight on a cgroup that has no sibling"},
	[WEIGHTS_RESCALED] = {"weights-rescaled", SEVERITY_WARNING,
			      "BFQ has other weights than were asked for"},
	[TWO_CONTROLLERS] = {"two-controllers", SEVERITY_WARNING,
			     "iocost and a scheduler with weights share the device twice"},
	[LEAVES_DIFFER] = {"leaves-differ", SEVERITY_WARNING,
			   "weights count on some of the disks below the device only"},
	[FEW_REQUESTS] = {"few-requests", SEVERITY_WARNING,
			  "nr_requests is small for the number of active cgroups"},
	[WBT_ACTIVE] = {"wbt-active", SEVERITY_WARNING,
			"write-back throttling is on, and weights count"},
	[BFQ_LOW_LATENCY] = {"bfq-low-latency", SEVERITY_WARNING,
			     "BFQ's low_latency overrides weights"},
	[IOCOST_MODEL] = {"iocost-model", SEVERITY_WARNING,
			  "iocost's model contradicts itself or the device"},
	[IOCOST_VRATE] = {"iocost-vrate", SEVERITY_WARNING,
			  "iocost's correction of its model is at its limit"},
	[WRITEBACK_TO_ROOT] = {"writeback-to-root", SEVERITY_WARNING,
			       "buffered writes of a file system count as the root's"},
	[WRITEBACK_NO_MEMORY] = {"writeback-no-memory", SEVERITY_WARNING,
				 "buffered writes count as an ancestor's, for want of memory"},
	[WEIR_OTHER_KERNEL] = {"weir-other-kernel", SEVERITY_WARNING,
			       "weir's module was built for another kernel"},
	[WEIR_REFUSED] = {"weir-refused", SEVERITY_WARNING,
			  "the kernel would refuse to load weir's module"},
	[NOT_READ] = {"not-read", SEVERITY_WARNING, "files that may not be read"},
	[UNEXPECTED] = {"unexpected", SEVERITY_WARNING,
			"a file does not look as the kernel writes it"},
	[PARTITION] = {"partition", SEVERITY_NOTE, "DEV is a partition"},
	[STACKED] = {"stacked", SEVERITY_NOTE, "requests are scheduled below DEV"},
	[MULTIPATH] = {"multipath", SEVERITY_NOTE,
		       "requests are scheduled on hidden paths of an NVMe device"},
	[LOOP_FILE] = {"loop-file", SEVERITY_NOTE, "a loop device over a file"},
	[MD_PARITY] = {"md-parity", SEVERITY_NOTE, "an array's own thread writes"},
	[NO_ELEVATOR] = {"no-elevator", SEVERITY_NOTE, "the device has no scheduler to choose"},
	[IO_NOT_BELOW] = {"io-not-below", SEVERITY_NOTE,
			  "cgroups with processes, but without the io controller"},
	[WEIGHTS_EQUAL] = {"weights-equal", SEVERITY_NOTE, "all siblings have the same weight"},
	[WEIGHTS_IDLE] = {"weights-idle", SEVERITY_NOTE,
			  "of siblings with weights, at most one used the device"},
	[WEIGHT_SPARE] = {"weight-spare", SEVERITY_NOTE,
			  "a weight without effect, beside another of the cgroup that has it"},
	[BFQ_IDLES] = {"bfq-idles", SEVERITY_NOTE, "BFQ waits for a process on flash"},
	[IOCOST_AUTO] = {"iocost-auto", SEVERITY_NOTE,
			 "iocost uses a built-in model of the device"},
	[IOCOST_NO_TARGET] = {"iocost-no-target", SEVERITY_NOTE, "iocost has no latency to keep"},
	[NO_MERGES] = {"no-merges", SEVERITY_NOTE, "merging is switched off"},
	[WBT_DEFAULT] = {"wbt-default", SEVERITY_NOTE,
			 "write-back throttling is on, and no weights count"},
	[ROTATIONAL_GUESS] = {"rotational-guess", SEVERITY_NOTE,
			      "the kernel may be wrong about a spinning disk"},
	[KERNEL_LACKS] = {"kernel-lacks", SEVERITY_NOTE, "cgroup files that this kernel lacks"},
	[ROOT_TASKS] = {"root-tasks", SEVERITY_NOTE, "processes in the root cgroup"},
	[ROOT_IO] = {"root-io", SEVERITY_NOTE, "most of the I/O belongs to no cgroup"},
	[PART_OF_HOST] = {"part-of-host", SEVERITY_NOTE,
			  "only a part of the host's cgroups can be seen"},
	[WEIR_NOT_CHOSEN] = {"weir-not-chosen", SEVERITY_NOTE,
			     "weir is loaded, and the device uses another scheduler"},
	[WEIR_NOT_LOADED] = {"weir-not-loaded", SEVERITY_NOTE,
			     "weir's module is installed and not loaded"},
	[WEIR_NOT_BUILT] = {"weir-not-built", SEVERITY_NOTE,
			    "weir's module is not installed for this kernel"},
};

const char *finding_name(enum finding_id id)
{
	return table[id].name;
}

const char *finding_help(enum finding_id id)
{
	return table[id].help;
}

enum severity finding_severity(enum finding_id id)
{
	return table[id].severity;
}

const char *severity_name(enum severity severity)
{
	static const char *const names[NR_SEVERITIES] = {"error", "warning", "note"};

	return names[severity];
}

static char *format_text(const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		abort();
	return text;
}

struct finding *finding_add(struct doctor *d, enum finding_id id, const char *subject, ...)
{
	struct finding *f;
	va_list args;

	d->finding = doctor_grow(d->finding, d->findings + 1, sizeof(*d->finding));
	f = &d->finding[d->findings++];
	memset(f, 0, sizeof(*f));
	f->id = id;
	d->count[table[id].severity]++;
	va_start(args, subject);
	f->subject = format_text(subject, args);
	va_end(args);
	return f;
}

void finding_says(struct finding *f, const char *format, ...)
{
	va_list args;

	free(f->says);
	va_start(args, format);
	f->says = format_text(format, args);
	va_end(args);
}

void finding_mend(struct finding *f, const char *format, ...)
{
	va_list args;

	free(f->mend);
	va_start(args, format);
	f->mend = format_text(format, args);
	va_end(args);
}

void finding_command(struct finding *f, const char *format, ...)
{
	va_list args;

	free(f->command);
	va_start(args, format);
	f->command = format_text(format, args);
	va_end(args);
}

char *finding_quoted(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "/._:@%+,=-";
	char *text, *out;

	if (*word && strspn(word, plain) == strlen(word))
		return doctor_text("%s", word);
	/* At worst all are quotes, and each becomes four characters. */
	text = out = doctor_grow(NULL, strlen(word) + 1, 4);
	*out++ = '\'';
	for (; *word; word++) {
		if (*word == '\'') {
			memcpy(out, "'\\''", 4);
			out += 4;
		} else {
			*out++ = *word;
		}
	}
	*out++ = '\'';
	*out = 0;
	return text;
}

void finding_write(struct finding *f, const char *value, const char *path, ...)
{
	char *plain, *to, *what = finding_quoted(value);
	va_list args;

	va_start(args, path);
	plain = format_text(path, args);
	va_end(args);
	to = finding_quoted(plain);
	finding_command(f, "echo %s > %s", what, to);
	free(to);
	free(plain);
	free(what);
}

void group_list_add(struct group_list *l, unsigned int group)
{
	/* Settings come ordered by group, so a double is next to its twin. */
	if (l->nr && l->group[l->nr - 1] == group)
		return;
	if (!(l->nr & (l->nr - 1)))
		l->group = doctor_grow(l->group, l->nr ? 2 * (size_t)l->nr : 1, sizeof(*l->group));
	l->group[l->nr++] = group;
}

void finding_groups(struct finding *f, struct group_list *l)
{
	f->group = l->group;
	f->groups = l->nr;
	l->group = NULL;
	l->nr = 0;
}

const char *group_names(const struct doctor *d, const struct group_list *l, char *out, size_t bytes)
{
	const char *path;
	unsigned int i;
	size_t used = 0;

	out[0] = 0;
	for (i = 0; i < l->nr && i < NAMES_SHOWN && used < bytes; i++) {
		path = d->groups.group[l->group[i]].path;
		used += (size_t)snprintf(out + used, bytes - used, "%s%.120s%s",
					 !i		  ? ""
					 : i + 1 == l->nr ? " and "
							  : ", ",
					 path, strlen(path) > 120 ? "..." : "");
	}
	if (l->nr > NAMES_SHOWN && used < bytes)
		snprintf(out + used, bytes - used, " and %u more", l->nr - NAMES_SHOWN);
	return out;
}

/* By severity; within one as they were found, which is from the device outwards. */
void findings_sort(struct doctor *d)
{
	struct finding *sorted = doctor_grow(NULL, d->findings + 1, sizeof(*sorted));
	unsigned int i, severity, nr = 0;

	for (severity = 0; severity < NR_SEVERITIES; severity++)
		for (i = 0; i < d->findings; i++)
			if (table[d->finding[i].id].severity == severity)
				sorted[nr++] = d->finding[i];
	free(d->finding);
	d->finding = sorted;
}

void findings_free(struct doctor *d)
{
	unsigned int i;

	for (i = 0; i < d->findings; i++) {
		free(d->finding[i].subject);
		free(d->finding[i].says);
		free(d->finding[i].mend);
		free(d->finding[i].command);
		free(d->finding[i].group);
	}
	free(d->finding);
}
