# frozen_string_literal: true

require_relative "../call_styles"
require_relative "../certificates"
require_relative "scripts"
require "pelton/http"

# The styles in which a program calls an HTTP client, and the client's server. A test class includes one style.
module HTTPClientStyles
  include HTTPScripts

  def with_server(answer = ->(request, _) { echo(request) }, tls: nil)
    server = script(tls, &answer)
    inside { yield Pelton::HTTP::Client.new(server.url, tls: {ca_file: Certificates.authority}), server }
  end

  def echo(request)
    body = "#{request.verb} #{request.path} #{request.body}"
    "HTTP/1.1 200 OK\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body unless request.verb == "HEAD"}"
  end

  def redirect(status, location) = "HTTP/1.1 #{status} Go\r\nLocation: #{location}\r\nContent-Length: 2\r\n\r\ngo"

  # The request's fiber waits for the response.
  module Direct
    include HTTPClientStyles
    include CallStyles::Direct
  end

  # The same where no reactor runs: the thread waits.
  module Blocking
    include HTTPClientStyles
    include CallStyles::Blocking
  end

  # A block is called with the response.
  module Callback
    include HTTPClientStyles
    include CallStyles::Callback
  end

  # The request is a task, awaited later.
  module Later
    include HTTPClientStyles

    def inside(&block) = Pelton.run(&block)

    def ask(client, name, *arguments, **options) = client.later.public_send(name, *arguments, **options).await
  end

  ALL = [Direct, Blocking, Callback, Later].freeze
end
