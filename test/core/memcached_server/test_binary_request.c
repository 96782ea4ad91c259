#include "core/memcached_server/binary_request.h"

#include "check.h"
#include "core/base/error.h"
#include "memcached_server/packet.h"

static struct pel_binary_request request;

/* Parses a packet in memory of its own, where ASAN detects an over-read, and checks that each shorter prefix of it
 * needs more bytes. */
static int parse(const struct packet *packet, size_t *used)
{
    size_t length = packet_write(PEL_BINARY_MAGIC, packet), cut_used;
    char *bytes = malloc(length);
    int code;

    memcpy(bytes, packet_bytes, length);
    code = pel_memcached_binary_parse(bytes, length, used, &request);
    free(bytes);
    for (size_t cut = 0; cut < *used && code == 1; cut++) {
        static struct pel_binary_request ignored;
        bytes = malloc(cut ? cut : 1);
        memcpy(bytes, packet_bytes, cut);
        CHECK_INT(0, pel_memcached_binary_parse(bytes, cut, &cut_used, &ignored));
        CHECK_INT(0, cut_used);
        free(bytes);
    }
    request.key.bytes = packet_bytes + PEL_BINARY_HEADER + (packet->extras ? packet->extras_length : 0);
    return code;
}

static void check_bad(const struct packet *packet, enum pel_binary_status status, int closing)
{
    size_t used;

    CHECK_INT(1, parse(packet, &used));
    CHECK_INT(PEL_BINARY_BAD, request.command);
    CHECK_INT(status, request.status);
    CHECK_INT(closing, request.closing);
    CHECK_INT(PEL_BINARY_HEADER, used);
}

TEST(a_retrieval_command_is_parsed)
{
    struct packet packet = {.opcode = 0x0d, .key = "key"};
    size_t used;

    CHECK_INT(1, parse(&packet, &used));
    CHECK_INT(27, used);
    CHECK_INT(PEL_BINARY_GETK, request.command);
    CHECK_INT(1, request.quiet);
    CHECK_INT(0x0d, request.opcode);
    CHECK_BYTES("key", request.key.bytes, request.key.length);
    CHECK_BYTES("opaq", request.opaque, 4);
    packet.opcode = 0x00;
    CHECK_INT(1, parse(&packet, &used));
    CHECK_INT(PEL_BINARY_GET, request.command);
    CHECK_INT(0, request.quiet);
}

TEST(a_storage_command_ends_with_its_key)
{
    struct packet packet = {.opcode = 0x01,
                            .extras = "\1\2\3\4\0\0\1\1",
                            .extras_length = 8,
                            .key = "k",
                            .value = "value",
                            .cas = 0x0102030405060708};
    size_t used;

    CHECK_INT(1, parse(&packet, &used));
    CHECK_INT(24 + 8 + 1, used);
    CHECK_INT(PEL_BINARY_SET, request.command);
    CHECK_INT(0x01020304, request.client_flags);
    CHECK_INT(257, request.expiry);
    CHECK_INT(5, request.length);
    CHECK(request.cas == 0x0102030405060708);
}

TEST(numbers_are_parsed)
{
    struct packet packet = {.opcode = 0x16,
                            .extras = "\xff\xff\xff\xff\xff\xff\xff\xfe\0\0\0\0\0\0\0\3\xff\xff\xff\xff",
                            .extras_length = 20,
                            .key = "n"};
    size_t used;

    CHECK_INT(1, parse(&packet, &used));
    CHECK_INT(PEL_BINARY_DECREMENT, request.command);
    CHECK_INT(1, request.quiet);
    CHECK(request.delta == UINT64_MAX - 1);
    CHECK_INT(3, request.initial);
    CHECK(request.expiry == PEL_BINARY_NO_CREATION);
}

TEST(optional_parts_may_be_left_out)
{
    struct packet flush = {.opcode = 0x08}, later = {.opcode = 0x18, .extras = "\0\0\0\x0a", .extras_length = 4};
    struct packet stat = {.opcode = 0x10}, items = {.opcode = 0x10, .key = "items"};
    size_t used;

    CHECK_INT(1, parse(&flush, &used));
    CHECK_INT(PEL_BINARY_FLUSH, request.command);
    CHECK_INT(1, parse(&later, &used));
    CHECK_INT(10, request.expiry);
    CHECK_INT(1, request.quiet);
    CHECK_INT(1, parse(&stat, &used));
    CHECK_INT(PEL_BINARY_STAT, request.command);
    CHECK_INT(1, parse(&items, &used));
    CHECK_BYTES("items", request.key.bytes, request.key.length);
}

TEST(an_unknown_command_is_discarded)
{
    struct packet packet = {.opcode = 0x21, .key = "PLAIN", .value = "secret"};

    check_bad(&packet, PEL_BINARY_UNKNOWN, 0);
    CHECK_INT(11, request.length);
}

TEST(commands_with_wrong_parts_end_the_session)
{
    static const struct packet packets[] = {
        {.opcode = 0x00},                                                         /* get without a key */
        {.opcode = 0x00, .key = "k", .value = "v"},                               /* get with a value */
        {.opcode = 0x00, .key = "k", .extras = "1234", .extras_length = 4},       /* get with extras */
        {.opcode = 0x01, .key = "k", .value = "v"},                               /* set without extras */
        {.opcode = 0x01, .extras = "12345678", .extras_length = 8, .value = "v"}, /* set without a key */
        {.opcode = 0x05, .key = "k", .extras = "12345678", .extras_length = 8},   /* incr with set's extras */
        {.opcode = 0x08, .extras = "12", .extras_length = 2},
        {.opcode = 0x0a, .key = "k"},
        {.opcode = 0x0b, .value = "v"},
        {.opcode = 0x1c, .key = "k"}};

    for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++)
        check_bad(&packets[i], PEL_BINARY_INVALID, 1);
}

TEST(contradictory_lengths_are_refused)
{
    char bytes[24] = {[0] = (char)0x80, [3] = 5, [11] = 4};
    size_t used;

    CHECK_INT(1, pel_memcached_binary_parse(bytes, 24, &used, &request));
    CHECK_INT(PEL_BINARY_UNKNOWN, request.status);
    CHECK_INT(1, request.closing);
    bytes[4] = (char)0xff; /* extras alone are more than the body */
    bytes[3] = 0;
    CHECK_INT(1, pel_memcached_binary_parse(bytes, 24, &used, &request));
    CHECK_INT(1, request.closing);
}

TEST(a_too_long_key_is_refused)
{
    static char key[252];
    struct packet packet = {.opcode = 0x00, .key = key};
    size_t used;

    memset(key, 'k', 250);
    CHECK_INT(1, parse(&packet, &used));
    CHECK_INT(PEL_BINARY_GET, request.command);
    key[250] = 'k';
    check_bad(&packet, PEL_BINARY_INVALID, 1);
}

TEST(the_largest_length_is_parsed)
{
    char bytes[24 + 8 + 1] = {[0] = (char)0x80, [1] = 0x01, [3] = 1, [4] = 8};
    size_t used;

    memset(bytes + 8, 0xff, 4);
    CHECK_INT(1, pel_memcached_binary_parse(bytes, sizeof bytes, &used, &request));
    CHECK_INT(PEL_BINARY_SET, request.command);
    CHECK(request.length == UINT32_MAX - 9);
}

TEST(bytes_of_another_protocol_are_refused)
{
    size_t used;

    CHECK_INT(PEL_EPROTOCOL, pel_memcached_binary_parse("get a\r\n", 7, &used, &request));
    CHECK_INT(PEL_EPROTOCOL, pel_memcached_binary_parse("\x81", 1, &used, &request));
    CHECK_INT(0, pel_memcached_binary_parse("", 0, &used, &request));
}
