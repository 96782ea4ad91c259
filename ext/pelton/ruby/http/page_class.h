#ifndef PELTON_RUBY_HTTP_PAGE_CLASS_H
#define PELTON_RUBY_HTTP_PAGE_CLASS_H

void pel_init_http_page(void);

#endif
