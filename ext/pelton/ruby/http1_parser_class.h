#ifndef PEL_RUBY_HTTP1_PARSER_CLASS_H
#define PEL_RUBY_HTTP1_PARSER_CLASS_H

/* Pelton::HTTP::RequestParser: core's parser for those who receive a request's bytes in Ruby. */
void pel_init_http1_parser(void);

#endif
