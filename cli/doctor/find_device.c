// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which device is meant: a path (/dev/sda1, /dev/mapper/vg-lv), the kernel's name (sda1), or a number
 * (8:1).
 *
 * In a copied tree there may be no device nodes, since it takes root to make them: there the last part
 * of the path, after symbolic links, is taken for the kernel's name.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/doctor/facts.h"

#define CLASS "/sys/class/block"

/* "; there are sda, sdb, ..." */
static void list_devices(struct doctor_tree *t, char *out, size_t bytes)
{
	char **names = tree_names(t, "/sys/block");
	size_t used = 0, i;

	out[0] = 0;
	for (i = 0; i < 12 && names[i] && used < bytes; i++)
		used += (size_t)snprintf(out + used, bytes - used, "%s%.31s", i ? ", " : "",
					 names[i]);
	if (names[i] && used < bytes)
		snprintf(out + used, bytes - used, ", ...");
	if (!i)
		snprintf(out, bytes, "none: /sys/block is empty");
	tree_names_free(names);
}

static bool unknown(struct doctor_tree *t, const char *typed, const char *why, char *err,
		    size_t err_bytes)
{
	char all[512];

	list_devices(t, all, sizeof(all));
	snprintf(err, err_bytes,
		 "%s: %s; DEV is a path, a name or MAJ:MIN of a block device; there are %s", typed,
		 why, all);
	return false;
}

/* The name in sysfs: DEVNAME with "!" for "/". */
static bool name_by_number(struct doctor_tree *t, const char *number, char *name, size_t bytes)
{
	char *path = doctor_text("/sys/dev/block/%s/uevent", number);
	char *text = tree_read(t, 4096, path), *at = text ? strstr(text, "DEVNAME=") : NULL;
	bool found = false;

	if (at && (at == text || at[-1] == '\n')) {
		at += strlen("DEVNAME=");
		at[strcspn(at, "\n")] = 0;
		found = *at && strlen(at) < bytes;
		snprintf(name, bytes, "%s", at);
		while ((at = strchr(name, '/')))
			*at = '!';
	}
	free(text);
	free(path);
	return found;
}

static bool by_name(struct doctor_tree *t, const char *typed, char *name, size_t bytes)
{
	if (!*typed || strlen(typed) >= bytes || !strcmp(typed, ".") || !strcmp(typed, ".."))
		return false;
	snprintf(name, bytes, "%s", typed);
	return tree_exists(t, CLASS, name);
}

/*
 * Where a path leads to, by name: the last part of the file's real path; of what it links to, if that
 * isn't there; or of the path.
 */
static bool by_last_part(struct doctor_tree *t, int fd, const char *typed, char *name, size_t bytes)
{
	char link[64], target[PATH_MAX];
	const char *path = typed, *last;
	ssize_t got = -1;
	int link_fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (fd >= 0) {
		got = readlink(link, target, sizeof(target) - 1);
	} else if ((link_fd = tree_fd(t, O_PATH | O_NOFOLLOW, typed)) >= 0) {
		got = readlinkat(link_fd, "", target, sizeof(target) - 1);
		close(link_fd);
	}
	if (got > 0) {
		target[got] = 0;
		path = target;
	}
	last = strrchr(path, '/');
	return by_name(t, last ? last + 1 : path, name, bytes);
}

static const char *kind_of(mode_t mode)
{
	if (S_ISDIR(mode))
		return "is a directory";
	if (S_ISCHR(mode))
		return "is a character device";
	if (S_ISREG(mode))
		return "is a regular file";
	return "is not a block device";
}

static bool by_path(struct doctor_tree *t, const char *typed, char *name, size_t bytes, char *err,
		    size_t err_bytes)
{
	/* On the host itself a relative path is one from here. */
	int fd = t->live ? open(typed, O_PATH | O_CLOEXEC) : tree_fd(t, O_PATH, typed);
	const int why = t->live ? errno : -fd;
	char number[32];
	bool found = false;
	struct stat st;

	if (fd < 0 && (t->live || why != ENOENT))
		return unknown(t, typed, strerror(why), err, err_bytes);
	memset(&st, 0, sizeof(st));
	if (fd >= 0 && fstat(fd, &st))
		st.st_mode = 0;
	if (S_ISBLK(st.st_mode)) {
		snprintf(number, sizeof(number), "%u:%u", major(st.st_rdev), minor(st.st_rdev));
		found = name_by_number(t, number, name, bytes);
	}
	if (!found && !t->live && !S_ISDIR(st.st_mode) && !S_ISCHR(st.st_mode))
		found = by_last_part(t, fd, typed, name, bytes);
	if (fd >= 0)
		close(fd);
	if (found)
		return true;
	if (S_ISBLK(st.st_mode))
		return unknown(t, typed, "the kernel does not list this device in /sys/dev/block",
			       err, err_bytes);
	return unknown(t, typed, fd < 0 ? "no such device" : kind_of(st.st_mode), err, err_bytes);
}

bool doctor_find_device(struct doctor_tree *t, const char *typed, char *name, size_t name_bytes,
			char *err, size_t err_bytes)
{
	const size_t digits = strspn(typed, "0123456789");

	if (strchr(typed, '/'))
		return by_path(t, typed, name, name_bytes, err, err_bytes);
	if (digits && typed[digits] == ':' && isdigit((unsigned char)typed[digits + 1]) &&
	    !typed[digits + 1 + strspn(typed + digits + 1, "0123456789")]) {
		if (name_by_number(t, typed, name, name_bytes))
			return true;
		return unknown(t, typed, "no block device has this number", err, err_bytes);
	}
	if (by_name(t, typed, name, name_bytes))
		return true;
	return unknown(t, *typed ? typed : "(empty)", "no such device", err, err_bytes);
}
