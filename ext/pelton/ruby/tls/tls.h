#ifndef PELTON_RUBY_TLS_TLS_H
#define PELTON_RUBY_TLS_TLS_H

/* Pelton::TLS::Context, as far as C implements it; the handshake of a Pelton::Stream; and the result of the handshake.
 * Where OpenSSL is missing only the last one defines a method, which returns nil. */
void pel_init_tls_context(void);
void pel_init_tls_stream(void);
void pel_init_tls_info(void);

#endif
