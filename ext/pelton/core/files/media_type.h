#pragma once

#include "core/base/slice.h"

/* What a file's name says of its content. */

/* The value of Content-Type by the name's ending, a static string; application/octet-stream for unknown ones. */
struct pel_slice pel_media_type(struct pel_slice name);

/*
 * Whether the name has a digest of the content, so that the file never changes: 8 or more hexadecimal digits in lower
 * case, with a letter and a digit among them, after a dash or a dot and before an ending: app-0123abcd.js,
 * app-0123abcd.js.map, app.0123abcd.css. Dates (report-20240131.pdf) and words are none.
 */
int pel_fingerprinted_p(struct pel_slice name);
