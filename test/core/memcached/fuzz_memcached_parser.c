#include "fuzz_pieces.h"
#include "memcached/transcript.h"

/* For any bytes: no crash, no hang, and the same replies for any pieces, with values parsed or skipped. */

static void feed(struct transcript *transcript, const char *bytes, size_t size, enum transcript_values values,
                 uint32_t seed, uint32_t longest)
{
    transcript_begin(transcript, values, 4096);
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
    const char *bytes = (const char *)data;
    uint32_t seed = seed_of(data, size);

    feed(&whole, bytes, size, VALUES_PARSED, 0, 0);
    for (size_t i = 0; i < 2 * sizeof(longest) / sizeof(longest[0]); i++) {
        feed(&pieces, bytes, size, i % 2 ? VALUES_SKIPPED : VALUES_PARSED, seed + (uint32_t)i, longest[i / 2]);
        CHECK(buffers_equal(&whole.text, &pieces.text));
        pel_buffer_free(&pieces.text);
    }
    pel_buffer_free(&whole.text);
    return 0;
}
