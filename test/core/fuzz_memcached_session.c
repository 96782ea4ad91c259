#include "fuzz_pieces.h"
#include "memcached_conversation.h"

/*
 * Any bytes from a client: no crash, no hang, bounded output, the same replies however the bytes are cut and whichever
 * way values come and go, and at the end a store whose books are right and from which nothing has leaked.
 */

#define MEMORY ((uint64_t)1 << 20)
#define ITEM 65536

static void check_books(const struct pel_store *store)
{
    uint64_t bytes = 0;
    size_t count = 0;

    for (const struct pel_item *item = store->newest; item; item = item->older, count++) {
        bytes += pel_store_cost(item->key_length, item->length);
        CHECK(item->state & PEL_ITEM_LINKED);
        CHECK(item->key_length > 0 && item->key_length <= PEL_STORE_KEY_LIMIT);
        CHECK(!memcmp(item->bytes + item->key_length + item->length, "\r\n", 2));
    }
    CHECK(count == store->table.count);
    CHECK(bytes == store->linked_bytes);
    CHECK(store->bytes >= bytes && store->bytes <= store->memory_limit);
}

static void feed(struct conversation *talk, const char *bytes, size_t size, uint32_t seed, uint32_t longest, int direct)
{
    conversation_begin(talk, MEMORY, ITEM);
    talk->direct = direct;
    for (size_t at = 0, piece; at < size; at += piece) {
        piece = next_piece(&seed, longest, size - at);
        conversation_say(talk, bytes + at, piece);
    }
    check_books(&talk->service.store);
}

/* The time that the process has used is not the session's doing. It follows the name at once in the binary protocol. */
static void forget_usage(struct pel_buffer *heard)
{
    char *at = pel_buffer_head(heard), *end = pel_buffer_tail(heard);

    for (; at && end - at > 7; at++)
        if (!memcmp(at, "rusage_", 7)) {
            for (at += 7; at < end && ((*at >= 'a' && *at <= 'z') || *at == ' '); at++)
                ;
            for (; at < end && ((*at >= '0' && *at <= '9') || *at == '.'); at++)
                *at = '0';
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t longest[] = {1, 3, 17, 300, 3000};
    static struct conversation whole, pieces;
    const char *bytes = (const char *)data;
    uint32_t seed = seed_of(data, size);

    feed(&whole, bytes, size, 0, 0, 0);
    forget_usage(&whole.heard);
    for (size_t i = 0; i < sizeof longest / sizeof longest[0]; i++) {
        feed(&pieces, bytes, size, seed + (uint32_t)i, longest[i], (seed + (uint32_t)i) % 2);
        forget_usage(&pieces.heard);
        CHECK(same_bytes(&whole.heard, &pieces.heard));
        CHECK(whole.session.closing == pieces.session.closing);
        conversation_end(&pieces);
    }
    conversation_end(&whole);
    return 0;
}
