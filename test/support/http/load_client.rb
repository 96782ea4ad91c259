# frozen_string_literal: true

require "openssl"
require "socket"

# One of HttpLoad's clients: it makes one connection after the other, with Ruby's plain sockets.
class HttpLoadClient
  MOMENT = 1 # second without a request after which a server that stops may close a connection
  FAILURES = [SystemCallError, IOError, OpenSSL::SSL::SSLError].freeze

  def initialize(load, address, kind)
    @load = load
    @address = address
    @kind = kind
  end

  def run
    converse until @load.over? || @refused
  end

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def converse
    @idle_since = now # the server saw the last byte no earlier
    @process = @written = nil
    return unless (@io = connect)
    sleep @kind.rest while ask && @kind.keeps && !@load.over?
  ensure
    @io&.close
    @io = nil
  end

  # ---- connections ---------------------------------------------------------------------------------------------------

  def connect
    socket =
      @address.start_with?(
        "unix"
      ) ? UNIXSocket.new(@address.delete_prefix("unix://")) : TCPSocket.new(*@address.match(%r{//(.+):(\d+)}).captures)
    @certain = !@load.ending? # the connection is in the server's backlog: the server must accept it
    @address.start_with?("ssl") ? secure(socket) : socket
  rescue *FAILURES => error
    @certain = !@load.ending? unless socket
    unanswered([@load.id], error, excusable: socket)
    nil
  end

  def secure(socket)
    OpenSSL::SSL::SSLSocket.new(socket).tap { |secured| secured.sync_close = true }.connect
  rescue
    socket.close
    raise
  end

  # ---- requests ------------------------------------------------------------------------------------------------------

  # Returns whether the connection goes on.
  def ask
    ids = Array.new(@kind.burst) { @load.id }
    @begun = @written = false
    sent = now
    @io.write(ids.map { |id| request(id) }.join)
    @written = now
    until ids.empty?
      ended = response(ids.first)
      ids.shift
      return crossed(ids) if ended
    end
    @idle_since = sent
    true
  rescue *FAILURES => error
    unanswered(ids, error, excusable: !@begun)
  end

  def request(id)
    "#{@kind.body ? "POST" : "GET"} #{@kind.path}?#{id} HTTP/1.1\r\nHost: localhost\r\n" \
      "#{"Connection: close\r\n" unless @kind.keeps}#{"Content-Length: #{@kind.body.bytesize}\r\n" if @kind.body}\r\n" \
      "#{@kind.body}"
  end

  # Returns whether the response ends the connection.
  def response(id)
    head = +""
    until head.end_with?("\r\n\r\n")
      head << (@io.gets("\r\n") || raise(EOFError, "no response but #{head.inspect}"))
      @begun = true
    end
    process, answered, rest = body(head).split(" ", 3)
    unless head.start_with?("HTTP/1.1 200") && answered == id.to_s && rest.size == size
      raise IOError, "a wrong response: #{head}#{rest[0, 100]}"
    end
    @process = process.to_i
    @load.count(:answered, @process)
    head.match?(/^connection: close\r$/i)
  end

  def body(head)
    if head.match?(/^content-length: (\d+)/i)
      return whole(@io.read(Integer(head[/^content-length: (\d+)/i, 1])), $1.to_i)
    end
    body = +""
    until (size = @io.gets("\r\n")&.to_i(16)) == 0
      raise EOFError, "the body is cut off" unless size
      body << whole(@io.read(size + 2), size + 2).delete_suffix("\r\n")
    end
    @io.gets("\r\n")
    body
  end

  def whole(bytes, size)
    raise EOFError, "the body is cut off" unless bytes&.bytesize == size
    bytes
  end

  def size = {"/large" => HttpLoad::LARGE, "/upload" => HttpLoad::LARGE, "/stream" => 2}.fetch(@kind.path, 0)

  # ---- unanswered requests -------------------------------------------------------------------------------------------

  def crossed(ids)
    ids.each { @load.count(:crossed) }
    false
  end

  # `excusable`: no byte of a response has arrived.
  def unanswered(ids, error, excusable:)
    if !@certain
      @load.count(:refused)
      @refused = true
    elsif excusable && (@written || now) - @idle_since >= MOMENT
      crossed(ids)
    else
      ids.each { |id| @load.lose(HttpLoad::Loss.new(id, @kind, @address, @process, error)) }
    end
    false
  end
end
