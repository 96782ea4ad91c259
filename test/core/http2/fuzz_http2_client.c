#include <stdlib.h>
#include "core/http2/http2_client.h"
#include "fuzz_pieces.h"

#define CHECK(condition) ((condition) ? (void)0 : abort())

/*
 * For any bytes of a server: no crash, no hang, and bounded memory, while the owner asks, reads, cancels and leaves as
 * further bytes decide. The first byte chooses the pieces.
 */

#define STREAMS 20

static const struct pel_http1_limits message = {
    .target = 100, .head = 1000, .headers = 10, .body = 10000, .chunk_excess = 100};
static const struct pel_http2_limits limits = {.message = &message, .window = 5000, .controls = 50};

static void ask(struct pel_http2_session *session, uint32_t choice)
{
    char lines[] = "POST /a HTTP/1.1\r\nhost: h\r\nX-One: 1\r\n\r\n";
    static const char bytes[40000];
    struct pel_http2_stream *stream =
        pel_http2_request(session, lines, sizeof lines - 1, PEL_SLICE("https"), choice % 2 == 0);

    if (!stream || choice % 2 == 0)
        return;
    pel_http2_append(stream, bytes, choice % sizeof bytes);
    if (choice % 3)
        pel_http2_finish(stream);
}

static void handle(struct pel_http2_stream *stream, unsigned news, uint32_t choice)
{
    static struct pel_http1_head head;
    int code = news & PEL_HTTP2_HEAD ? pel_http2_response(stream, &head) : 0;

    if (code > 0) {
        CHECK(head.status >= 200 && head.status <= 999);
        pel_http2_free_head(stream);
    }
    if (news & PEL_HTTP2_BODY && choice % 2)
        pel_http2_take(stream, pel_buffer_length(&stream->input));
    if (stream->ended)
        pel_http2_trailers(stream, &head);
    if (stream->closed || code < 0 || choice % 13 == 0) {
        pel_http2_reset(stream, PEL_HTTP2_CANCEL);
        pel_http2_release(stream);
    }
}

static unsigned count_streams(const struct pel_http2_session *session)
{
    unsigned count = 0;

    for (const struct pel_http2_stream *stream = pel_http2_first(session); stream; stream = stream->next) {
        count++;
        CHECK(pel_buffer_length((struct pel_buffer *)&stream->input) <= message.body);
        CHECK(pel_buffer_length((struct pel_buffer *)&stream->head) <= 3 * message.head);
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char settings[] = "\0\0\0\4\0\0\0\0";
    struct pel_http2_session *session;
    struct pel_buffer output = {0};
    uint32_t seed = seed_of(data, size);
    int code = 0;

    if (size < 2)
        return 0;
    session = pel_http2_client_new(&limits);
    CHECK(session);
    CHECK(pel_http2_receive(session, settings, sizeof settings, 0) == 0);
    for (size_t at = 1, piece; at < size && code == 0; at += piece) {
        struct pel_http2_stream *stream;
        unsigned news;
        if (!pel_http2_leaving_p(session) && count_streams(session) < STREAMS)
            ask(session, seed >> 7);
        if (pel_http2_send(session, &output, 1 + seed % 10000) < 0)
            code = -1;
        pel_buffer_consume(&output, pel_buffer_length(&output));
        piece = next_piece(&seed, data[0] + 1u, size - at);
        if (code == 0)
            code = pel_http2_receive(session, (const char *)data + at, piece, (int64_t)at);
        while ((stream = pel_http2_next(session, &news)))
            if (!(stream->closed && news == 0))
                handle(stream, news, seed >> 5);
    }
    if (seed % 2)
        pel_http2_abandon(session);
    pel_http2_session_free(session);
    pel_buffer_free(&output);
    return 0;
}
