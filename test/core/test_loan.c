#include "loan.h"
#include "check.h"

/* What goes out next, as one string. */
static size_t collect(const struct pel_loans *loans, struct pel_buffer *buffer, int most, size_t limit, char *bytes)
{
    struct iovec parts[16];
    int count = pel_loan_parts(loans, buffer, parts, most, limit);
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

TEST(without_loans_it_is_the_buffer)
{
    struct pel_loans loans = {0};
    struct pel_buffer buffer = {0};
    char bytes[16];

    CHECK_INT(0, collect(&loans, &buffer, 16, 100, bytes));
    pel_buffer_append(&buffer, "abc", 3);
    CHECK_BYTES("abc", bytes, collect(&loans, &buffer, 16, 100, bytes));
    pel_loan_consume(&loans, &buffer, 3);
    CHECK_INT(0, pel_buffer_length(&buffer));
    pel_buffer_free(&buffer);
}

TEST(loans_keep_their_places)
{
    struct pel_loans loans = {0};
    struct pel_buffer buffer = {0};
    char bytes[32];

    CHECK_INT(0, pel_loan_add(&loans, &buffer, "<1>", 3, 11));
    pel_buffer_append(&buffer, "ab", 2);
    CHECK_INT(0, pel_loan_add(&loans, &buffer, "<2>", 3, 12));
    CHECK_INT(0, pel_loan_add(&loans, &buffer, "<3>", 3, 13));
    pel_buffer_append(&buffer, "cd", 2);
    CHECK_INT(9, loans.length);
    CHECK_BYTES("<1>ab<2><3>cd", bytes, collect(&loans, &buffer, 16, 100, bytes));
    CHECK_BYTES("<1>ab<2>", bytes, collect(&loans, &buffer, 3, 100, bytes));
    CHECK_BYTES("<1>a", bytes, collect(&loans, &buffer, 16, 4, bytes));

    pel_loan_consume(&loans, &buffer, 4);
    CHECK_INT(12, loans.first->lender); /* the first one is gone */
    CHECK_BYTES("b<2><3>cd", bytes, collect(&loans, &buffer, 16, 100, bytes));
    pel_loan_consume(&loans, &buffer, 2);
    CHECK_BYTES("2><3>cd", bytes, collect(&loans, &buffer, 16, 100, bytes));
    pel_loan_drop(&loans);
    CHECK_INT(0, loans.length);
    CHECK_POINTER(NULL, loans.first);
    pel_buffer_free(&buffer);
}

/* Against one flat string: whatever is added and consumed, the same bytes are next. */
TEST(random_additions_and_consumptions)
{
    enum { MOST = 60000 };
    static char all[MOST], bytes[MOST];
    struct pel_loans loans = {0};
    struct pel_buffer buffer = {0};
    size_t added = 0, gone = 0;
    unsigned seed = 42;

    for (int i = 0; i < MOST; i++)
        all[i] = (char)(i % 251);
    while (gone < MOST) {
        size_t length = (size_t)rand_r(&seed) % 40, next;
        if (length > MOST - added)
            length = MOST - added;
        if (rand_r(&seed) % 2) {
            CHECK_INT(0, pel_buffer_append(&buffer, all + added, length));
            added += length;
        } else if (length) {
            CHECK_INT(0, pel_loan_add(&loans, &buffer, all + added, length, 1));
            added += length;
        }
        CHECK_INT(added - gone, pel_buffer_length(&buffer) + loans.length);
        next = collect(&loans, &buffer, 1 + rand_r(&seed) % 16, (size_t)rand_r(&seed) % 200, bytes);
        CHECK(memcmp(bytes, all + gone, next) == 0);
        if (next)
            next = (size_t)rand_r(&seed) % (next + 1);
        pel_loan_consume(&loans, &buffer, next);
        gone += next;
    }
    CHECK_POINTER(NULL, loans.first);
    CHECK_POINTER(NULL, loans.last);
    CHECK_INT(0, loans.before);
    pel_buffer_free(&buffer);
}
