# frozen_string_literal: true

require "openssl"
require "socket"

# One of HttpLoad's clients: one connection after the other, by Ruby's plain sockets.
class HttpLoadClient
  MOMENT = 1 # second without a request after which a server that stops may close a connection
  FAILURES = [SystemCallError, IOError, OpenSSL::SSL::SSLError].freeze

  def initialize(load, place, kind)
    @load = load
    @place = place
    @kind = kind
  end

  def run
    converse until @load.over? || @refused
  end

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def converse
    @idle_since = now # at the earliest
    @process = @written = nil
    return unless (@io = connect)
    sleep @kind.rest while ask && @kind.keeps && !@load.over?
  ensure
    @io&.close
    @io = nil
  end

  # ---- connections ------------------------------------------------------------------------------------------------------

  def connect
    socket = @place.start_with?("unix") ? UNIXSocket.new(@place.delete_prefix("unix://")) : TCPSocket.new(*@place.match(%r{//(.+):(\d+)}).captures)
    @certain = !@load.ending? # the system has it for the server: it must be accepted
    @place.start_with?("ssl") ? secure(socket) : socket
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

  # ---- requests ---------------------------------------------------------------------------------------------------------

  # Whether the connection goes on.
  def ask
    ids = Array.new(@kind.burst) { @load.id }
    @begun = @written = false
    sent = now
    @io.write(ids.map { |id| request(id) }.join)
    @written = now
    until ids.empty?
      ended = response(ids.first)
      ids.shift
      return told(ids) if ended
    end
    @idle_since = sent
    true
  rescue *FAILURES => error
    unanswered(ids, error, excusable: !@begun)
  end

  def request(id)
    "#{@kind.body ? "POST" : "GET"} #{@kind.path}?#{id} HTTP/1.1\r\nHost: localhost\r\n" \
      "#{"Connection: close\r\n" unless @kind.keeps}#{"Content-Length: #{@kind.body.bytesize}\r\n" if @kind.body}\r\n#{@kind.body}"
  end

  # Whether it ends the connection.
  def response(id)
    head = +""
    until head.end_with?("\r\n\r\n")
      head << (@io.gets("\r\n") || raise(EOFError, "no response but #{head.inspect}"))
      @begun = true
    end
    process, answered, rest = body(head).split(" ", 3)
    raise IOError, "a wrong response: #{head}#{rest[0, 100]}" unless head.start_with?("HTTP/1.1 200") && answered == id.to_s && rest.size == size
    @process = process.to_i
    @load.count(:answered, @process)
    head.match?(/^connection: close\r$/i)
  end

  def body(head)
    return whole(@io.read(Integer(head[/^content-length: (\d+)/i, 1])), $1.to_i) if head.match?(/^content-length: (\d+)/i)
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

  # ---- what is not answered ---------------------------------------------------------------------------------------------

  def told(ids)
    ids.each { @load.count(:crossed) }
    false
  end

  # `excusable`: nothing of a response has come.
  def unanswered(ids, error, excusable:)
    if !@certain
      @load.count(:refused)
      @refused = true
    elsif excusable && (@written || now) - @idle_since >= MOMENT
      told(ids)
    else
      ids.each { |id| @load.lose(HttpLoad::Loss.new(id, @kind, @place, @process, error)) }
    end
    false
  end
end
