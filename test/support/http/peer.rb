# frozen_string_literal: true

require_relative "../../test_helper"
require "rack"
require "rack/lint"
require "socket"
require "pelton/http"
require_relative "../sockets"

Pelton.logger.level = :warn # not each refused request

# A server in this process, and a client that sees each byte. For PeltonTests.
module HttpPeer
  include Sockets

  Response = Struct.new(:status, :headers, :body, :trailers, :head) do
    def [](name) = headers[name]
  end

  # One connection.
  class Peer
    attr_reader :io

    def initialize(io) = @io = io

    # \n stands for \r\n in a head's lines.
    def say(head, body = "")
      @io.write(head.gsub(/\r?\n/, "\r\n") + body)
      self
    end

    def get(path, headers = "", method: "GET")
      say("#{method} #{path} HTTP/1.1\nHost: localhost\n#{headers}\n")
      response(head_only: method == "HEAD")
    end

    def response(head_only: false)
      head = +""
      head << (@io.gets("\r\n") || raise(EOFError, "no response but #{head.inspect}")) until head.end_with?("\r\n\r\n")
      status, *lines = head.split("\r\n")
      headers = lines.each_with_object({}) do |line, all|
        name, value = line.split(": ", 2)
        name = header_name(name)
        all[name] = all.key?(name) ? [*all[name], value] : value.to_s
      end
      code = status[%r{\AHTTP/1\.[01] (\d+)}, 1].to_i
      body, trailers = (head_only || code < 200 || [204, 304].include?(code)) ? [nil, nil] : body_of(headers)
      Response.new(code, headers, body, trailers, head)
    end

    # Whether the server has closed its side without sending more bytes.
    def ended? = @io.read(1).nil?

    def close = @io.close

    # Closes a TCP connection so that the server gets ECONNRESET.
    def reset
      @io.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
      close
    end

    private

    def header_name(name) = name

    def body_of(headers)
      return [@io.read(headers["content-length"].to_i), nil] if headers["content-length"]
      return [@io.read, nil] unless headers["transfer-encoding"] == "chunked"
      body = +"".b
      until (size = (@io.gets("\r\n") || raise(EOFError, "a body that was cut off")).to_i(16)).zero?
        body << @io.read(size)
        raise "no CRLF behind a chunk" unless @io.read(2) == "\r\n"
      end
      trailers = {}
      while (line = @io.gets("\r\n").chomp("\r\n")) != ""
        name, value = line.split(": ", 2)
        trailers[name] = value
      end
      [body, trailers]
    end
  end

  attr_reader :server

  def setup
    super
    @reported = []
    @on_error = Pelton.on_error { |error| @reported << error }
  end

  def teardown
    Pelton.on_error(&@on_error)
    super
    assert_empty @reported unless @expects_reports
  end

  # The errors that were reported to Pelton.on_error. A test that does not ask for them must have none.
  def reported
    @expects_reports = true
    @reported
  end

  # Runs the block while the application is served. The block connects by {peer}.
  def serving(app = nil, lint: true, **options, &block)
    app, block = block, nil if app.nil?
    Pelton.run do
      @server = Pelton::HTTP::Server.new(lint ? Rack::Lint.new(app) : app, **options)
      @port = @server.listen("tcp://127.0.0.1:0").port
      @peers = []
      block.call
    ensure
      @peers&.each { |peer| peer.close unless peer.io.closed? }
      stopped = @server&.stop(timeout: 10)
      assert stopped, "the server has not stopped: #{@server.stats}" if @server && !$!
    end
  end

  def peer = Peer.new(TCPSocket.new("127.0.0.1", @port)).tap { |peer| @peers << peer }

  # The same over TLS, with the options of {Sockets#tls_socket}.
  def secure_peer(port = @port, **options) = Peer.new(tls_socket(port, **options)).tap { |peer| @peers << peer }

  # One that is malformed, and one that does not end in time.
  def say_no_requests = ["no request\n\n", "GET / HTTP/1.1\nHost: "].each { |bytes| peer.say(bytes).response }

  # An application whose answer comes later, by env["async.callback"]; the block gets the env.
  def answering_later
    lambda do |env|
      yield env
      ASYNC
    end
  end

  # The answer to raw bytes, until the server closes.
  def answer(bytes)
    connection = peer
    connection.io.write(bytes)
    connection.io.read
  ensure
    connection&.close
  end

  ASYNC = [-1, {}, []].freeze

  GET = "GET / HTTP/1.1\nHost: h\n\n"

  HELLO = ->(_env) { [200, {"content-type" => "text/plain"}, ["hello"]] }
end
