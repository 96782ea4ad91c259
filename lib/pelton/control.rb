# frozen_string_literal: true

require "fileutils"
require "json"
require "socket"
require_relative "../pelton"
require_relative "address"
require_relative "metrics"

module Pelton
  # The control socket of a process that serves: it answers `GET /stats` with figures as JSON, and `GET /metrics` with the same
  # for Prometheus. One thread, so that a client that says nothing never holds up those who serve, and a loop that is blocked
  # does not hold up the figures.
  class Control
    DEADLINE = 1 # seconds for a client's request, and for each pause while it takes the answer

    # @return [String] where it listens
    attr_reader :address

    # @param address [String] tcp://host:port, unix:///path, or a path. A UNIX socket is its owner's alone; on TCP whoever can
    #   connect can read
    # @param stats [Proc] returns a Hash
    # @param metrics [Proc] returns a text, see {Metrics.text}
    # @raise [ArgumentError] for another address
    # @raise [SystemCallError] when it cannot listen there
    def initialize(address, stats:, metrics:)
      @answers = {
        "/stats" => ["application/json", -> { JSON.generate(stats.call) }],
        "/metrics" => [Metrics::TYPE, metrics]
      }
      @server = listen(address)
      @thread = Thread.new { answer_all }
    end

    # In a child, which has inherited it.
    def forget = @server.close

    # Answers no more, and removes its UNIX socket.
    def close
      @thread.kill
      @server.close
      FileUtils.rm_f(@path) if @path
    end

    private

    def listen(address)
      place = Address.new(address.include?("://") ? address : "unix://#{address}")
      raise ArgumentError, "#{address}: it speaks no TLS" if place.tls?
      return listen_unix(place.path) if place.path
      TCPServer.new(place.host, place.port).tap do |server|
        @address = "tcp://#{place.host.include?(":") ? "[#{place.host}]" : place.host}:#{server.local_address.ip_port}"
      end
    rescue SystemCallError => error
      raise error.class, "the control socket #{address}"
    rescue ArgumentError => error
      raise ArgumentError, "the control socket: #{error.message}"
    end

    def listen_unix(path)
      FileUtils.rm_f(path) if File.socket?(path)
      umask = File.umask(0o177)
      UNIXServer.new(path).tap { @path, @address = path, "unix://#{path}" }
    ensure
      File.umask(umask) if umask
    end

    def answer_all
      loop do
        client = @server.accept
        answer(client)
      rescue SystemCallError, IOError
        nil # that client's loss
      rescue => error
        Pelton.logger.error("the control socket cannot answer: #{error.message} (#{error.class})")
      ensure
        client&.close
      end
    end

    def answer(client)
      return unless client.wait_readable(DEADLINE)
      request = client.read_nonblock(4096, exception: false)
      type, content = @answers[request[%r{\AGET (/\w+)[ ?\r\n]}n, 1]] if request.is_a?(String)
      status, body = content ? ["200 OK", content.call] : ["404 Not Found", "GET #{@answers.keys.join(" or GET ")}\n"]
      send_all(client, "HTTP/1.1 #{status}\r\nContent-Type: #{type || "text/plain"}\r\nContent-Length: #{body.bytesize}\r\n" \
        "Connection: close\r\n\r\n#{body}")
      client.shutdown(:WR) # a worker that was forked meanwhile has the descriptor, too
    end

    def send_all(client, text)
      until text.empty?
        sent = client.write_nonblock(text, exception: false)
        return if sent == :wait_writable && !client.wait_writable(DEADLINE)
        text = text.byteslice(sent..) if sent.is_a?(Integer)
      end
    end
  end
end
