#pragma once

#include <stdint.h>

/*
 * A set of flags of the meta protocol, with one bit for each letter that memcached's protocol.txt defines:
 *
 *     uint64_t flags = PEL_MEMCACHED_FLAG('v') | PEL_MEMCACHED_FLAG('f');
 *
 * A command's set names the flags to send, a reply's set the flags received.
 */
#define PEL_MEMCACHED_FLAG(letter) (UINT64_C(1) << ((letter) - 'A'))
