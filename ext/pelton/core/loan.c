#include "loan.h"

#include <string.h>
#include "alloc.h"
#include "error.h"

static size_t least(size_t one, size_t other)
{
    return one < other ? one : other;
}

int pel_loan_add(struct pel_loans *loans, const struct pel_buffer *buffer, const void *bytes, size_t length,
                 uintptr_t lender)
{
    struct pel_loan *loan = pel_malloc(sizeof *loan);

    if (!loan)
        return PEL_EMEMORY;
    *loan = (struct pel_loan){
        .before = pel_buffer_length(buffer) - loans->before, .bytes = bytes, .length = length, .lender = lender};
    if (loans->last)
        loans->last->next = loan;
    else
        loans->first = loan;
    loans->last = loan;
    loans->length += length;
    loans->before += loan->before;
    return 0;
}

/* One part more, unless it would be empty or there is no room for it. */
static int add_part(struct iovec *parts, int count, int most, const char *bytes, size_t length, size_t *limit)
{
    length = least(length, *limit);
    if (!length || count == most)
        return count;
    parts[count] = (struct iovec){.iov_base = (void *)bytes, .iov_len = length};
    *limit -= length;
    return count + 1;
}

int pel_loan_parts(const struct pel_loans *loans, struct pel_buffer *buffer, struct iovec *parts, int most,
                   size_t limit)
{
    const char *bytes = pel_buffer_head(buffer);
    int count = 0;

    for (struct pel_loan *loan = loans->first; loan && limit && count < most; loan = loan->next) {
        count = add_part(parts, count, most, bytes, loan->before, &limit);
        if (loan->before)
            bytes += loan->before;
        count = add_part(parts, count, most, loan->bytes, loan->length, &limit);
    }
    return add_part(parts, count, most, bytes, pel_buffer_length(buffer) - loans->before, &limit);
}

static void end_first(struct pel_loans *loans)
{
    struct pel_loan *loan = loans->first;

    if (!(loans->first = loan->next))
        loans->last = NULL;
    pel_free(loan);
}

void pel_loan_consume(struct pel_loans *loans, struct pel_buffer *buffer, size_t length)
{
    struct pel_loan *loan;

    while (length && (loan = loans->first)) {
        size_t taken = least(length, loan->before);
        pel_buffer_consume(buffer, taken);
        loan->before -= taken;
        loans->before -= taken;
        length -= taken;
        taken = least(length, loan->length);
        loan->bytes += taken;
        loan->length -= taken;
        loans->length -= taken;
        length -= taken;
        if (!loan->before && !loan->length)
            end_first(loans);
    }
    pel_buffer_consume(buffer, length);
}

void pel_loan_drop(struct pel_loans *loans)
{
    while (loans->first)
        end_first(loans);
    memset(loans, 0, sizeof *loans);
}
