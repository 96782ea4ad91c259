#pragma once

#include "check.h"
#include "core/http2/http2_session.h"

/* A client of a session: frames by hand, with literal fields; and what the session has answered. */

#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

enum { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION };
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4 };

struct client {
    struct pel_http1_limits message;
    struct pel_http2_limits limits;
    struct pel_http2_session *session;
    struct pel_buffer bytes, answer; /* to be sent; and received */
    int64_t now;
};

static inline void client_frame(struct client *client, int type, int flags, uint32_t stream, const char *payload,
                                size_t length)
{
    unsigned char head[9] = {(unsigned char)(length >> 16), (unsigned char)(length >> 8), (unsigned char)length,
                             (unsigned char)type,           (unsigned char)flags,         (unsigned char)(stream >> 24),
                             (unsigned char)(stream >> 16), (unsigned char)(stream >> 8), (unsigned char)stream};

    pel_buffer_append(&client->bytes, head, sizeof head);
    if (length)
        pel_buffer_append(&client->bytes, payload, length);
}

static inline void client_field(struct pel_buffer *block, const char *name, const char *value)
{
    unsigned char name_length = (unsigned char)strlen(name), value_length = (unsigned char)strlen(value);

    pel_buffer_append(block, "", 1);
    pel_buffer_append(block, &name_length, 1);
    pel_buffer_append(block, name, name_length);
    pel_buffer_append(block, &value_length, 1);
    pel_buffer_append(block, value, value_length);
}

/* A request with one more field, unless its name is NULL. */
static inline void client_request(struct client *client, uint32_t stream, const char *method, const char *path,
                                  int flags, const char *name, const char *value)
{
    struct pel_buffer block = {0};

    client_field(&block, ":method", method);
    client_field(&block, ":scheme", "http");
    client_field(&block, ":path", path);
    client_field(&block, ":authority", "h");
    if (name)
        client_field(&block, name, value);
    client_frame(client, HEADERS, flags | END_HEADERS, stream, pel_buffer_head(&block), pel_buffer_length(&block));
    pel_buffer_free(&block);
}

static inline void client_begin(struct client *client)
{
    *client = (struct client){.message = pel_http1_default_limits};
    client->limits = (struct pel_http2_limits){
        .message = &client->message, .streams = 10, .window = 1000, .websockets = 1, .resets = 5, .controls = 5};
    client->session = pel_http2_session_new(&client->limits);
    pel_buffer_append(&client->bytes, PREFACE, sizeof PREFACE - 1);
    client_frame(client, SETTINGS, 0, 0, NULL, 0);
}

/* Sends what was written, and receives the answer. */
static inline int client_send(struct client *client)
{
    int code = pel_http2_receive(client->session, pel_buffer_head(&client->bytes), pel_buffer_length(&client->bytes),
                                 client->now);

    pel_buffer_consume(&client->bytes, pel_buffer_length(&client->bytes));
    return code;
}

static inline int client_receive(struct client *client)
{
    return pel_http2_send(client->session, &client->answer, SIZE_MAX);
}

/* The payload of the last frame of this type in the answer, or NULL. */
static inline const char *client_answer(struct client *client, int type, size_t *length)
{
    const char *at = pel_buffer_head(&client->answer), *found = NULL;
    const char *end = at + pel_buffer_length(&client->answer);

    *length = 0;
    while (at && at + 9 <= end) {
        const unsigned char *head = (const unsigned char *)at;
        size_t size = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        if (head[3] == type) {
            found = at + 9;
            *length = size;
        }
        at += 9 + size;
    }
    return found;
}

/* The error of the last frame of this type, -1 if there is none. */
static inline int client_error(struct client *client, int type)
{
    size_t length;
    const char *payload = client_answer(client, type, &length);

    return payload ? payload[type == GOAWAY ? 7 : 3] : -1;
}

static inline void client_end(struct client *client)
{
    pel_http2_session_free(client->session);
    pel_buffer_free(&client->bytes);
    pel_buffer_free(&client->answer);
}

/* A test with a client. */
#define CLIENT_TEST(title)                                                                                             \
    static void title##_with(struct client *client);                                                                   \
    TEST(title)                                                                                                        \
    {                                                                                                                  \
        struct client client;                                                                                          \
        client_begin(&client);                                                                                         \
        title##_with(&client);                                                                                         \
        client_end(&client);                                                                                           \
    }                                                                                                                  \
    static void title##_with(struct client *client)
