# frozen_string_literal: true

require_relative "http_server/response"

::Pelton.public_constant :HTTP # for its parser, which the extension defines

module EventMachine
  # Makes a connection an HTTP server, with the API of the gem evma_httpserver, which it replaces.
  #
  #     class Handler < EM::Connection
  #       include EM::HttpServer
  #
  #       def process_http_request
  #         response = EM::DelegatedHttpResponse.new(self)
  #         response.content = "You asked for #{@http_path_info}"
  #         response.send_response
  #       end
  #     end
  #
  # {#process_http_request} finds the request in `@http_protocol`, `@http_request_method`, `@http_request_uri`,
  # `@http_path_info`, `@http_query_string`, `@http_headers` (`"Name: value"`, each followed by a NUL, and another at
  # the end), `@http_cookie`, `@http_if_none_match`, `@http_content_type` and `@http_post_content`; a variable is nil
  # when the client did not send its value. The method may wait, and delays its own connection only.
  module HttpServer
    # The largest body for `@http_post_content`, in bytes. {#receive_post_data} takes any.
    MAX_POST_CONTENT = 20 << 20

    ENVIRONMENT = {
      "REQUEST_METHOD" => :@http_request_method, "REQUEST_URI" => :@http_request_uri, "PATH_INFO" => :@http_path_info,
      "QUERY_STRING" => :@http_query_string, "HTTP_COOKIE" => :@http_cookie, "IF_NONE_MATCH" => :@http_if_none_match,
      "CONTENT_TYPE" => :@http_content_type
    }.freeze
    private_constant :ENVIRONMENT

    # Leaves ENV unchanged. Otherwise ENV describes the latest request, as for a CGI program.
    def no_environment_strings
      @http_no_environment = true
    end

    # Passes the parts of a body to {#receive_post_data} as they arrive, instead of keeping them.
    def dont_accumulate_post
      @http_no_accumulation = true
    end

    # Called when a request is complete.
    def process_http_request
    end

    # Called with the parts of a body, after {#dont_accumulate_post}.
    #
    # @param data [String] binary
    def receive_post_data(data)
    end

    # @private
    def receive_data(data)
      return if http_over?
      (@http_parser ||= ::Pelton::HTTP::Parser.new(:request)).feed(data)
      until http_over? || !(event = http_event)
        case event
        when Array then http_begin(*event)
        when String then http_receive_content(event)
        else http_process
        end
      end
    end

    private

    # Requests that follow the last response are ignored.
    def http_over? = @http_refused || @em_transport.closing?

    def http_event
      @http_parser.next
    rescue ::Pelton::ProtocolError, ::Pelton::LimitError
      http_refuse(*@http_parser.fault)
      nil
    end

    def http_begin(method, path, query, protocol, headers, expects_continue)
      @http_request_method, @http_path_info, @http_query_string, @http_protocol = method, path, query, protocol
      @http_request_uri = path
      @http_headers = headers.map { |name, value| "#{name}: #{value}\0" }.join << "\0"
      @http_cookie = http_header(headers, "cookie")&.join("; ")
      @http_if_none_match = http_header(headers, "if-none-match")&.last
      @http_content_type = http_header(headers, "content-type")&.last
      @http_post_content = nil
      if !@http_no_accumulation && http_header(headers, "content-length")&.last.to_i > MAX_POST_CONTENT
        return http_refuse(413, "the body is too long")
      end
      send_data("HTTP/1.1 100 Continue\r\n\r\n") if expects_continue
    end

    def http_header(headers, wanted)
      values = headers.filter_map { |name, value| value if name.casecmp?(wanted) }
      values unless values.empty?
    end

    def http_receive_content(data)
      return receive_post_data(data) if @http_no_accumulation
      (@http_post_content ||= "".b) << data
      http_refuse(413, "the body is too long") if @http_post_content.bytesize > MAX_POST_CONTENT
    end

    def http_process
      ENVIRONMENT.each { |name, variable| ENV[name] = instance_variable_get(variable) } unless @http_no_environment
      process_http_request
    end

    def http_refuse(status, text)
      @http_refused = true
      response = DelegatedHttpResponse.new(self)
      response.status = status
      response.content_type("text/plain")
      response.headers["Connection"] = "close"
      response.content = "#{text}\n"
      response.send_response
    end
  end
end
