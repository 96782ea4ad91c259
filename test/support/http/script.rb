# frozen_string_literal: true

require_relative "scripted_server"

# A server for tests of HTTP clients: it records each request, and sends the block's answer, byte by byte. The block is
# called with the request and its socket, and returns the answer; nil sends nothing, :close closes.
class HTTPScript < ScriptedServer
  Request = Struct.new(:line, :headers, :body, :connection) do
    def path = line.split[1]

    def verb = line.split[0]
  end

  # Whether a client that sends Expect: 100-continue may go on.
  attr_writer :consents

  # Forwards bytes as a proxy does after CONNECT. The block may return this method's value as its answer.
  def self.tunnel(socket, port)
    target = TCPSocket.new("127.0.0.1", port)
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
    carriers = [[socket, target], [target, socket]].map do |from, to|
      Thread.new do
        Thread.current.report_on_exception = false
        IO.copy_stream(from, to)
        to.close_write
      end
    end
    carriers.each(&:join)
    :close
  end

  # @return [Array<Request>]
  attr_reader :requests

  def initialize(tls = nil, &answer)
    @answer = answer
    @requests = Queue.new
    @consents = true
    super(tls)
  end

  # All requests so far.
  def seen = Array.new(@requests.size) { @requests.pop }

  private

  def converse(socket, number)
    while (request = read(socket, number))
      @requests << request
      answer = @answer.call(request, socket)
      socket.write(answer) if answer.is_a?(String)
      break if answer == :close
    end
  end

  def read(socket, number)
    line = socket.gets&.chomp || return
    headers = {}
    until (header = socket.gets.chomp).empty?
      name, value = header.split(": ", 2)
      headers[name.downcase] = value
    end
    asks = headers["expect"]
    socket.write("HTTP/1.1 100 Continue\r\n\r\n") if asks && @consents
    Request.new(line, headers, (body(socket, headers) if !asks || @consents), number)
  end

  def body(socket, headers)
    return socket.read(headers["content-length"].to_i) if headers["content-length"]
    return unless headers["transfer-encoding"] == "chunked"
    body = +""
    while (length = socket.gets.hex) > 0
      body << socket.read(length)
      socket.gets
    end
    socket.gets
    body
  end
end
