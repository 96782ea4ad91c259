#ifndef PELTON_RUBY_HTTP_FRAGMENT_KEY_H
#define PELTON_RUBY_HTTP_FRAGMENT_KEY_H

/* Pelton::HTTP::Fragment._key: the key of a fragment that is made of several parts. */
void pel_init_http_fragment_key(void);

#endif
