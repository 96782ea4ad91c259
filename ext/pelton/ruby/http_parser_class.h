#ifndef PEL_HTTP_PARSER_CLASS_H
#define PEL_HTTP_PARSER_CLASS_H

/* Pelton::HTTP::Parser: core's HTTP/1 parser for those who receive bytes in Ruby. */
void pel_init_http_parser(void);

#endif
