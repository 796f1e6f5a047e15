/* SPDX-License-Identifier: GPL-2.0-only */
/* Weights of policies that know fewer of them than the core: see clamp.h. */
#include "policy/clamp.h"

#include "core/group.h"

static char *put_text(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	return at;
}

static char *put_number(char *at, uint32_t n)
{
	char digits[10];
	int nr = 0;

	do {
		digits[nr++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (nr)
		*at++ = digits[--nr];
	return at;
}

uint32_t weir_clamp_weight(const struct weir_group *g, const char *policy, const char *kind,
			   uint32_t weight, uint32_t min, uint32_t max)
{
	uint32_t taken = weight < min ? min : weight > max ? max : weight;
	char text[128], *at = text; /* names of a dozen letters, and five numbers of up to ten */

	if (taken == weight)
		return taken;
	at = put_text(at, policy);
	at = put_text(at, ": ");
	at = put_text(at, kind);
	at = put_text(at, " ");
	at = put_number(at, weight);
	at = put_text(at, " of group ");
	at = put_number(at, weir_group_id(g));
	at = put_text(at, " is outside ");
	at = put_number(at, min);
	at = put_text(at, "..");
	at = put_number(at, max);
	at = put_text(at, ", taken as ");
	at = put_number(at, taken);
	*at = '\0';
	weir_note(g->w, text);
	return taken;
}
