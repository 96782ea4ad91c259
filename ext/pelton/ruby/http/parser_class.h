#ifndef PELTON_RUBY_HTTP_PARSER_CLASS_H
#define PELTON_RUBY_HTTP_PARSER_CLASS_H

/* Pelton::HTTP::Parser: core's HTTP/1 parser for Ruby code that receives the bytes itself. */
void pel_init_http_parser(void);

#endif
