#pragma once

/*
 * The table of all error codes. Core functions return 0 or a positive value on success, and one of these codes, all
 * negative, on failure. ruby/base/exception.c finds each code's Ruby class through this table.
 *
 *   X(name, number, Ruby class, retriable, text)
 *
 * `retriable`: retrying the operation may succeed.
 */
#define PEL_ERRORS(X)                                                                                                  \
    X(AGAIN, 1, "Error", 1, "the operation would block")                                                               \
    X(SYSTEM, 2, "ConnectionError", 1, "a system call failed")                                                         \
    X(CLOSED, 3, "ClosedError", 0, "the stream is closed")                                                             \
    X(TIMEOUT, 4, "TimeoutError", 1, "the operation timed out")                                                        \
    X(OVERLOAD, 5, "OverloadError", 1, "too many operations or bytes are pending: slow down")                          \
    X(MEMORY, 6, "Error", 1, "out of memory")                                                                          \
    X(PROTOCOL, 7, "ProtocolError", 0, "the peer broke the protocol")                                                  \
    X(LIMIT, 8, "LimitError", 0, "a documented limit was exceeded")                                                    \
    X(ARGUMENT, 9, "Error", 0, "an argument is invalid")                                                               \
    X(TLS, 10, "TLSError", 0, "TLS failed")                                                                            \
    X(UNTRUSTED, 11, "VerificationError", 0, "the peer's certificate is not trusted")                                  \
    X(TRUNCATED, 12, "TruncationError", 1, "the connection ended without close_notify: bytes may be missing")

enum pel_error {
#define PEL_ERROR_CODE(name, number, ruby_class, retriable, text) PEL_E##name = -(number),
    PEL_ERRORS(PEL_ERROR_CODE)
#undef PEL_ERROR_CODE
};

/* The text of a code: a static string, never NULL. */
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
