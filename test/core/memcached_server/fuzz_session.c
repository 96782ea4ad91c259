#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuzz_pieces.h"
#include "memcached_server/conversation.h"

/*
 * For any bytes from a client: no crash, no hang, bounded output, the same replies for any pieces, with values received
 * directly or not, and at the end a store whose counters are right and that has leaked no memory.
 */

#define MEMORY ((uint64_t)1 << 20)
#define ITEM 65536

static void check_counters(const struct pel_store *store)
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
        conversation_send(talk, bytes + at, piece);
    }
    check_counters(&talk->service.store);
}

/* The statistics show the CPU time, which differs from run to run, in digits and in length. Here it is always 0; the
 * fuzzer itself reads other fields. */
int getrusage(__rusage_who_t who, struct rusage *usage)
{
    int code = (int)syscall(SYS_getrusage, who, usage);

    usage->ru_utime = usage->ru_stime = (struct timeval){0, 0};
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t longest[] = {1, 3, 17, 300, 3000};
    static struct conversation whole, pieces;
    const char *bytes = (const char *)data;
    uint32_t seed = seed_of(data, size);

    feed(&whole, bytes, size, 0, 0, 0);
    for (size_t i = 0; i < sizeof longest / sizeof longest[0]; i++) {
        feed(&pieces, bytes, size, seed + (uint32_t)i, longest[i], (seed + (uint32_t)i) % 2);
        CHECK(buffers_equal(&whole.received, &pieces.received));
        CHECK(whole.session.closing == pieces.session.closing);
        conversation_end(&pieces);
    }
    conversation_end(&whole);
    return 0;
}
