#pragma once

/*
 * A transcript of the parser's events as text, so that two ways of feeding it the same bytes can be compared. Each
 * piece lies against an unreadable page: an over-read crashes. Parts of a body are joined, because they depend on the
 * pieces.
 *
 *   GET /x?a [host: y] 5 | hello .     head with its framing (0, a length, chunked, close), data, end
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/buffer.h"
#include "core/http1/http1_parser.h"
#include "guarded.h"

struct transcript {
    struct pel_http1_parser parser;
    struct pel_http1_head head;
    struct pel_buffer rest; /* bytes not consumed yet */
    struct pel_buffer text;
    int in_data, over;
};

static void transcript_begin(struct transcript *transcript, enum pel_http1_kind kind,
                             const struct pel_http1_limits *limits)
{
    memset(&transcript->rest, 0, sizeof transcript->rest);
    memset(&transcript->text, 0, sizeof transcript->text);
    transcript->in_data = transcript->over = 0;
    pel_http1_parser_init(&transcript->parser, kind, limits);
}

static void transcript_append(struct transcript *transcript, const char *bytes, size_t length)
{
    CHECK(pel_buffer_append(&transcript->text, bytes, length) == 0);
}

static void transcript_append_text(struct transcript *transcript, const char *text)
{
    transcript_append(transcript, text, strlen(text));
}

static void transcript_append_slice(struct transcript *transcript, struct pel_slice slice)
{
    transcript_append(transcript, slice.bytes, slice.length);
}

static void transcript_headers(struct transcript *transcript)
{
    for (unsigned i = 0; i < transcript->head.header_count; i++) {
        transcript_append_text(transcript, " [");
        transcript_append_slice(transcript, transcript->head.headers[i].name);
        transcript_append_text(transcript, ": ");
        transcript_append_slice(transcript, transcript->head.headers[i].value);
        transcript_append_text(transcript, "]");
    }
}

static void transcript_head(struct transcript *transcript)
{
    const struct pel_http1_head *head = &transcript->head;
    static const char *const framings[] = {"0", NULL, "chunked", "close"};
    char number[32];

    if (transcript->parser.response) {
        snprintf(number, sizeof number, "%u ", head->status);
        transcript_append_text(transcript, number);
        transcript_append_slice(transcript, head->reason);
    } else {
        transcript_append_slice(transcript, head->method);
        transcript_append_text(transcript, " ");
        transcript_append_slice(transcript, head->target);
    }
    transcript_headers(transcript);
    snprintf(number, sizeof number, " %" PRIu64, head->length);
    transcript_append_text(transcript, head->framing == PEL_HTTP1_LENGTH ? number : " ");
    if (head->framing != PEL_HTTP1_LENGTH)
        transcript_append_text(transcript, framings[head->framing]);
    transcript_append_text(transcript, head->upgrade ? " upgrade" : head->keep_alive ? "" : " last");
}

static void transcript_event(struct transcript *transcript, int event, struct pel_slice data)
{
    if (event != PEL_HTTP1_DATA && event != PEL_HTTP1_MORE)
        transcript->in_data = 0;
    if (event == PEL_HTTP1_HEAD) {
        transcript_head(transcript);
    } else if (event == PEL_HTTP1_DATA) {
        CHECK(data.length > 0);
        if (!transcript->in_data)
            transcript_append_text(transcript, " | ");
        transcript->in_data = 1;
        transcript_append_slice(transcript, data);
    } else if (event == PEL_HTTP1_END) {
        transcript_headers(transcript);
        transcript_append_text(transcript, " .\n");
    } else if (event < 0) {
        transcript->over = 1;
        transcript_append_text(transcript, " error: ");
        transcript_append_text(transcript, pel_http1_fault_text(pel_http1_parser_fault(&transcript->parser)));
        transcript_append_text(transcript, "\n");
    }
}

static void transcript_feed(struct transcript *transcript, const char *bytes, size_t length)
{
    struct pel_buffer *rest = &transcript->rest;

    CHECK(pel_buffer_append(rest, bytes, length) == 0);
    while (!transcript->over) {
        size_t size = pel_buffer_length(rest), consumed;
        char *copy = guarded(pel_buffer_head(rest), size);
        struct pel_slice data = {NULL, 0};
        int event = pel_http1_parse(&transcript->parser, copy, size, &consumed, &transcript->head, &data);

        CHECK(consumed <= size);
        transcript_event(transcript, event, data);
        pel_buffer_consume(rest, consumed);
        if (event == PEL_HTTP1_MORE)
            return;
    }
}

static void transcript_end(struct transcript *transcript)
{
    if (!transcript->over) {
        int event = pel_http1_parse_end(&transcript->parser, &transcript->head);
        /* Unconsumed bytes are an incomplete line, so the message cannot be complete. */
        CHECK(event != PEL_HTTP1_END || pel_buffer_length(&transcript->rest) == 0);
        transcript_event(transcript, event, (struct pel_slice){NULL, 0});
    }
    pel_buffer_free(&transcript->rest);
}
