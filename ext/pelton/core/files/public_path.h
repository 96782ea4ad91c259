#pragma once

#include <sys/types.h>
#include "core/base/error.h"
#include "core/base/slice.h"

#define PEL_PUBLIC_PATH 1024 /* bytes of a decoded path, with its NUL */

/*
 * Decodes the path of a request's target, once, to a file's name relative to a folder: without the first slash and a
 * last one, and with a NUL. Returns its length, 0 for the folder itself; or PEL_EARGUMENT: no file is to be looked for.
 * So it is with
 *
 * - hidden files: a segment that begins with a dot (so there is no `..` either), but for `/.well-known/`
 * - control characters, NUL and backslashes, however they are written; slashes that are percent-encoded
 * - empty segments, malformed percent-encodings, and whatever is longer than PEL_PUBLIC_PATH
 */
ssize_t pel_public_path(struct pel_slice path, char name[PEL_PUBLIC_PATH]);
