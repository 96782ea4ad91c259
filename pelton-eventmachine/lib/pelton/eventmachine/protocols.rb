# frozen_string_literal: true

module EventMachine
  # Ready-made handlers for {EventMachine.connect} and {EventMachine.start_server}; `EM::P` for short. Each is loaded
  # when its constant is used first.
  module Protocols
    {
      HeaderAndContentProtocol: "header_and_content_protocol",
      HttpClient: "http_client",
      HttpClient2: "http_client2",
      LineAndTextProtocol: "line_and_text_protocol",
      LineProtocol: "line_protocol",
      LineText2: "line_text2",
      Memcache: "memcache",
      ObjectProtocol: "object_protocol",
      Postgres3: "postgres3",
      SASLauth: "sasl_auth",
      SASLauthclient: "sasl_auth_client",
      SmtpClient: "smtp_client",
      SmtpServer: "smtp_server",
      Socks4: "socks4",
      Stomp: "stomp",
      TcpConnectTester: "tcp_connect_tester"
    }.each { |name, file| autoload name, "pelton/eventmachine/protocols/#{file}" }
  end

  P = Protocols unless const_defined?(:P, false)

  autoload :HttpServer, "pelton/eventmachine/http_server"
  autoload :HttpResponse, "pelton/eventmachine/http_server/response"
  autoload :DelegatedHttpResponse, "pelton/eventmachine/http_server/response"
end
