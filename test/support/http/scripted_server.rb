# frozen_string_literal: true

require "openssl"
require "socket"

# A server for tests of clients: it listens on a thread of its own, and each connection has one, too. A subclass says
# what becomes of a connection.
class ScriptedServer
  # The number of accepted connections.
  attr_reader :connections

  # @param tls [OpenSSL::SSL::SSLContext, nil]
  def initialize(tls)
    @listener = TCPServer.new("127.0.0.1", 0)
    @tls = tls
    @connections = 0
    @threads = []
    @thread = Thread.new { loop { serve(@listener.accept) } }
    @thread.report_on_exception = false
  end

  def port = @listener.addr[1]

  def url = "#{@tls ? "https" : "http"}://localhost:#{port}"

  def close
    @listener.close
    ([@thread] + @threads).each(&:kill).each(&:join)
  rescue IOError
    nil
  end

  private

  def serve(socket)
    number = (@connections += 1)
    thread = Thread.new { take(socket, number) }
    thread.report_on_exception = false
    @threads << thread
  end

  def take(socket, number)
    socket = OpenSSL::SSL::SSLSocket.new(socket, @tls).tap { |one| one.sync_close = one.sync = true }.accept if @tls
    converse(socket, number)
  rescue SystemCallError, OpenSSL::SSL::SSLError, IOError => error
    broken(error)
  ensure
    socket.close
  end

  # The client has left, or has broken the rules.
  def broken(error) = nil
end
