#include "core/stream/borrowed.h"

#include <string.h>
#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/slice.h"

int pel_borrowed_add(struct pel_borrowed_list *list, const struct pel_buffer *buffer, const void *bytes, size_t length,
                     uintptr_t owner, struct pel_lender *lender)
{
    struct pel_borrowed *borrowed = pel_malloc(sizeof *borrowed);

    if (!borrowed)
        return PEL_EMEMORY;
    *borrowed = (struct pel_borrowed){.before = pel_buffer_length(buffer) - list->before,
                                      .bytes = bytes,
                                      .length = length,
                                      .owner = owner,
                                      .lender = lender};
    *(list->last ? &list->last->next : &list->first) = borrowed;
    list->last = borrowed;
    list->length += length;
    list->before += borrowed->before;
    return 0;
}

/* Appends a part, unless it would be empty or `parts` is full. Returns the number of parts. */
static int add_output_part(struct iovec *parts, int count, int most, const char *bytes, size_t length, size_t *limit)
{
    length = pel_min(length, *limit);
    if (!length || count == most)
        return count;
    parts[count] = (struct iovec){.iov_base = (void *)bytes, .iov_len = length};
    *limit -= length;
    return count + 1;
}

int pel_borrowed_parts(const struct pel_borrowed_list *list, struct pel_buffer *buffer, struct iovec *parts, int most,
                       size_t limit)
{
    const char *bytes = pel_buffer_head(buffer);
    int count = 0;

    for (struct pel_borrowed *borrowed = list->first; borrowed && limit && count < most; borrowed = borrowed->next) {
        count = add_output_part(parts, count, most, bytes, borrowed->before, &limit);
        if (borrowed->before)
            bytes += borrowed->before;
        count = add_output_part(parts, count, most, borrowed->bytes, borrowed->length, &limit);
    }
    return add_output_part(parts, count, most, bytes, pel_buffer_length(buffer) - list->before, &limit);
}

static void remove_first_borrowed(struct pel_borrowed_list *list)
{
    struct pel_borrowed *borrowed = list->first;

    if (!(list->first = borrowed->next))
        list->last = NULL;
    if (borrowed->lender)
        borrowed->lender->give_back(borrowed->lender, borrowed->owner);
    pel_free(borrowed);
}

void pel_borrowed_consume(struct pel_borrowed_list *list, struct pel_buffer *buffer, size_t length)
{
    struct pel_borrowed *borrowed;

    while (length && (borrowed = list->first)) {
        size_t taken = pel_min(length, borrowed->before);
        pel_buffer_consume(buffer, taken);
        borrowed->before -= taken;
        list->before -= taken;
        length -= taken;
        taken = pel_min(length, borrowed->length);
        borrowed->bytes += taken;
        borrowed->length -= taken;
        list->length -= taken;
        length -= taken;
        if (!borrowed->before && !borrowed->length)
            remove_first_borrowed(list);
    }
    pel_buffer_consume(buffer, length);
}

void pel_borrowed_drop(struct pel_borrowed_list *list)
{
    while (list->first)
        remove_first_borrowed(list);
    memset(list, 0, sizeof *list);
}
