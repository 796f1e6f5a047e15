// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives a fuzz target the files of a directory, without libFuzzer: the seeds and the past finds as
 * a regression test for any compiler. Prints one TAP line a file.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Larger ones would be a mistake in the corpus. */
#define INPUT_BYTES_MAX (1u << 20)

static void replay(const char *dir, const char *name)
{
	uint8_t *data = malloc(INPUT_BYTES_MAX);
	char path[4096];
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "rb");
	if (!f || !data) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	size = fread(data, 1, INPUT_BYTES_MAX, f);
	fclose(f);
	/* A block of the exact size, so that a sanitizer sees the first byte too many. */
	data = realloc(data, size ? size : 1);
	if (!data)
		exit(1);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
}

int main(int argc, char **argv)
{
	struct dirent **entry;
	int i, nr, files = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	nr = scandir(argv[1], &entry, NULL, alphasort);
	if (nr < 0) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
		return 2;
	}
	for (i = 0; i < nr; i++) {
		if (entry[i]->d_name[0] != '.') {
			replay(argv[1], entry[i]->d_name);
			printf("ok %d - %s\n", ++files, entry[i]->d_name);
		}
		free(entry[i]);
	}
	free(entry);
	printf("1..%d\n", files);
	return files ? 0 : 1;
}
