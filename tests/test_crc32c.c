// SPDX-License-Identifier: GPL-2.0-only
/* CRC32C against its definition, published vectors, and what recordings count on. */
#include "tests/util_host.h"

#include "core/crc32c.h"

/* One bit at a time: the division by the polynomial as it is written down. */
static uint32_t by_definition(const uint8_t *p, size_t bytes)
{
	uint32_t crc = UINT32_MAX;
	unsigned int bit;

	for (; bytes; bytes--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ UINT32_C(0x82f63b78) : crc >> 1;
	}
	return ~crc;
}

/* RFC 3720, B.4, and the check value that catalogues of CRCs give. */
static void published_vectors(void **state)
{
	uint8_t buf[32];
	unsigned int i;

	(void)state;
	assert_int_equal(weir_crc32c(0, "123456789", 9), 0xe3069283);
	memset(buf, 0, sizeof(buf));
	assert_int_equal(weir_crc32c(0, buf, sizeof(buf)), 0x8a9136aa);
	memset(buf, 0xff, sizeof(buf));
	assert_int_equal(weir_crc32c(0, buf, sizeof(buf)), 0x62a8ab43);
	for (i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)i;
	assert_int_equal(weir_crc32c(0, buf, sizeof(buf)), 0x46dd794e);
	for (i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)(31 - i);
	assert_int_equal(weir_crc32c(0, buf, sizeof(buf)), 0x113fdb5c);
}

/* Every entry of the table is used by one of these. */
static void every_byte(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 256; i++) {
		uint8_t byte = (uint8_t)i;

		assert_int_equal(weir_crc32c(0, &byte, 1), by_definition(&byte, 1));
	}
}

static void random_data(void **state)
{
	uint8_t buf[600];
	uint64_t seed = 7;
	unsigned int i, n;

	(void)state;
	for (n = 0; n < 200; n++) {
		size_t bytes = util_below(&seed, sizeof(buf) + 1);

		for (i = 0; i < bytes; i++)
			buf[i] = (uint8_t)util_random(&seed);
		assert_int_equal(weir_crc32c(0, buf, bytes), by_definition(buf, bytes));
	}
}

static void nothing_changes_nothing(void **state)
{
	(void)state;
	assert_int_equal(weir_crc32c(0, "", 0), 0);
	assert_int_equal(weir_crc32c(0x12345678, "", 0), 0x12345678);
}

static void pieces(void **state)
{
	const char text[] = "a block is summed up in two pieces: its header and its payload";
	size_t cut, bytes = sizeof(text);
	uint32_t whole = weir_crc32c(0, text, bytes);

	(void)state;
	for (cut = 0; cut <= bytes; cut++)
		assert_int_equal(weir_crc32c(weir_crc32c(0, text, cut), text + cut, bytes - cut),
				 whole);
}

/* Any one bit, and any two next to each other, in a block of the size that the recorder writes. */
static void flipped_bits_show(void **state)
{
	static uint8_t block[4096];
	uint32_t whole;
	size_t bit;

	(void)state;
	memset(block, 0x5a, sizeof(block));
	whole = weir_crc32c(0, block, sizeof(block));
	for (bit = 0; bit + 1 < 8 * sizeof(block); bit += 61) {
		block[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_not_equal(weir_crc32c(0, block, sizeof(block)), whole);
		block[(bit + 1) / 8] ^= (uint8_t)(1u << (bit + 1) % 8);
		assert_int_not_equal(weir_crc32c(0, block, sizeof(block)), whole);
		block[bit / 8] ^= (uint8_t)(1u << bit % 8);
		block[(bit + 1) / 8] ^= (uint8_t)(1u << (bit + 1) % 8);
	}
	assert_int_equal(weir_crc32c(0, block, sizeof(block)), whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_vectors),
		cmocka_unit_test(every_byte),
		cmocka_unit_test(random_data),
		cmocka_unit_test(nothing_changes_nothing),
		cmocka_unit_test(pieces),
		cmocka_unit_test(flipped_bits_show),
	};

	return cmocka_run_group_tests_name("crc32c", tests, NULL, NULL);
}
