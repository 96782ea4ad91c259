#ifndef PEL_MEMCACHED_TRANSLATION_H
#define PEL_MEMCACHED_TRANSLATION_H

#include "buffer.h"
#include "error.h"

/*
 * Meta commands -> classic text, for servers older than memcached 1.6. `bytes` are whole commands as the writer
 * (memcached_writer.h) wrote them, with any of these flags; what is classic already stays as it is.
 *
 *     mg v, f, c          get or gets; its answer has the client's flags anyway. t and R have no counterpart
 *     mg T v              gat or gats (memcached 1.5.3)
 *     mg T                touch
 *     ms                  set, add, replace, append, prepend; with C cas
 *     md                  delete; with C a cas to what is over at once
 *     ma                  incr, decr; with N and J an add before it, which makes the answer of both the initial number
 *
 * `keys` gets a hash (uint32_t, FNV-1a) of the key of each command that reads a value, in their order: a classic server
 * names it in its reply.
 *
 * Returns 0, PEL_EMEMORY, or PEL_EARGUMENT for what no writer wrote; then some of the commands may have been appended.
 */
int pel_memcached_translate(struct pel_buffer *classic, struct pel_buffer *keys, const char *bytes, size_t length);

#endif
