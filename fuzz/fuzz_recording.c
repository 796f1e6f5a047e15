// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a flight recording. First as they are, which tests the blocks; then with the headers
 * and checksums of their blocks made right, so that what is in them is decoded and run: groups and
 * requests that don't exist, calls in an impossible order, absurd configurations.
 *
 * A failed assertion of the core is an answer like another: a rerun catches it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/rerun.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                 \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                        \
		}                                                                       \
	} while (0)

/* CRC32C by its definition, byte by byte of a table that is made when it is first used. */
static uint32_t crc32c(uint32_t crc, const uint8_t *p, size_t bytes)
{
	static uint32_t table[256];
	unsigned int i, bit;

	for (i = 1; !table[255] && i < 256; i++) {
		table[i] = i;
		for (bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0x82f63b78) : 0);
	}
	for (crc = ~crc; bytes; bytes--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return ~crc;
}

static void check(const uint8_t *data, size_t size)
{
	struct lab_rerun_result r;
	FILE *f = fmemopen((void *)(uintptr_t)data, size, "rb");

	MUST(f && !lab_rerun(f, NULL, &r));
	fclose(f);
	MUST(r.verdict <= LAB_RERUN_BAD);
	MUST((r.verdict == LAB_RERUN_BAD) == (r.error[0] != '\0'));
	MUST((r.verdict == LAB_RERUN_DIFFERS) == (r.got[0] != '\0'));
	MUST(r.verdict != LAB_RERUN_EQUAL || (r.started && r.policy && r.nr_bytes == size));
	MUST(r.nr_bytes <= size && r.last_ns <= LAB_RERUN_NS_MAX);
	lab_rerun_free(&r);
}

/* Blocks are where the lengths say, cut off at the end of the data. */
static void repair(uint8_t *data, size_t size)
{
	size_t at = 0;
	uint32_t number = 0;

	while (size - at > WEIR_BLOCK_HEADER_BYTES) {
		uint8_t *b = data + at;
		size_t room = size - at - WEIR_BLOCK_HEADER_BYTES;
		uint32_t length = weir_get_le32(b + WEIR_BLOCK_LENGTH_AT), crc;

		if (length > room)
			length = (uint32_t)room;
		if (length > WEIR_BLOCK_BYTES_MAX - WEIR_BLOCK_HEADER_BYTES)
			length = WEIR_BLOCK_BYTES_MAX - WEIR_BLOCK_HEADER_BYTES;
		if (!length)
			length = 1;
		weir_put_le32(b + WEIR_BLOCK_MAGIC_AT, WEIR_BLOCK_MAGIC);
		weir_put_le32(b + WEIR_BLOCK_NUMBER_AT, number++);
		weir_put_le32(b + WEIR_BLOCK_LENGTH_AT, length);
		crc = crc32c(0, b, WEIR_BLOCK_CRC_AT);
		crc = crc32c(crc, b + WEIR_BLOCK_HEADER_BYTES, length);
		weir_put_le32(b + WEIR_BLOCK_CRC_AT, crc);
		at += WEIR_BLOCK_HEADER_BYTES + length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	if (!size)
		return 0;
	check(data, size);
	copy = malloc(size);
	MUST(copy);
	memcpy(copy, data, size);
	repair(copy, size);
	check(copy, size);
	free(copy);
	return 0;
}
