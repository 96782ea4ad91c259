#ifndef PEL_LOAN_H
#define PEL_LOAN_H

#include <stdint.h>
#include <sys/uio.h>
#include "buffer.h"

/*
 * Loans: bytes of somebody else that are sent from where they lie, in their place among the bytes of a buffer. So a
 * large string goes out without being copied, however slowly its reader reads.
 */

struct pel_loan {
    struct pel_loan *next;
    size_t before; /* bytes of the buffer that go out between the loan before this one and this one */
    const char *bytes;
    size_t length;    /* not sent yet */
    uintptr_t lender; /* the caller's to use: whom to keep alive and unchanged while the loan is here */
};

/* Zeroed: none. */
struct pel_loans {
    struct pel_loan *first, *last;
    size_t length; /* of all loans, in bytes, not sent yet */
    size_t before; /* the sum of theirs: the buffer's other bytes come after the last loan */
};

/* Puts a loan behind all that is in the buffer now. The lender keeps the bytes as they are until the loan is gone from
 * the list. 0 or PEL_EMEMORY. */
int pel_loan_add(struct pel_loans *loans, const struct pel_buffer *buffer, const void *bytes, size_t length,
                 uintptr_t lender);

/* Fills at most `most` parts with what goes out next, no more than `limit` bytes together. Returns their number. */
int pel_loan_parts(const struct pel_loans *loans, struct pel_buffer *buffer, struct iovec *parts, int most,
                   size_t limit);

/* So many bytes have been sent: takes them off the buffer and the loans. */
void pel_loan_consume(struct pel_loans *loans, struct pel_buffer *buffer, size_t length);

/* Forgets all loans. */
void pel_loan_drop(struct pel_loans *loans);

#endif
