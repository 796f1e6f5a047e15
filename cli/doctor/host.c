// SPDX-License-Identifier: GPL-2.0-only
/* The host: its kernel, where weir's module is, what would refuse it, who is in the root cgroup. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/facts.h"

/* Deep enough for /lib/modules/RELEASE/updates/dkms and /extra/weir. */
#define MODULE_DIRS_DEPTH 3
#define ROOT_TASKS_MAX 4096

/* weir.ko, weir-RELEASE.ko, compressed or not; not weird.ko */
static bool is_module(const char *name)
{
	return !strncmp(name, "weir", 4) && (name[4] == '.' || name[4] == '-') &&
	       strstr(name, ".ko") != NULL;
}

/* The path of a module of ours below dir, or NULL. */
static char *find_module(struct doctor_tree *t, const char *dir, unsigned int depth)
{
	char **names = tree_names(t, dir), *found = NULL, *path;
	size_t i;

	for (i = 0; names[i] && !found; i++) {
		path = doctor_text("%s/%s", dir, names[i]);
		if (is_module(names[i])) {
			found = path;
			continue;
		}
		if (depth)
			found = find_module(t, path, depth - 1);
		free(path);
	}
	tree_names_free(names);
	return found;
}

static char *module_of(struct doctor_tree *t, const char *release)
{
	/* Not below kernel/: that is the distribution's own, thousands of files. */
	static const char *const places[] = {"extra", "updates", "misc", "weir"};
	char *dir, *found = NULL;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]) && !found; i++) {
		dir = doctor_text("/lib/modules/%s/%s", release, places[i]);
		found = find_module(t, dir, MODULE_DIRS_DEPTH);
		free(dir);
	}
	return found;
}

static void read_modules(struct doctor_tree *t, struct doctor_host *h)
{
	char **names;
	size_t i;

	h->weir_loaded = tree_exists(t, "/sys/module", "weir");
	h->weir_module = module_of(t, h->release);
	if (h->weir_module)
		return;
	names = tree_names(t, "/lib/modules");
	for (i = 0; names[i] && !h->weir_other; i++)
		h->weir_other = module_of(t, names[i]);
	tree_names_free(names);
}

static void read_refusals(struct doctor_tree *t, struct doctor_host *h)
{
	char line[128], *open, *close;

	if (tree_line(t, line, sizeof(line), "/sys/kernel/security", "lockdown")) {
		open = strchr(line, '[');
		close = open ? strchr(open, ']') : NULL;
		if (close)
			snprintf(h->lockdown, sizeof(h->lockdown), "%.*s", (int)(close - open - 1),
				 open + 1);
		else
			tree_odd(t, "/sys/kernel/security/lockdown", "has no choice in brackets");
	}
	if (tree_line(t, line, sizeof(line), "/sys/module/module/parameters", "sig_enforce"))
		h->signed_only = line[0] == 'Y' || line[0] == '1';
	if (tree_line(t, line, sizeof(line), "/proc/sys/kernel", "modules_disabled"))
		h->modules_disabled = line[0] == '1';
}

/* The kernel's own threads have no command line; they belong in the root cgroup. */
static void read_root_tasks(struct doctor_tree *t, struct doctor_host *h)
{
	char *path = doctor_text("%s/cgroup.procs", h->cgroups == CGROUPS_V2 ? h->v2 : h->v1);
	char *text = tree_read(t, 1 << 20, path), *line, *save, dir[48], name[32];
	unsigned int seen = 0;
	size_t used = 0;

	for (line = text ? strtok_r(text, "\n", &save) : NULL; line && seen++ < ROOT_TASKS_MAX;
	     line = strtok_r(NULL, "\n", &save)) {
		snprintf(dir, sizeof(dir), "/proc/%.20s", line);
		if (strspn(line, "0123456789") != strlen(line) ||
		    (t->live && strtol(line, NULL, 10) == getpid()))
			continue;
		if (!tree_has_bytes(t, dir, "cmdline"))
			continue;
		if (tree_line(t, name, sizeof(name), dir, "comm") && h->root_tasks < 4)
			used += (size_t)snprintf(h->root_names + used, sizeof(h->root_names) - used,
						 "%s%s", used ? ", " : "", name);
		h->root_tasks++;
	}
	free(text);
	free(path);
}

void doctor_host_read(struct doctor_tree *t, struct doctor_host *h)
{
	tree_line(t, h->release, sizeof(h->release), "/proc/sys/kernel", "osrelease");
	h->systemd = tree_exists(t, "/run", "systemd/system");
	read_modules(t, h);
	read_refusals(t, h);
	if (h->cgroups != CGROUPS_NONE)
		read_root_tasks(t, h);
}

void doctor_host_free(struct doctor_host *h)
{
	unsigned int i;

	for (i = 0; i < h->mounts; i++) {
		free(h->mount[i].where);
		free(h->mount[i].type);
		free(h->mount[i].options);
	}
	free(h->mount);
	free(h->weir_module);
	free(h->weir_other);
	free(h->v1);
	free(h->v2);
}
