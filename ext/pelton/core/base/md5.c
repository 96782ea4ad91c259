#include "core/base/md5.h"

#include <stdint.h>
#include <string.h>

#define BLOCK 64

/* floor(2^32 * |sin(i + 1)|): RFC 1321, section 3.4. */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

static void store_little_endian(unsigned char *bytes, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(word >> 8 * i);
}

/* One step of a round. Callers rotate the roles of the four words, so that no word has to be moved. */
#define STEP(function, a, b, c, d, word, i, shift)                                                                     \
    do {                                                                                                               \
        uint32_t sum = a + (function) + words[word] + sines[i];                                                        \
        a = b + (sum << (shift) | sum >> (32 - (shift)));                                                              \
    } while (0)

#define F(x, y, z) (((x) & ((y) ^ (z))) ^ (z))
#define H(x, y, z) ((x) ^ (y) ^ (z))
#define I(x, y, z) ((y) ^ ((x) | ~(z)))

static void md5_mix_block(uint32_t state[4], const unsigned char *block)
{
    uint32_t words[16], a = state[0], b = state[1], c = state[2], d = state[3];

    for (int i = 0; i < 16; i++)
        words[i] = pel_md5_word(block + 4 * i);
    for (int i = 0; i < 16; i += 4) {
        STEP(F(b, c, d), a, b, c, d, i, i, 7);
        STEP(F(a, b, c), d, a, b, c, i + 1, i + 1, 12);
        STEP(F(d, a, b), c, d, a, b, i + 2, i + 2, 17);
        STEP(F(c, d, a), b, c, d, a, i + 3, i + 3, 22);
    }
    for (int i = 16; i < 32; i += 4) {
        STEP(F(d, b, c), a, b, c, d, (5 * i + 1) % 16, i, 5);
        STEP(F(c, a, b), d, a, b, c, (5 * i + 6) % 16, i + 1, 9);
        STEP(F(b, d, a), c, d, a, b, (5 * i + 11) % 16, i + 2, 14);
        STEP(F(a, c, d), b, c, d, a, (5 * i) % 16, i + 3, 20);
    }
    for (int i = 32; i < 48; i += 4) {
        STEP(H(b, c, d), a, b, c, d, (3 * i + 5) % 16, i, 4);
        STEP(H(a, b, c), d, a, b, c, (3 * i + 8) % 16, i + 1, 11);
        STEP(H(d, a, b), c, d, a, b, (3 * i + 11) % 16, i + 2, 16);
        STEP(H(c, d, a), b, c, d, a, (3 * i + 14) % 16, i + 3, 23);
    }
    for (int i = 48; i < 64; i += 4) {
        STEP(I(b, c, d), a, b, c, d, 7 * i % 16, i, 6);
        STEP(I(a, b, c), d, a, b, c, (7 * i + 7) % 16, i + 1, 10);
        STEP(I(d, a, b), c, d, a, b, (7 * i + 14) % 16, i + 2, 15);
        STEP(I(c, d, a), b, c, d, a, (7 * i + 5) % 16, i + 3, 21);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void pel_md5(const void *bytes, size_t length, unsigned char digest[PEL_MD5_LENGTH])
{
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    const unsigned char *at = bytes;
    unsigned char last[2 * BLOCK] = {0};
    size_t left = length, padded_length;

    for (; left >= BLOCK; at += BLOCK, left -= BLOCK)
        md5_mix_block(state, at);
    /* The padding: a one bit, zeros, and the length in bits, which ends a block. */
    padded_length = left + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
    if (left > 0)
        memcpy(last, at, left);
    last[left] = 0x80;
    store_little_endian(last + padded_length - 8, (uint32_t)((uint64_t)length << 3));
    store_little_endian(last + padded_length - 4, (uint32_t)((uint64_t)length >> 29));
    for (size_t i = 0; i < padded_length; i += BLOCK)
        md5_mix_block(state, last + i);
    for (int i = 0; i < 4; i++)
        store_little_endian(digest + 4 * i, state[i]);
}
