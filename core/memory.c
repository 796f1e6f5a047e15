/* SPDX-License-Identifier: GPL-2.0-only */
/* Storage by cache lines: see memory.h. The byte before it tells how far in it begins. */
#include "core/memory.h"

void *weir_alloc_lines(const struct weir_host *host, size_t bytes)
{
	uint8_t *raw = host->alloc(host->priv, bytes + WEIR_LINE_BYTES);
	unsigned int skip;

	if (!raw)
		return NULL;
	skip = WEIR_LINE_BYTES - (unsigned int)((uintptr_t)raw % WEIR_LINE_BYTES);
	raw[skip - 1] = (uint8_t)skip;
	return raw + skip;
}

void weir_free_lines(const struct weir_host *host, void *p, size_t bytes)
{
	uint8_t *begin = p;

	if (begin)
		host->free(host->priv, begin - begin[-1], bytes + WEIR_LINE_BYTES);
}
