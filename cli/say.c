// SPDX-License-Identifier: GPL-2.0-only
/* Errors as one line: see say.h. */
#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes kept of a long line: its beginning, with the value, and its end. */
#define HEAD_BYTES 1024
#define TAIL_BYTES 1024

static void put_escaped(const char *text, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c == 0x7f)
			fprintf(stderr, "\\x%02x", c);
		else
			putc(c, stderr);
	}
}

void cli_say(const char *program, const char *format, ...)
{
	char *text = NULL;
	size_t bytes = 0;
	va_list args;
	FILE *out = open_memstream(&text, &bytes);

	if (out) {
		va_start(args, format);
		vfprintf(out, format, args);
		va_end(args);
	}
	if (!out || fclose(out)) {
		fprintf(stderr, "%s: out of memory for a message\n", program);
		free(text);
		return;
	}
	fprintf(stderr, "%s: ", program);
	if (bytes <= HEAD_BYTES + TAIL_BYTES) {
		put_escaped(text, bytes);
	} else {
		put_escaped(text, HEAD_BYTES);
		fputs(" ... ", stderr);
		put_escaped(text + bytes - TAIL_BYTES, TAIL_BYTES);
	}
	fputc('\n', stderr);
	free(text);
}
