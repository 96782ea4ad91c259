#ifndef PEL_MEMCACHED_FLAGS_H
#define PEL_MEMCACHED_FLAGS_H

#include <stdint.h>

/*
 * A set of flags of the meta protocol, one bit for each letter, as memcached's protocol.txt names them:
 *
 *     uint64_t flags = PEL_MEMCACHED_FLAG('v') | PEL_MEMCACHED_FLAG('f');
 *
 * Commands say with it what they ask for, replies what they carry.
 */
#define PEL_MEMCACHED_FLAG(letter) (UINT64_C(1) << ((letter) - 'A'))

#endif
