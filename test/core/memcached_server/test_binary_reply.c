#include "check.h"
#include "core/memcached_server/binary_reply.h"
#include "memcached_server/packet.h"

static struct pel_buffer output;
static const struct pel_binary_request request = {.opcode = 0x0c, .opaque = "opaq"}, quiet = {.quiet = 1};

static void reserve_output(size_t size)
{
    output = (struct pel_buffer){0};
    CHECK_INT(0, pel_buffer_reserve(&output, size));
}

static void check_written(const struct packet *expected)
{
    size_t length = packet_write(PEL_BINARY_REPLY_MAGIC, expected);

    CHECK_INT(length, pel_buffer_length(&output));
    CHECK(!memcmp(packet_bytes, pel_buffer_head(&output), length));
    pel_buffer_free(&output);
}

TEST(a_reply_may_have_all_parts)
{
    struct pel_binary_reply reply = {
        .request = &request, .cas = 0x0102030405060708, .extras = {"\0\0\0\5", 4}, .key = {"key", 3}, .value = 5};

    reserve_output(PEL_BINARY_HEADER + 4 + 3 + 5);
    pel__binary_put_reply(&output, &reply);
    pel__binary_put_text(&output, "val", 3);
    pel__binary_put_text(&output, "ue", 2);
    check_written(&(struct packet){
        .opcode = 0x0c, .cas = reply.cas, .extras = "\0\0\0\5", .extras_length = 4, .key = "key", .value = "value"});
}

TEST(a_reply_may_have_no_parts)
{
    reserve_output(PEL_BINARY_HEADER);
    pel__binary_put_reply(&output, &(struct pel_binary_reply){.request = &request, .status = PEL_BINARY_NOT_FOUND});
    check_written(&(struct packet){.opcode = 0x0c, .status = PEL_BINARY_NOT_FOUND});
}

TEST(numbers_are_big_endian)
{
    char bytes[8] = "";

    CHECK_POINTER(bytes + 8, pel__binary_put_number(bytes, 0x0102030405060708, 8));
    CHECK(!memcmp(bytes, "\1\2\3\4\5\6\7\x08", 8));
    CHECK_POINTER(bytes + 2, pel__binary_put_number(bytes, 0xffff8001, 2));
    CHECK(!memcmp(bytes, "\x80\1\3", 3));
}

TEST(an_error_reply_has_a_text)
{
    reserve_output(PEL_BINARY_HEADER + 9);
    pel__binary_refuse(&output, &request, PEL_BINARY_NOT_FOUND);
    check_written(&(struct packet){.opcode = 0x0c, .status = PEL_BINARY_NOT_FOUND, .value = "Not found"});
    reserve_output(PEL_BINARY_HEADER + 15);
    pel__binary_refuse(&output, &quiet, PEL_BINARY_UNKNOWN);
    CHECK_INT(PEL_BINARY_HEADER + 15, pel_buffer_length(&output));
    pel_buffer_free(&output);
}

TEST(success_is_confirmed_unless_the_command_is_quiet)
{
    reserve_output(PEL_BINARY_HEADER);
    pel__binary_confirm(&output, &quiet, 7);
    CHECK_INT(0, pel_buffer_length(&output));
    pel__binary_confirm(&output, &request, 7);
    check_written(&(struct packet){.opcode = 0x0c, .cas = 7});
}
