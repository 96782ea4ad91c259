#pragma once

#include <stdint.h>
#include <sys/uio.h>
#include "core/base/buffer.h"

/*
 * Borrowed buffers: bytes of another owner that are sent from where they lie, interleaved with the bytes of an output
 * buffer. So a large string is sent without being copied, however slowly the peer reads.
 */

/* Who counts what is borrowed of its memory. */
struct pel_lender {
    /* An entry is gone from its list: its bytes were sent, or never will be. */
    void (*give_back)(struct pel_lender *lender, uintptr_t owner);
};

struct pel_borrowed {
    struct pel_borrowed *next;
    size_t before; /* the output buffer's bytes to send after the previous borrowed buffer and before this one */
    const char *bytes;
    size_t length;   /* the bytes not sent yet */
    uintptr_t owner; /* for the caller's use: the object to keep alive and unchanged while this entry exists */
    struct pel_lender *lender; /* is told when the entry is gone; or NULL */
};

/* A zeroed list is empty. */
struct pel_borrowed_list {
    struct pel_borrowed *first, *last;
    size_t length; /* the sum of all entries' `length` */
    size_t before; /* the sum of all entries' `before`: the rest of the output buffer follows the last entry */
};

/* Appends borrowed bytes after all bytes that the output buffer holds now. The owner must not change or free them
 * until the entry is gone from the list. Returns 0 or PEL_EMEMORY. */
int pel_borrowed_add(struct pel_borrowed_list *list, const struct pel_buffer *buffer, const void *bytes, size_t length,
                     uintptr_t owner, struct pel_lender *lender);

/* Fills in at most `most` parts with the next bytes to send, at most `limit` bytes in total. Returns their number. */
int pel_borrowed_parts(const struct pel_borrowed_list *list, struct pel_buffer *buffer, struct iovec *parts, int most,
                       size_t limit);

/* Removes the next `length` bytes, which have been sent, from the buffer and the list. */
void pel_borrowed_consume(struct pel_borrowed_list *list, struct pel_buffer *buffer, size_t length);

/* Removes all entries. */
void pel_borrowed_drop(struct pel_borrowed_list *list);
