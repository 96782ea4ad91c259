#include "fuzz_pieces.h"
#include "http1/transcript.h"

/* For any bytes: no crash, no hang, and the same messages for any pieces. The first byte selects requests, responses,
 * or responses to HEAD. */

static const struct pel_http1_limits limits = {
    .target = 100, .head = 1000, .headers = 10, .body = 1000, .chunk_excess = 100};

static void feed(struct transcript *transcript, uint8_t choice, const char *bytes, size_t size, uint32_t seed,
                 uint32_t longest)
{
    transcript_begin(transcript, choice & 1 ? PEL_HTTP1_RESPONSE : PEL_HTTP1_REQUEST, &limits);
    transcript->parser.no_body = choice >> 1 & choice & 1;
    for (size_t at = 0, piece; at < size; at += piece) {
        piece = next_piece(&seed, longest, size - at);
        transcript_feed(transcript, bytes + at, piece);
    }
    transcript_end(transcript);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t longest[] = {1, 2, 5, 17, 300};
    static struct transcript whole, pieces;
    const char *bytes = (const char *)data + 1;
    uint32_t seed = seed_of(data, size);

    if (size == 0)
        return 0;
    feed(&whole, data[0], bytes, size - 1, 0, 0);
    for (size_t i = 0; i < sizeof(longest) / sizeof(longest[0]); i++) {
        feed(&pieces, data[0], bytes, size - 1, seed + (uint32_t)i, longest[i]);
        CHECK(buffers_equal(&whole.text, &pieces.text));
        pel_buffer_free(&pieces.text);
    }
    pel_buffer_free(&whole.text);
    return 0;
}
