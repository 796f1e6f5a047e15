// SPDX-License-Identifier: GPL-2.0-only
/* Setting up a random order: see pattern_perm.h. */
#include "lab/pattern_perm.h"

void lab_perm_init(struct lab_perm *p, uint64_t n, struct lab_rng *rng)
{
	unsigned int bits = 2, i;

	while (bits < 63 && UINT64_C(1) << bits < n)
		bits++;
	p->n = n;
	p->low_bits = bits / 2;
	p->low_mask = (UINT64_C(1) << p->low_bits) - 1;
	p->high_mask = (UINT64_C(1) << (bits - p->low_bits)) - 1;
	for (i = 0; i < LAB_PERM_ROUNDS; i++)
		p->key[i] = lab_rng_u64(rng);
}
