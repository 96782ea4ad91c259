#include "core/http1/http1_writer.h"

#include <string.h>
#include "core/http1/text.h"

const char *pel_http1_reason(unsigned status)
{
    switch (status) {
#define REASON(number, text)                                                                                           \
    case number:                                                                                                       \
        return text;
        REASON(100, "Continue")
        REASON(101, "Switching Protocols")
        REASON(102, "Processing")
        REASON(103, "Early Hints")
        REASON(200, "OK")
        REASON(201, "Created")
        REASON(202, "Accepted")
        REASON(203, "Non-Authoritative Information")
        REASON(204, "No Content")
        REASON(205, "Reset Content")
        REASON(206, "Partial Content")
        REASON(207, "Multi-Status")
        REASON(208, "Already Reported")
        REASON(226, "IM Used")
        REASON(300, "Multiple Choices")
        REASON(301, "Moved Permanently")
        REASON(302, "Found")
        REASON(303, "See Other")
        REASON(304, "Not Modified")
        REASON(305, "Use Proxy")
        REASON(307, "Temporary Redirect")
        REASON(308, "Permanent Redirect")
        REASON(400, "Bad Request")
        REASON(401, "Unauthorized")
        REASON(402, "Payment Required")
        REASON(403, "Forbidden")
        REASON(404, "Not Found")
        REASON(405, "Method Not Allowed")
        REASON(406, "Not Acceptable")
        REASON(407, "Proxy Authentication Required")
        REASON(408, "Request Timeout")
        REASON(409, "Conflict")
        REASON(410, "Gone")
        REASON(411, "Length Required")
        REASON(412, "Precondition Failed")
        REASON(413, "Content Too Large")
        REASON(414, "URI Too Long")
        REASON(415, "Unsupported Media Type")
        REASON(416, "Range Not Satisfiable")
        REASON(417, "Expectation Failed")
        REASON(418, "I'm a teapot")
        REASON(421, "Misdirected Request")
        REASON(422, "Unprocessable Content")
        REASON(423, "Locked")
        REASON(424, "Failed Dependency")
        REASON(425, "Too Early")
        REASON(426, "Upgrade Required")
        REASON(428, "Precondition Required")
        REASON(429, "Too Many Requests")
        REASON(431, "Request Header Fields Too Large")
        REASON(451, "Unavailable For Legal Reasons")
        REASON(500, "Internal Server Error")
        REASON(501, "Not Implemented")
        REASON(502, "Bad Gateway")
        REASON(503, "Service Unavailable")
        REASON(504, "Gateway Timeout")
        REASON(505, "HTTP Version Not Supported")
        REASON(506, "Variant Also Negotiates")
        REASON(507, "Insufficient Storage")
        REASON(508, "Loop Detected")
        REASON(511, "Network Authentication Required")
#undef REASON
    default:
        return "";
    }
}

/* ---- parts of a line, for which the caller has reserved space ------------------------------------------------- */

static void append_reserved(struct pel_buffer *buffer, const char *bytes, size_t length)
{
    if (length)
        memcpy(pel_buffer_tail(buffer), bytes, length);
    pel_buffer_commit(buffer, length);
}

#define APPEND(buffer, literal) append_reserved(buffer, literal, sizeof(literal) - 1)

/* Appends the number in a base up to 16, with lower-case digits. */
static void append_digits(struct pel_buffer *buffer, uint64_t number, unsigned base)
{
    char digits[20];
    size_t count = 0;

    do
        digits[sizeof digits - ++count] = "0123456789abcdef"[number % base];
    while (number /= base);
    append_reserved(buffer, digits + sizeof digits - count, count);
}

/* ---- lines ---------------------------------------------------------------------------------------------------- */

int pel_http1_write_status_line(struct pel_buffer *buffer, unsigned status)
{
    const char *reason = pel_http1_reason(status);
    size_t length = strlen(reason);

    if (status < 100 || status > 999)
        return PEL_EARGUMENT;
    if (pel_buffer_reserve(buffer, length + 15) < 0)
        return PEL_EMEMORY;
    APPEND(buffer, "HTTP/1.1 ");
    append_digits(buffer, status, 10);
    APPEND(buffer, " ");
    append_reserved(buffer, reason, length);
    APPEND(buffer, "\r\n");
    return 0;
}

int pel_http1_write_header(struct pel_buffer *buffer, struct pel_slice name, struct pel_slice value)
{
    if (!name.length || !pel_http1_all(name.bytes, name.length, PEL_HTTP1_TOKEN) ||
        !pel_http1_all(value.bytes, value.length, PEL_HTTP1_VALUE))
        return PEL_EARGUMENT;
    if (pel_buffer_reserve(buffer, name.length + value.length + 4) < 0)
        return PEL_EMEMORY;
    append_reserved(buffer, name.bytes, name.length);
    APPEND(buffer, ": ");
    append_reserved(buffer, value.bytes, value.length);
    APPEND(buffer, "\r\n");
    return 0;
}

int pel_http1_write_number(struct pel_buffer *buffer, struct pel_slice name, uint64_t value)
{
    if (!name.length || !pel_http1_all(name.bytes, name.length, PEL_HTTP1_TOKEN))
        return PEL_EARGUMENT;
    if (pel_buffer_reserve(buffer, name.length + 24) < 0)
        return PEL_EMEMORY;
    append_reserved(buffer, name.bytes, name.length);
    APPEND(buffer, ": ");
    append_digits(buffer, value, 10);
    APPEND(buffer, "\r\n");
    return 0;
}

int pel_http1_write_end(struct pel_buffer *buffer)
{
    return pel_buffer_append(buffer, "\r\n", 2);
}

int pel_http1_write_chunk(struct pel_buffer *buffer, uint64_t length)
{
    if (pel_buffer_reserve(buffer, 18) < 0)
        return PEL_EMEMORY;
    append_digits(buffer, length, 16);
    APPEND(buffer, "\r\n");
    return 0;
}

/* ---- dates ---------------------------------------------------------------------------------------------------- */

static void write_two_digits(char *bytes, int number)
{
    bytes[0] = (char)('0' + number / 10 % 10);
    bytes[1] = (char)('0' + number % 10);
}

void pel_http1_date(char *bytes, time_t time)
{
    struct tm tm;

    gmtime_r(&time, &tm);
    memcpy(bytes, "???, ?? ??? ???? ??:??:?? GMT", PEL_HTTP1_DATE);
    memcpy(bytes, &"SunMonTueWedThuFriSat"[tm.tm_wday * 3], 3);
    write_two_digits(bytes + 5, tm.tm_mday);
    memcpy(bytes + 8, &"JanFebMarAprMayJunJulAugSepOctNovDec"[tm.tm_mon * 3], 3);
    write_two_digits(bytes + 12, (tm.tm_year + 1900) / 100);
    write_two_digits(bytes + 14, tm.tm_year % 100);
    write_two_digits(bytes + 17, tm.tm_hour);
    write_two_digits(bytes + 20, tm.tm_min);
    write_two_digits(bytes + 23, tm.tm_sec);
}
