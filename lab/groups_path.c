// SPDX-License-Identifier: GPL-2.0-only
/* Names of groups: what a job's cgroup= and a section of the groups file have in common. */
#include <ctype.h>
#include <string.h>

#include "lab/groups_build.h"

#define STRING(x) #x
#define AS_TEXT(x) STRING(x)

const char *group_path(struct fio_pool *pool, const char *text, char **out)
{
	const char *s, *end;
	unsigned int depth = 0;

	if (*text == '/')
		text++;
	*out = fio_pool_strdup(pool, text);
	for (s = text; *s; s++)
		if (iscntrl((unsigned char)*s))
			return "a path without control characters is accepted";
	for (s = text; *text; s = end + 1) {
		end = s + strcspn(s, "/");
		if (end == s)
			return "a path without empty parts is accepted, such as a/b";
		if ((end - s == 1 && s[0] == '.') || (end - s == 2 && s[0] == '.' && s[1] == '.'))
			return "a path without . and .. is accepted, such as a/b";
		if (end - s > GROUP_NAME_MAX)
			return "names of at most " AS_TEXT(GROUP_NAME_MAX) " bytes are accepted";
		if (++depth > WEIR_GROUP_DEPTH_MAX)
			return "groups nested at most " AS_TEXT(
				WEIR_GROUP_DEPTH_MAX) " deep are accepted";
		if (!*end)
			break;
	}
	return NULL;
}
