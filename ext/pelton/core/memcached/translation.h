#ifndef PELTON_CORE_MEMCACHED_TRANSLATION_H
#define PELTON_CORE_MEMCACHED_TRANSLATION_H

#include "core/base/buffer.h"
#include "core/base/error.h"

/*
 * Translates meta commands to classic text, for servers older than memcached 1.6. `bytes` are whole commands from the
 * writer (writer.h), with any of these flags. Commands that are classic text already are copied.
 *
 *     mg v, f, c          get or gets; its reply always has the client flags. t and R have no counterpart
 *     mg T v              gat or gats (memcached 1.5.3)
 *     mg T                touch
 *     ms                  set, add, replace, append, prepend; with C cas
 *     md                  delete; with C a cas of an empty value that expires at once
 *     ma                  incr, decr; with N and J an add before it, so that the number of both replies is the initial
 * one
 *
 * For each command that reads a value, in order, a hash of its key (uint32_t, FNV-1a) is appended to `keys`: a classic
 * server repeats the key in its reply, so the caller can compare.
 *
 * Returns 0, PEL_EMEMORY, or PEL_EARGUMENT for bytes that the writer cannot have written; then some of the commands may
 * have been appended.
 */
int pel_memcached_translate(struct pel_buffer *classic, struct pel_buffer *keys, const char *bytes, size_t length);

#endif
