#ifndef PEL_HTTP_PARSER_CLASS_H
#define PEL_HTTP_PARSER_CLASS_H

void pel_init_http_parser(void);

#endif
