# frozen_string_literal: true

require_relative "http2_peer"

# Clients of HTTP/2 in threads, each with one connection after the other and several requests at once. A request is lost
# if it got no response, and the server has not said that it was never begun.
class Http2Load
  CLIENTS = 4
  AT_ONCE = 5

  attr_reader :answered, :connections, :lost

  def initialize(port)
    @port = port
    @answered = @connections = 0
    @lost = []
    @lock = Mutex.new
    @threads = Array.new(CLIENTS) { Thread.new { connect until @done } }
  end

  def stop
    @done = true
    @threads.each(&:join)
    self
  end

  private

  def connect
    peer = Http2Peer.new(TCPSocket.new("127.0.0.1", @port))
    @lock.synchronize { @connections += 1 }
    request(peer) until @done || peer.last_stream
    peer.close
  rescue SystemCallError => error
    @lock.synchronize { @lost << error }
    sleep 0.01
  end

  def request(peer)
    streams = Array.new(AT_ONCE) { peer.request }
    streams.each do |stream|
      status = peer.response(stream).status
      @lock.synchronize { (status == 200) ? @answered += 1 : @lost << "#{status} to #{stream}" }
    rescue EOFError => error
      @lock.synchronize { @lost << error } unless peer.last_stream && stream > peer.last_stream
    end
  end
end
