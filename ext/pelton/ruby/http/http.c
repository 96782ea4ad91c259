#include "ruby/http/http.h"

#include "ruby/http/connection/http_connection.h"
#include "ruby/http/connection/http_server.h"
#include "ruby/http/http2/http2.h"
#include "ruby/http/page/page.h"
#include "ruby/http/request/http_request.h"
#include "ruby/http/response/http_response.h"

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
    pel_init_http_trailers();
    pel_init_http_response();
    pel_init_http_purge(server);
    pel_init_http_error_response();
    pel_init_http_exchange_class(exchange);
    pel_init_http_request_body(exchange);
    pel_init_http_response_file(exchange);
    pel_init_http_folder();
    pel_init_http_fragment();
    pel_init_http_fragment_key();
    pel_init_http_page();
    pel_init_http2();
}
