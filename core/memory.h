/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Storage from the host that begins with a cache line, for what the hot path touches: hosts give no
 * more than the alignment of malloc. Costs one line more each.
 */
#ifndef WEIR_CORE_MEMORY_H
#define WEIR_CORE_MEMORY_H

#include <weir/weir.h>

#define WEIR_LINE_BYTES 64

/* Zeroed, or NULL. */
void *weir_alloc_lines(const struct weir_host *host, size_t bytes);
/* p may be NULL. bytes as in the allocation. */
void weir_free_lines(const struct weir_host *host, void *p, size_t bytes);

#endif
