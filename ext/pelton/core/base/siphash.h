#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * SipHash-1-3: a hash whose collisions cannot be found without its seed. Keys come from clients, and a client that
 * could choose keys of one bucket would turn a hash table into a list.
 */
struct pel_siphash_seed {
    uint64_t words[2];
};

/* Fills in a random seed. Returns 0, or PEL_ESYSTEM when the system provides no random bytes. */
int pel_siphash_seed(struct pel_siphash_seed *seed);

uint64_t pel_siphash(const struct pel_siphash_seed *seed, const void *bytes, size_t length);
