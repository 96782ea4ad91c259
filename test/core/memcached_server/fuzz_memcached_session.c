#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuzz_pieces.h"
#include "memcached_server/conversation.h"

/*
 * Several clients of one small store, some of which read slowly. For any bytes from them: no crash, no hang, bounded
 * output, no value that changes while a client reads it, and at the end a store whose counters are right and that has
 * leaked no memory. The replies are the same when the bytes arrive in pieces, and when values are received directly.
 *
 * The input is the bytes that the clients send, the first client's first; so a recorded conversation is an input. The
 * byte 0xff begins an order: the next byte selects the order and its client, and some orders take one more byte, their
 * number. 0xff twice is the byte itself. As an order may come at any byte, the clients' commands interleave.
 */

#define CLIENTS 4
#define MEMORY ((uint64_t)128 << 10)
#define ITEM ((uint64_t)32 << 10)
#define UNIT 160 /* bytes; values are multiples of it, the longest of which (40800) is larger than an item may be */
#define LONGEST_REPLY (PEL_MEMCACHED_REPLY_SPACE + MEMORY) /* a dump of the keys is shorter than the items */
#define BLOCKED ((size_t)1 << 16) /* bytes; a client with more unconsumed ones sends nothing: its socket is full */

enum order {
    SENDS,        /* the following bytes are this client's */
    SENDS_FILLER, /* number: units of a value */
    SENDS_LENGTH, /* number: the length of such a value, in decimal */
    SENDS_VALUE,  /* number: that length, a CRLF, the value and its CRLF */
    TURNS_SLOW,   /* stops reading */
    READS_SOME,   /* reads the output up to a long value and begins with that; if it has begun, reads the rest of it */
    TURNS_FAST,   /* reads everything, from now on at once */
    LEAVES,       /* disconnects, and another client takes its place */
    TIME_PASSES,  /* number: seconds */
    STORE_CRAWLS, /* number: items to visit */
    ORDERS
};

/* Both get the same input: one whole from order to order, the other in pieces. */
static struct world {
    struct conversation clients[CLIENTS];
    uint32_t seconds;
} whole, pieces;

static uint32_t seed;

static struct pel_memcached_service *service_of(struct world *world)
{
    return &world->clients[0].service;
}

static void begin(struct world *world, int direct)
{
    world->seconds = 0;
    conversation_begin(&world->clients[0], MEMORY, ITEM);
    service_of(world)->store.seed = (struct pel_siphash_seed){0}; /* or two crawls would visit different items */
    for (int i = 1; i < CLIENTS; i++) {
        memset(&world->clients[i], 0, sizeof world->clients[i]);
        conversation_join(&world->clients[i], service_of(world));
    }
    for (int i = 0; i < CLIENTS; i++)
        world->clients[i].direct = direct;
}

/* ---- checks --------------------------------------------------------------------------------------------------- */

static void check_counters(const struct pel_store *store)
{
    uint64_t bytes = 0;
    size_t count = 0;

    for (const struct pel_item *item = store->newest; item; item = item->older, count++) {
        bytes += pel_store_cost(item->key_length, item->length);
        CHECK(item->state & PEL_ITEM_LINKED);
        CHECK(item->references > 0);
        CHECK(item->key_length > 0 && item->key_length <= PEL_STORE_KEY_LIMIT);
        CHECK(!memcmp(item->bytes + item->key_length + item->length, "\r\n", 2));
    }
    CHECK(count == store->table.count);
    CHECK(bytes == store->linked_bytes);
    CHECK(store->bytes >= bytes && store->bytes <= store->memory_limit);
}

/* Compares the replies since the last call. */
static void check_replies(void)
{
    for (int i = 0; i < CLIENTS; i++) {
        struct conversation *one = &whole.clients[i], *other = &pieces.clients[i];
        CHECK(buffers_equal(&one->received, &other->received));
        CHECK(buffers_equal(&one->output, &other->output));
        CHECK(one->session.closing == other->session.closing);
        CHECK(pel_buffer_length(&one->output) <= PEL_MEMCACHED_OUTPUT_LIMIT + LONGEST_REPLY);
        pel_buffer_consume(&one->received, pel_buffer_length(&one->received));
        pel_buffer_consume(&other->received, pel_buffer_length(&other->received));
    }
}

/* ---- orders --------------------------------------------------------------------------------------------------- */

static void send_bytes(int client, const char *bytes, size_t length)
{
    static const uint32_t longest[] = {1, 3, 17, 300};
    uint32_t limit = longest[seed % 4] + (uint32_t)length / 64;

    if (pel_buffer_length(&whole.clients[client].rest) > BLOCKED)
        return;
    conversation_send(&whole.clients[client], bytes, length);
    for (size_t at = 0, piece; at < length; at += piece) {
        piece = next_piece(&seed, limit, length - at);
        conversation_send(&pieces.clients[client], bytes + at, piece);
    }
}

static void send_length(int client, unsigned number)
{
    char text[16];

    snprintf(text, sizeof text, "%u", number * UNIT);
    send_bytes(client, text, strlen(text));
}

static void send_filler(int client, unsigned number)
{
    static char filler[255 * UNIT];

    memset(filler, 'a' + (int)(number % 26), number * UNIT); /* values differ */
    send_bytes(client, filler, number * UNIT);
}

static void read_all(struct conversation *talk)
{
    talk->slow = 0;
    conversation_release(talk);
    conversation_read(talk);
    conversation_run(talk);
}

static void read_some(struct conversation *talk)
{
    if (talk->held)
        conversation_release(talk);
    else
        conversation_read(talk);
    conversation_run(talk);
}

static void carry_out(struct world *world, enum order order, int client, unsigned number)
{
    struct conversation *talk = &world->clients[client];
    struct pel_store *store = &service_of(world)->store;

    switch (order) {
    case TURNS_SLOW:
        talk->slow = 1;
        break;
    case READS_SOME:
        read_some(talk);
        break;
    case TURNS_FAST:
        read_all(talk);
        break;
    case LEAVES:
        conversation_leave(talk);
        conversation_join(talk, service_of(world));
        break;
    case TIME_PASSES:
        world->seconds += number;
        pel_store_set_time(store, world->seconds, 1800000000 + world->seconds);
        break;
    case STORE_CRAWLS:
        pel_store_crawl(store, number);
        break;
    default:
        break;
    }
}

/* Carries out the order that a byte selects. Returns the length of its number: 0 or 1. */
static size_t follow(uint8_t byte, const uint8_t *data, size_t left, int *sender)
{
    enum order order = (byte >> 2) % ORDERS;
    int client = byte % CLIENTS;
    int numbered = order == TIME_PASSES || order == STORE_CRAWLS || (order >= SENDS_FILLER && order <= SENDS_VALUE);
    unsigned number = numbered && left ? *data : 0;

    if (order <= SENDS_VALUE)
        *sender = client;
    if (order == SENDS_LENGTH || order == SENDS_VALUE)
        send_length(client, number);
    if (order == SENDS_VALUE)
        send_bytes(client, "\r\n", 2);
    if (order == SENDS_FILLER || order == SENDS_VALUE)
        send_filler(client, number);
    if (order == SENDS_VALUE)
        send_bytes(client, "\r\n", 2);
    carry_out(&whole, order, client, number);
    carry_out(&pieces, order, client, number);
    return numbered && left;
}

/* The statistics show the CPU time, which differs from run to run, in digits and in length. Here it is always 0; the
 * fuzzer itself reads other fields. */
int getrusage(__rusage_who_t who, struct rusage *usage)
{
    int code = (int)syscall(SYS_getrusage, who, usage);

    usage->ru_utime = usage->ru_stime = (struct timeval){0, 0};
    return code;
}

static void finish(struct world *world)
{
    struct pel_store *store = &service_of(world)->store;

    check_counters(store);
    for (int i = 0; i < CLIENTS; i++)
        conversation_leave(&world->clients[i]);
    while (store->flushed)
        pel_store_crawl(store, 1); /* frees one flushed item */
    CHECK(store->bytes == store->linked_bytes);
    conversation_end(&world->clients[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int sender = 0;

    seed = seed_of(data, size);
    begin(&whole, seed % 3 == 0);
    begin(&pieces, seed % 3 != 0);
    for (size_t at = 0; at < size;) {
        if (data[at] != 0xff) {
            const uint8_t *end = memchr(data + at, 0xff, size - at);
            size_t length = end ? (size_t)(end - data) - at : size - at;
            send_bytes(sender, (const char *)data + at, length);
            at += length;
        } else if (size - at > 1 && data[at + 1] != 0xff) {
            at += 2 + follow(data[at + 1], data + at + 2, size - at - 2, &sender);
        } else {
            send_bytes(sender, "\xff", 1);
            at += 2;
        }
        check_replies();
    }
    for (int i = 0; i < CLIENTS; i++) {
        read_all(&whole.clients[i]);
        read_all(&pieces.clients[i]);
    }
    check_replies();
    CHECK(!memcmp(&service_of(&whole)->counters, &service_of(&pieces)->counters,
                  sizeof whole.clients[0].service.counters));
    finish(&whole);
    finish(&pieces);
    return 0;
}
