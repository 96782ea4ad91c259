#include "ruby/http/http.h"

#include "ruby/http/application.h"
#include "ruby/http/env.h"
#include "ruby/http/env_headers.h"
#include "ruby/http/event_streams.h"
#include "ruby/http/exchange.h"
#include "ruby/http/exchange_class.h"
#include "ruby/http/fragment_class.h"
#include "ruby/http/fragment_key.h"
#include "ruby/http/page_class.h"
#include "ruby/http/peak.h"
#include "ruby/http/request_body.h"
#include "ruby/http/requests.h"
#include "ruby/http/response.h"
#include "ruby/http/response_file.h"
#include "ruby/http/serve.h"
#include "ruby/http/server.h"
#include "ruby/http/stats.h"
#include "ruby/http/stop.h"

void pel_init_http(void)
{
    VALUE server = pel_init_http_server(), exchange = pel_init_http_exchange();

    pel_init_http_serve(server);
    pel_init_http_stats(server);
    pel_init_http_requests(server);
    pel_init_http_peak(server);
    pel_init_http_stop(server);
    pel_init_http_event_streams(server);
    pel_init_http_application();
    pel_init_http_env();
    pel_init_http_env_headers();
    pel_init_http_response();
    pel_init_http_exchange_class(exchange);
    pel_init_http_request_body(exchange);
    pel_init_http_response_file(exchange);
    pel_init_http_fragment();
    pel_init_http_fragment_key();
    pel_init_http_page();
}
