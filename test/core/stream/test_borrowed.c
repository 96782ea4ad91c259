#include "check.h"
#include "core/stream/borrowed.h"

static struct pel_borrowed_list borrowed;
static struct pel_buffer buffer;

#define BORROWED_TEST(title) TEST_BETWEEN(borrowed = (struct pel_borrowed_list){0}, title, pel_buffer_free(&buffer))

/* Concatenates the next parts to send. Returns their total length. */
static size_t collect(int most, size_t limit, char *bytes)
{
    struct iovec parts[16];
    int count = pel_borrowed_parts(&borrowed, &buffer, parts, most, limit);
    size_t length = 0;

    CHECK(count <= most);
    for (int i = 0; i < count; i++) {
        CHECK(parts[i].iov_len > 0);
        memcpy(bytes + length, parts[i].iov_base, parts[i].iov_len);
        length += parts[i].iov_len;
    }
    CHECK(length <= limit);
    return length;
}

BORROWED_TEST(without_borrowed_bytes_the_parts_are_the_buffer)
{
    char bytes[16];

    CHECK_INT(0, collect(16, 100, bytes));
    pel_buffer_append(&buffer, "abc", 3);
    CHECK_BYTES("abc", bytes, collect(16, 100, bytes));
    pel_borrowed_consume(&borrowed, &buffer, 3);
    CHECK_INT(0, pel_buffer_length(&buffer));
}

BORROWED_TEST(borrowed_bytes_keep_their_position_among_the_buffers)
{
    char bytes[32];

    CHECK_INT(0, pel_borrowed_add(&borrowed, &buffer, "<1>", 3, 11, NULL));
    pel_buffer_append(&buffer, "ab", 2);
    CHECK_INT(0, pel_borrowed_add(&borrowed, &buffer, "<2>", 3, 12, NULL));
    CHECK_INT(0, pel_borrowed_add(&borrowed, &buffer, "<3>", 3, 13, NULL));
    pel_buffer_append(&buffer, "cd", 2);
    CHECK_INT(9, borrowed.length);
    CHECK_BYTES("<1>ab<2><3>cd", bytes, collect(16, 100, bytes));
    CHECK_BYTES("<1>ab<2>", bytes, collect(3, 100, bytes));
    CHECK_BYTES("<1>a", bytes, collect(16, 4, bytes));

    pel_borrowed_consume(&borrowed, &buffer, 4);
    CHECK_INT(12, borrowed.first->owner); /* the first entry is gone */
    CHECK_BYTES("b<2><3>cd", bytes, collect(16, 100, bytes));
    pel_borrowed_consume(&borrowed, &buffer, 2);
    CHECK_BYTES("2><3>cd", bytes, collect(16, 100, bytes));
    pel_borrowed_drop(&borrowed);
    CHECK_INT(0, borrowed.length);
    CHECK_POINTER(NULL, borrowed.first);
}

/* Compared with one flat string: after any additions and consumptions, the same bytes come next. */
BORROWED_TEST(random_additions_and_consumptions_keep_the_order)
{
    enum { MOST = 60000 };
    static char all[MOST], bytes[MOST];
    size_t added = 0, consumed = 0;
    unsigned seed = 42;

    for (int i = 0; i < MOST; i++)
        all[i] = (char)(i % 251);
    while (consumed < MOST) {
        size_t length = (size_t)rand_r(&seed) % 40, next;
        if (length > MOST - added)
            length = MOST - added;
        if (rand_r(&seed) % 2) {
            CHECK_INT(0, pel_buffer_append(&buffer, all + added, length));
            added += length;
        } else if (length) {
            CHECK_INT(0, pel_borrowed_add(&borrowed, &buffer, all + added, length, 1, NULL));
            added += length;
        }
        CHECK_INT(added - consumed, pel_buffer_length(&buffer) + borrowed.length);
        next = collect(1 + rand_r(&seed) % 16, (size_t)rand_r(&seed) % 200, bytes);
        CHECK(memcmp(bytes, all + consumed, next) == 0);
        if (next)
            next = (size_t)rand_r(&seed) % (next + 1);
        pel_borrowed_consume(&borrowed, &buffer, next);
        consumed += next;
    }
    CHECK_POINTER(NULL, borrowed.first);
    CHECK_POINTER(NULL, borrowed.last);
    CHECK_INT(0, borrowed.before);
}

static uintptr_t given_back[4];
static unsigned times_given_back;

static void note_give_back(struct pel_lender *lender, uintptr_t owner)
{
    (void)lender;
    given_back[times_given_back++] = owner;
}

BORROWED_TEST(a_lender_is_told_when_its_bytes_are_sent_or_dropped)
{
    struct pel_lender lender = {.give_back = note_give_back};

    CHECK_INT(0, pel_borrowed_add(&borrowed, &buffer, "<1>", 3, 11, &lender));
    pel_buffer_append(&buffer, "ab", 2);
    CHECK_INT(0, pel_borrowed_add(&borrowed, &buffer, "<2>", 3, 12, &lender));
    CHECK_INT(0, pel_borrowed_add(&borrowed, &buffer, "<3>", 3, 13, &lender));
    pel_borrowed_consume(&borrowed, &buffer, 2);
    CHECK_INT(0, times_given_back);
    pel_borrowed_consume(&borrowed, &buffer, 3);
    CHECK_INT(1, times_given_back);
    CHECK_INT(11, given_back[0]);
    pel_borrowed_drop(&borrowed);
    CHECK_INT(3, times_given_back);
    CHECK_INT(12, given_back[1]);
    CHECK_INT(13, given_back[2]);
}
