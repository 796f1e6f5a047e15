// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report to read: what was looked at, then the findings, worst first, then the count.
 *
 * Lines end before column 100, except commands, which stay whole so that they can be copied. Names come
 * from the host and may hold anything: control characters are shown as \xNN.
 */
#include "cli/doctor/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 99
#define LABEL 11
#define INDENT 4
#define LINES_MAX 8 /* of schedulers, so that an array of many disks leaves room for the findings */

static void put_safe(const char *text, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c == 0x7f)
			printf("\\x%02x", c);
		else
			putchar(c);
	}
}

/* Characters, not bytes; a control character takes four. */
static int width_of(const char *text, size_t bytes)
{
	int width = 0;
	size_t i;

	for (i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c == 0x7f)
			width += 4;
		else
			width += (c & 0xc0) != 0x80;
	}
	return width;
}

/* The bytes of a word that fit columns, at least one character. */
static size_t fit(const char *word, size_t bytes, int columns)
{
	size_t n = 1;

	while (n < bytes &&
	       (((unsigned char)word[n] & 0xc0) == 0x80 || width_of(word, n + 1) <= columns))
		n++;
	return n;
}

/*
 * From the column at, breaking at blanks, and words that are longer than a line wherever it ends;
 * further lines begin at the column indent.
 */
static void put_wrapped(const char *text, int at, int indent)
{
	bool first = true;
	size_t bytes;

	for (; *text; text += bytes + strspn(text + bytes, " ")) {
		const int room = COLUMNS - (first ? at : indent);

		bytes = strcspn(text, " ");
		if (width_of(text, bytes) > room)
			bytes = fit(text, bytes, room);
		const int width = width_of(text, bytes);

		if (!first && at + 1 + width > COLUMNS) {
			printf("\n%*s", indent, "");
			at = indent;
		} else if (!first) {
			putchar(' ');
			at++;
		}
		put_safe(text, bytes);
		at += width;
		first = false;
	}
	putchar('\n');
}

static void put_row(const char *label, char *text)
{
	printf("%-*s", LABEL, label);
	put_wrapped(text, LABEL, LABEL);
	free(text);
}

/* ---- what was looked at ---- */

static char *node_text(const struct doctor_node *n)
{
	static const char *const kinds[] = {
		[NODE_DISK] = "", [NODE_PARTITION] = "partition", [NODE_DM] = "",
		[NODE_MD] = "",	  [NODE_LOOP] = "file",		  [NODE_NVME_HEAD] = "multipath",
	};
	const char *kind = kinds[n->kind];

	return doctor_text("%s%s%s%s%s%s%s%s", n->name,
			   n->dev[0] || *kind || n->what[0] ? " (" : "", n->dev,
			   n->dev[0] && (*kind || n->what[0]) ? ", " : "", kind,
			   *kind && n->what[0] ? " " : "", n->what,
			   n->dev[0] || *kind || n->what[0] ? ")" : "");
}

static void print_stack(const struct doctor *d)
{
	const struct doctor_stack *s = &d->stack;
	unsigned int i, k, nr;
	char *names, *more;

	if (s->node[0].model[0])
		put_row("device", doctor_text("%s (%s), %s", s->node[0].name, s->node[0].dev,
					      s->node[0].model));
	else
		put_row("device", node_text(&s->node[0]));
	for (i = 0; i < s->nr; i++) {
		if (!s->node[i].below)
			continue;
		names = doctor_text("%s on", s->node[i].name);
		for (k = nr = 0; k < s->nr; k++) {
			char *one;

			if (s->node[k].above != (int)i)
				continue;
			one = node_text(&s->node[k]);
			more = doctor_text("%s%s %s", names, nr++ ? "," : "", one);
			free(one);
			free(names);
			names = more;
		}
		if (nr)
			put_row(i ? "" : "stack", names);
		else
			free(names);
	}
}

/* As in sysfs: "none [mq-deadline] bfq". */
static char *choices_text(const struct doctor_node *n)
{
	char *copy, *text, *more, *word, *save;

	if (!n->elevator)
		return doctor_text("none");
	copy = doctor_text("%s", n->choices);
	text = doctor_text("%s", "");
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		const bool chosen = !strcmp(word, n->scheduler);

		more = doctor_text("%s%s%s%s%s", text, *text ? " " : "", chosen ? "[" : "", word,
				   chosen ? "]" : "");
		free(text);
		text = more;
	}
	free(copy);
	return text;
}

static void print_schedulers(const struct doctor *d)
{
	unsigned int i, nr = 0, left = 0;
	char *choices, *policy, *wbt;

	for (i = 0; i < d->stack.nr; i++) {
		const struct doctor_node *n = &d->stack.node[i];

		if (!n->acts)
			continue;
		if (nr++ >= LINES_MAX) {
			left++;
			continue;
		}
		if (!n->mq) {
			put_row(nr == 1 ? "scheduler" : "",
				doctor_text("%s: no queue of requests", n->name));
			continue;
		}
		choices = choices_text(n);
		policy = n->policy[0] ? doctor_text(" (policy %s)", n->policy)
				      : doctor_text("%s", "");
		wbt = n->has_wbt && n->wbt_us ? doctor_text(", write-back throttling %llu us",
							    (unsigned long long)n->wbt_us)
					      : doctor_text("%s", "");
		put_row(nr == 1 ? "scheduler" : "",
			doctor_text("%s: %s%s%s; %llu requests, %s%s%s%s%s", n->name, choices,
				    policy, n->iocost ? ", with iocost" : "",
				    (unsigned long long)n->nr_requests,
				    n->rotational ? "spinning" : "not spinning",
				    n->write_cache[0] ? ", " : "", n->write_cache,
				    n->nomerges ? ", merging limited" : "", wbt));
		free(choices);
		free(policy);
		free(wbt);
	}
	if (left)
		put_row("", doctor_text("and %u more", left));
}

static char *list_files(const struct doctor_groups *g, const unsigned int *set)
{
	char *text = doctor_text("%s", ""), *more;
	unsigned int i;

	for (i = 0; i < NR_SETTING_FILES; i++) {
		if (!(set ? set[i] : (unsigned int)g->has[i]))
			continue;
		more = set ? doctor_text("%s%s%s (%u)", text, *text ? ", " : "",
					 doctor_file_name((enum setting_file)i), set[i])
			   : doctor_text("%s%s%s", text, *text ? " " : "",
					 doctor_file_name((enum setting_file)i));
		free(text);
		text = more;
	}
	return text;
}

static void print_host(const struct doctor *d)
{
	static const char *const versions[] = {
		[CGROUPS_NONE] = "none",
		[CGROUPS_V2] = "version 2",
		[CGROUPS_V1] = "version 1",
		[CGROUPS_HYBRID] = "version 1, with version 2 beside it,",
	};
	const struct doctor_groups *g = &d->groups;
	char *has = list_files(g, NULL), *set = list_files(g, g->set);

	put_row("kernel",
		doctor_text("%s, weir %s", d->host.release[0] ? d->host.release : "unknown",
			    d->host.weir_loaded ? "loaded" : "not loaded"));
	if (d->host.cgroups == CGROUPS_NONE)
		put_row("cgroups", doctor_text("none mounted"));
	else
		put_row("cgroups",
			doctor_text("%s at %s, %u below the root, %u of them with block I/O",
				    versions[d->host.cgroups], cgroup_mount(d),
				    g->nr ? g->nr - 1 : 0, g->with_io));
	if (*has)
		put_row("files", doctor_text("%s", has));
	put_row("lines set", doctor_text("%s", *set ? set : "none"));
	free(has);
	free(set);
}

/* ---- findings ---- */

static void print_finding(const struct finding *f)
{
	char *head = doctor_text("%s: %s (%s)", severity_name(finding_severity(f->id)), f->subject,
				 finding_name(f->id));

	putchar('\n');
	put_wrapped(head, 0, INDENT);
	free(head);
	if (f->says) {
		printf("%*s", INDENT, "");
		put_wrapped(f->says, INDENT, INDENT);
	}
	if (f->mend) {
		printf("%*s", INDENT, "");
		put_wrapped(f->mend, INDENT, INDENT);
	}
	if (f->command) {
		printf("%*s", 2 * INDENT, "");
		put_safe(f->command, strlen(f->command));
		putchar('\n');
	}
}

static const char *plural(unsigned int n)
{
	return n == 1 ? "" : "s";
}

static void print_count(const struct doctor *d)
{
	const unsigned int *n = d->count;

	putchar('\n');
	if (n[SEVERITY_ERROR])
		printf("%u setting%s no effect; ", n[SEVERITY_ERROR],
		       n[SEVERITY_ERROR] == 1 ? " has" : "s have");
	else
		printf("No setting without effect; ");
	printf("%u warning%s, %u note%s.\n", n[SEVERITY_WARNING], plural(n[SEVERITY_WARNING]),
	       n[SEVERITY_NOTE], plural(n[SEVERITY_NOTE]));
}

void doctor_print(const struct doctor *d)
{
	unsigned int i;

	print_stack(d);
	print_schedulers(d);
	print_host(d);
	for (i = 0; i < d->findings; i++)
		print_finding(&d->finding[i]);
	print_count(d);
}
