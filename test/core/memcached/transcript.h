#pragma once

/*
 * A transcript of the parser's replies as text, so that two ways of feeding it the same bytes can be compared: a line
 * for each reply, a value only when it is complete. Each piece is copied against an unreadable page and over the piece
 * before it: an over-read crashes, and a slice that points into an older piece has wrong bytes.
 */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/buffer.h"
#include "core/memcached/memcached_parser.h"
#include "guarded.h"

/* Whether the parser sees the bytes behind a value's head, or the caller receives them without it. */
enum transcript_values { VALUES_PARSED, VALUES_SKIPPED };

struct transcript {
    struct pel_memcached_parser parser;
    enum transcript_values values;
    struct pel_buffer text;  /* all lines so far */
    struct pel_buffer value; /* the value of an incomplete reply */
    uint64_t value_length;
    size_t complete; /* the length of the text before that reply */
    int error;
};

static void transcript_begin(struct transcript *transcript, enum transcript_values values, uint64_t value_limit)
{
    memset(&transcript->text, 0, sizeof(transcript->text));
    memset(&transcript->value, 0, sizeof(transcript->value));
    transcript->values = values;
    transcript->value_length = 0;
    transcript->complete = 0;
    transcript->error = 0;
    pel_memcached_parser_init(&transcript->parser);
    transcript->parser.value_limit = value_limit;
}

static void transcript_append(struct pel_buffer *buffer, struct pel_slice slice)
{
    CHECK(slice.length == 0 || pel_buffer_append(buffer, slice.bytes, slice.length) == 0);
}

__attribute__((format(printf, 2, 3))) static void transcript_print(struct transcript *transcript, const char *format,
                                                                   ...)
{
    char line[128];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    CHECK(length < (int)sizeof(line));
    transcript_append(&transcript->text, (struct pel_slice){line, (size_t)length});
}

static void transcript_slice(struct transcript *transcript, const char *name, struct pel_slice slice)
{
    transcript_print(transcript, " %s(", name);
    transcript_append(&transcript->text, slice);
    transcript_print(transcript, ")");
}

static void transcript_flags(struct transcript *transcript, const struct pel_memcached_reply *reply)
{
    for (char letter = 'A'; letter <= 'z'; letter++) {
        if (!(reply->flags & PEL_MEMCACHED_FLAG(letter)))
            continue;
        if (letter == 'f')
            transcript_print(transcript, " f=%u", reply->client_flags);
        else if (letter == 'c')
            transcript_print(transcript, " c=%llu", (unsigned long long)reply->cas);
        else if (letter == 't')
            transcript_print(transcript, " t=%lld", (long long)reply->ttl);
        else if (letter == 'h')
            transcript_print(transcript, " h=%d", reply->hit_before);
        else if (letter == 'l')
            transcript_print(transcript, " l=%llu", (unsigned long long)reply->idle);
        else if (letter == 's')
            transcript_print(transcript, " s=%llu", (unsigned long long)reply->size);
        else if (letter == 'k')
            transcript_slice(transcript, "k", reply->key);
        else if (letter == 'O')
            transcript_slice(transcript, "O", reply->opaque);
        else
            transcript_print(transcript, " %c", letter);
    }
}

static void transcript_value(struct transcript *transcript)
{
    CHECK(pel_buffer_length(&transcript->value) == transcript->value_length);
    transcript_slice(transcript, "value",
                     (struct pel_slice){pel_buffer_head(&transcript->value), pel_buffer_length(&transcript->value)});
    transcript_print(transcript, "\n");
    pel_buffer_consume(&transcript->value, pel_buffer_length(&transcript->value));
}

/* `piece`: the bytes that the parser was given. */
static void transcript_reply(struct transcript *transcript, const struct pel_memcached_reply *reply,
                             struct pel_slice piece)
{
    switch (reply->kind) {
    case PEL_MEMCACHED_VALUE_END:
        transcript_value(transcript);
        break;
    case PEL_MEMCACHED_VALUE_PART:
        CHECK(reply->value.length > 0);
        transcript_append(&transcript->value, reply->value);
        CHECK(reply->value_pending == pel_memcached_parser_pending(&transcript->parser));
        return;
    case PEL_MEMCACHED_VA:
        transcript_print(transcript, "%s %llu", pel_memcached_kind_name(reply->kind),
                         (unsigned long long)reply->value_length);
        transcript_flags(transcript, reply);
        CHECK(reply->value.bytes >= piece.bytes && reply->value.length <= piece.length);
        CHECK(reply->value.length + reply->value_pending == reply->value_length);
        CHECK(reply->value_pending == pel_memcached_parser_pending(&transcript->parser));
        CHECK(!reply->value_whole || reply->value_pending == 0);
        transcript->value_length = reply->value_length;
        transcript_append(&transcript->value, reply->value);
        if (!reply->value_whole)
            return;
        transcript_value(transcript);
        break;
    case PEL_MEMCACHED_ME:
    case PEL_MEMCACHED_STAT:
        transcript_print(transcript, "%s", pel_memcached_kind_name(reply->kind));
        transcript_slice(transcript, "k", reply->key);
        transcript_slice(transcript, "text", reply->text);
        transcript_print(transcript, "\n");
        break;
    case PEL_MEMCACHED_VERSION:
    case PEL_MEMCACHED_ERROR:
    case PEL_MEMCACHED_CLIENT_ERROR:
    case PEL_MEMCACHED_SERVER_ERROR:
        transcript_print(transcript, "%s", pel_memcached_kind_name(reply->kind));
        transcript_slice(transcript, "text", reply->text);
        transcript_print(transcript, "\n");
        break;
    default:
        transcript_print(transcript, "%s", pel_memcached_kind_name(reply->kind));
        if (reply->kind <= PEL_MEMCACHED_MN)
            transcript_flags(transcript, reply);
        transcript_print(transcript, "\n");
    }
    transcript->complete = pel_buffer_length(&transcript->text);
}

static void transcript_feed(struct transcript *transcript, const char *bytes, size_t length)
{
    struct pel_memcached_reply reply;
    struct pel_slice piece = {guarded(bytes, length), length};
    size_t consumed;
    int code;

    while (!transcript->error) {
        if (transcript->values == VALUES_SKIPPED) {
            struct pel_slice taken = piece;
            uint64_t pending = pel_memcached_parser_pending(&transcript->parser);
            if (taken.length > pending)
                taken.length = pending;
            transcript_append(&transcript->value, taken);
            CHECK(pel_memcached_parser_skip_value(&transcript->parser, taken.length) == 0);
            piece.bytes += taken.length;
            piece.length -= taken.length;
        }
        memset(&reply, 0xa5, sizeof(reply));
        code = pel_memcached_parse(&transcript->parser, piece.bytes, piece.length, &consumed, &reply);
        CHECK(consumed <= piece.length);
        if (code < 0) {
            transcript->error = code;
            /* The pieces determine whether a value with a wrong end was reported before, so its line is dropped. */
            transcript->text.end = transcript->text.start + transcript->complete;
            transcript_print(transcript, "error: %s\n", pel_error_text(code));
        } else if (code == 0) {
            CHECK(consumed == piece.length);
            return;
        } else {
            CHECK(code == 1 && consumed > 0);
            transcript_reply(transcript, &reply, piece);
        }
        piece.bytes += consumed;
        piece.length -= consumed;
    }
    CHECK(pel_memcached_parse(&transcript->parser, piece.bytes, piece.length, &consumed, &reply) == transcript->error);
    CHECK(consumed == 0 && pel_memcached_parser_pending(&transcript->parser) == 0);
}

/* Appends the bytes still pending. The caller owns transcript->text. */
static void transcript_end(struct transcript *transcript)
{
    if (!transcript->error && pel_memcached_parser_pending(&transcript->parser) > 0)
        transcript_print(transcript, "\npending %llu\n",
                         (unsigned long long)pel_memcached_parser_pending(&transcript->parser));
    pel_buffer_free(&transcript->value);
}
