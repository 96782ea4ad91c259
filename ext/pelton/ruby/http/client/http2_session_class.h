#pragma once

#include <ruby.h>
#include "core/http2/http2_client.h"

/* The session of a Pelton::HTTP::Http2Session. */
struct pel_http2_session *pel_http2_client_session(VALUE self);

/* Adds Pelton::HTTP::Http2Session, and Http2Stream; nothing without libnghttp2. */
void pel_init_http2_session(void);
void pel_init_http2_stream(void);
