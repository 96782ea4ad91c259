#ifndef PEL_ERROR_H
#define PEL_ERROR_H

/*
 * The one table of error codes. Core functions return 0 or a positive value on success, and one of these, negative, on
 * failure. The Ruby classes of the same names are made from this table at load (ruby/error.c).
 *
 *   X(name, number, Ruby class, retriable, text)
 *
 * `retriable`: trying the same operation again can help.
 */
#define PEL_ERRORS(X)                                                                                                  \
    X(AGAIN, 1, "Error", 1, "the operation would block")                                                               \
    X(SYSTEM, 2, "ConnectionError", 1, "a system call failed: see errno")                                              \
    X(CLOSED, 3, "ClosedError", 0, "the stream is closed")                                                             \
    X(TIMEOUT, 4, "TimeoutError", 1, "the operation's time is over")                                                   \
    X(OVERLOAD, 5, "OverloadError", 1, "too many operations or bytes are outstanding: slow down")                      \
    X(MEMORY, 6, "Error", 1, "out of memory")                                                                          \
    X(PROTOCOL, 7, "ProtocolError", 0, "the peer broke the protocol")                                                  \
    X(LIMIT, 8, "LimitError", 0, "a documented limit was passed")                                                      \
    X(ARGUMENT, 9, "Error", 0, "an argument is not valid")                                                             \
    X(TLS, 10, "TLSError", 0, "TLS failed")                                                                            \
    X(UNTRUSTED, 11, "VerificationError", 0, "the peer's certificate is not trusted")                                  \
    X(TRUNCATED, 12, "TruncationError", 1, "the connection ended before the peer said so: bytes may be missing")

enum pel_error {
#define PEL_ERROR_CODE(name, number, ruby_class, retriable, text) PEL_E##name = -(number),
    PEL_ERRORS(PEL_ERROR_CODE)
#undef PEL_ERROR_CODE
};

/* The text of a code; never NULL; static, the caller frees nothing. */
static inline const char *pel_error_text(int code)
{
    switch (code) {
#define PEL_ERROR_TEXT(name, number, ruby_class, retriable, text)                                                      \
    case PEL_E##name:                                                                                                  \
        return text;
        PEL_ERRORS(PEL_ERROR_TEXT)
#undef PEL_ERROR_TEXT
    default:
        return "unknown error";
    }
}

#endif
