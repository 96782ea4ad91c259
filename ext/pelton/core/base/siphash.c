#include "core/base/siphash.h"

#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

#include "core/base/error.h"

int pel_siphash_seed(struct pel_siphash_seed *seed)
{
    return getentropy(seed, sizeof *seed) < 0 ? PEL_ESYSTEM : 0;
}

static inline uint64_t rotate_left(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

struct sip_state {
    uint64_t a, b, c, d;
};

static inline void sip_round(struct sip_state *state)
{
    state->a += state->b;
    state->b = rotate_left(state->b, 13) ^ state->a;
    state->a = rotate_left(state->a, 32);
    state->c += state->d;
    state->d = rotate_left(state->d, 16) ^ state->c;
    state->a += state->d;
    state->d = rotate_left(state->d, 21) ^ state->a;
    state->c += state->b;
    state->b = rotate_left(state->b, 17) ^ state->c;
    state->c = rotate_left(state->c, 32);
}

/* SipHash is defined on little-endian words. A big-endian machine computes different hashes of the same quality. */
static inline void sip_absorb(struct sip_state *state, uint64_t word)
{
    state->d ^= word;
    sip_round(state);
    state->a ^= word;
}

uint64_t pel_siphash(const struct pel_siphash_seed *seed, const void *bytes, size_t length)
{
    struct sip_state state = {
        seed->words[0] ^ UINT64_C(0x736f6d6570736575), seed->words[1] ^ UINT64_C(0x646f72616e646f6d),
        seed->words[0] ^ UINT64_C(0x6c7967656e657261), seed->words[1] ^ UINT64_C(0x7465646279746573)};
    const char *at = bytes;
    uint64_t word, last = (uint64_t)length << 56;
    size_t rest = length % 8;

    for (size_t left = length - rest; left > 0; left -= 8, at += 8) {
        memcpy(&word, at, 8);
        sip_absorb(&state, word);
    }
    for (size_t i = 0; i < rest; i++)
        last |= (uint64_t)(unsigned char)at[i] << 8 * i;
    sip_absorb(&state, last);
    state.c ^= 0xff;
    sip_round(&state);
    sip_round(&state);
    sip_round(&state);
    return state.a ^ state.b ^ state.c ^ state.d;
}
