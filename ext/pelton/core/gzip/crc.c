#include "core/gzip/member.h"

/* Polynomials lie in a word with their bits reversed: the highest bit is the coefficient of x^0. */
#define POLYNOMIAL 0xedb88320U
#define ONE 0x80000000U

#define WIDTH 16 /* bytes that one step takes */

/* table[n][b]: the CRC register after the byte b and n bytes of zero. */
static uint32_t table[WIDTH][256];

__attribute__((constructor)) static void fill_table(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t rest = byte;
        for (int bit = 0; bit < 8; bit++)
            rest = rest & 1 ? rest >> 1 ^ POLYNOMIAL : rest >> 1;
        table[0][byte] = rest;
    }
    for (int zeros = 1; zeros < WIDTH; zeros++)
        for (uint32_t byte = 0; byte < 256; byte++)
            table[zeros][byte] = table[zeros - 1][byte] >> 8 ^ table[0][table[zeros - 1][byte] & 0xff];
}

static uint32_t word_at(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* The CRC register after four bytes and so many zeros. */
static uint32_t behind(int zeros, uint32_t word)
{
    return table[zeros + 3][word & 0xff] ^ table[zeros + 2][word >> 8 & 0xff] ^ table[zeros + 1][word >> 16 & 0xff] ^
           table[zeros][word >> 24];
}

uint32_t pel_crc32(uint32_t crc, struct pel_slice bytes)
{
    const unsigned char *at = (const unsigned char *)bytes.bytes, *end = at + bytes.length;

    crc = ~crc;
    for (; end - at >= WIDTH; at += WIDTH) {
        crc = behind(12, word_at(at) ^ crc) ^ behind(8, word_at(at + 4)) ^ behind(4, word_at(at + 8)) ^
              behind(0, word_at(at + 12));
    }
    while (at < end)
        crc = crc >> 8 ^ table[0][(crc ^ *at++) & 0xff];
    return ~crc;
}

/* The product of two polynomials. The masks stand for branches, which would be mispredicted every other time. */
static uint32_t multiply(uint32_t one, uint32_t other)
{
    uint32_t product = 0;

    for (; one; one <<= 1) {
        product ^= other & -(one >> 31);
        other = other >> 1 ^ (POLYNOMIAL & -(other & 1));
    }
    return product;
}

uint32_t pel_crc32_shift(uint64_t length)
{
    uint32_t shift = ONE, power = ONE >> 8; /* power: x^8, then squared with each binary digit of the length */

    for (; length; length >>= 1) {
        if (length & 1)
            shift = multiply(shift, power);
        power = multiply(power, power);
    }
    return shift;
}

uint32_t pel_crc32_combine(uint32_t first, uint32_t second, uint32_t shift)
{
    return multiply(first, shift) ^ second;
}
