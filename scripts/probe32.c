// SPDX-License-Identifier: GPL-2.0-only
/* Can this compiler make a freestanding 32-bit object? Asked once, when the build is set up. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Static_assert(sizeof(void *) == 4, "a 32-bit machine");

uint64_t probe(uint64_t a, unsigned int shift);

uint64_t probe(uint64_t a, unsigned int shift)
{
	return a >> shift;
}
