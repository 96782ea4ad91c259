#include "check.h"
#include "core/base/buffer.h"
#include "core/base/error.h"

/* Without this option, ASAN ends the program where malloc would return NULL. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static struct pel_buffer buffer;

static void append(const char *string)
{
    CHECK_INT(0, pel_buffer_append(&buffer, string, strlen(string)));
}

static void fill(size_t length)
{
    CHECK_INT(0, pel_buffer_reserve(&buffer, length));
    memset(pel_buffer_tail(&buffer), 'x', length);
    pel_buffer_commit(&buffer, length);
}

#define BUFFER_TEST(title) TEST_BETWEEN(pel_buffer_init(&buffer), title, pel_buffer_free(&buffer))

BUFFER_TEST(an_empty_buffer_has_no_memory)
{
    CHECK_INT(0, pel_buffer_length(&buffer));
    CHECK_INT(0, pel_buffer_space(&buffer));
    CHECK_POINTER(NULL, pel_buffer_head(&buffer));
    CHECK_POINTER(NULL, pel_buffer_tail(&buffer));
    pel_buffer_consume(&buffer, 0);
    CHECK_INT(0, pel_buffer_reserve(&buffer, 0));
    CHECK_INT(0, pel_buffer_append(&buffer, NULL, 0));
    CHECK_POINTER(NULL, buffer.data);
}

BUFFER_TEST(bytes_come_out_as_they_went_in)
{
    append("GET k");
    append("ey\r\n");
    CHECK_BYTES("GET key\r\n", pel_buffer_head(&buffer), pel_buffer_length(&buffer));
    pel_buffer_consume(&buffer, 4);
    CHECK_BYTES("key\r\n", pel_buffer_head(&buffer), pel_buffer_length(&buffer));
    append("GET");
    CHECK_BYTES("key\r\nGET", pel_buffer_head(&buffer), pel_buffer_length(&buffer));
}

BUFFER_TEST(reserved_space_can_be_committed_in_part)
{
    CHECK_INT(0, pel_buffer_reserve(&buffer, 10000));
    CHECK(pel_buffer_space(&buffer) >= 10000);
    memset(pel_buffer_tail(&buffer), 'a', 10000);
    pel_buffer_commit(&buffer, 3);
    CHECK_BYTES("aaa", pel_buffer_head(&buffer), pel_buffer_length(&buffer));
    CHECK(pel_buffer_tail(&buffer) == pel_buffer_head(&buffer) + 3);
}

BUFFER_TEST(a_buffer_that_was_consumed_whole_starts_again_at_the_front)
{
    append("abc");
    pel_buffer_consume(&buffer, 3);
    CHECK_INT(0, pel_buffer_length(&buffer));
    CHECK_INT(0, buffer.start);
    CHECK_POINTER(buffer.data, pel_buffer_tail(&buffer));
    CHECK(buffer.data != NULL);
}

BUFFER_TEST(an_emptied_buffer_keeps_a_small_capacity_and_frees_a_large_one)
{
    fill(PEL_BUFFER_KEEP);
    CHECK_INT(PEL_BUFFER_KEEP, buffer.capacity);
    pel_buffer_consume(&buffer, PEL_BUFFER_KEEP);
    CHECK_INT(PEL_BUFFER_KEEP, buffer.capacity);
    fill(PEL_BUFFER_KEEP + 1);
    pel_buffer_consume(&buffer, PEL_BUFFER_KEEP);
    CHECK(buffer.capacity > PEL_BUFFER_KEEP);
    CHECK_BYTES("x", pel_buffer_head(&buffer), pel_buffer_length(&buffer));
    pel_buffer_consume(&buffer, 1);
    CHECK_INT(0, buffer.capacity);
    CHECK_POINTER(NULL, buffer.data);
    append("again");
    CHECK_BYTES("again", pel_buffer_head(&buffer), pel_buffer_length(&buffer));
}

BUFFER_TEST(bytes_move_to_the_front_when_that_frees_enough_space)
{
    size_t capacity;
    char *data;

    fill(1000);
    capacity = buffer.capacity;
    data = buffer.data;
    pel_buffer_consume(&buffer, 990);
    CHECK_INT(0, pel_buffer_reserve(&buffer, capacity - 10));
    CHECK_INT(capacity, buffer.capacity);
    CHECK_POINTER(data, buffer.data);
    CHECK_INT(0, buffer.start);
    CHECK_BYTES("xxxxxxxxxx", pel_buffer_head(&buffer), pel_buffer_length(&buffer));
}

BUFFER_TEST(growing_doubles_so_that_appending_stays_cheap)
{
    size_t capacity = 0;
    int times = 0;

    for (int i = 0; i < 1000000; i++) {
        CHECK_INT(0, pel_buffer_append(&buffer, "a", 1));
        times += buffer.capacity != capacity;
        capacity = buffer.capacity;
    }
    CHECK(times <= 12);
    CHECK(capacity < 2 * 1024 * 1024);
}

/* A full buffer must neither move nor grow each time that a few bytes are consumed and a few bytes are appended. */
BUFFER_TEST(a_full_buffer_consumed_a_little_at_a_time_moves_seldom)
{
    const char *data;
    size_t start = 0;
    int moves = 0;

    fill(100000);
    data = buffer.data;
    for (int i = 0; i < 100000; i++) {
        pel_buffer_consume(&buffer, 10);
        fill(10);
        moves += buffer.data != data || buffer.start < start;
        data = buffer.data;
        start = buffer.start;
        CHECK_INT(100000, pel_buffer_length(&buffer));
    }
    CHECK(moves <= 11); /* a million bytes went through */
    CHECK_INT(200000, buffer.capacity);
}

BUFFER_TEST(reserving_too_much_fails_and_changes_nothing)
{
    static const size_t too_much[] = {SIZE_MAX, SIZE_MAX - 2, SIZE_MAX - 3, SIZE_MAX / 2 + 1};
    struct pel_buffer before;

    append("abc");
    before = buffer;
    for (size_t i = 0; i < sizeof too_much / sizeof *too_much; i++) {
        CHECK_INT(PEL_EMEMORY, pel_buffer_reserve(&buffer, too_much[i]));
        CHECK_INT(PEL_EMEMORY, pel_buffer_append(&buffer, "", too_much[i]));
        CHECK(!memcmp(&before, &buffer, sizeof buffer));
    }
    CHECK_BYTES("abc", pel_buffer_head(&buffer), pel_buffer_length(&buffer));
}

BUFFER_TEST(a_freed_buffer_can_be_used_again)
{
    append("abc");
    pel_buffer_free(&buffer);
    CHECK_INT(0, pel_buffer_length(&buffer));
    CHECK_POINTER(NULL, buffer.data);
    append("def");
    CHECK_BYTES("def", pel_buffer_head(&buffer), pel_buffer_length(&buffer));
    pel_buffer_free(&buffer);
}

static char byte_at(size_t position)
{
    return (char)(position * 2654435761u >> 7);
}

/* The byte at position n of the whole sequence is byte_at(n), so every consumed byte can be checked. */
BUFFER_TEST(random_appending_and_consuming_keeps_every_byte)
{
    size_t written = 0, consumed = 0;
    unsigned random = 1;

    for (int step = 0; step < 20000; step++) {
        size_t most = step / 2000 % 2 ? 20000 : 200, amount;

        random = random * 1103515245 + 12345;
        amount = (random >> 8) % most;
        if (random >> 31) {
            CHECK_INT(0, pel_buffer_reserve(&buffer, amount));
            CHECK(pel_buffer_space(&buffer) >= amount);
            amount -= amount / 4;
            for (size_t i = 0; i < amount; i++)
                pel_buffer_tail(&buffer)[i] = byte_at(written + i);
            pel_buffer_commit(&buffer, amount);
            written += amount;
        } else {
            if (amount > pel_buffer_length(&buffer))
                amount = pel_buffer_length(&buffer);
            for (size_t i = 0; i < amount; i++)
                if (pel_buffer_head(&buffer)[i] != byte_at(consumed + i))
                    CHECK_FAIL("byte %zu is wrong", consumed + i);
            pel_buffer_consume(&buffer, amount);
            consumed += amount;
        }
        CHECK_INT(written - consumed, pel_buffer_length(&buffer));
    }
    CHECK(consumed > 1000000);
}
