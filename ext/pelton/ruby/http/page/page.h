#pragma once

#include <ruby.h>
#include <stdint.h>

/* Pelton::HTTP::Fragment: a text that is kept deflated, too. */
struct pel_http_fragment {
    VALUE text, deflated, digest; /* frozen */
    uint32_t crc, shift;          /* of the text (core/gzip/crc.h) */
};

/* The fragment that the object is, or NULL. Valid as long as the object lives. */
const struct pel_http_fragment *pel_http_fragment_peek(VALUE object);

void pel_init_http_fragment(void);

/* Pelton::HTTP::Fragment.key: the key of a fragment that is made of several parts. */
void pel_init_http_fragment_key(void);

void pel_init_http_page(void);
