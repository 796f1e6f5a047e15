/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CRC32C: the Castagnoli polynomial, as in iSCSI (RFC 3720, appendix B.4), ext4 and NVMe. Chosen
 * for recordings since it finds every error of up to 3 flipped bits in a block of 4 KiB, and since
 * other tools can compute it.
 */
#ifndef WEIR_CORE_CRC32C_H
#define WEIR_CORE_CRC32C_H

#include <weir/types.h>

/*
 * The checksum of data, after what was summed up before: begin with crc 0. Pieces may be cut
 * anywhere: crc32c(crc32c(0, a), b) is that of a followed by b. O(bytes).
 */
uint32_t weir_crc32c(uint32_t crc, const void *data, size_t bytes);

#endif
