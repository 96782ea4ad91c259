# frozen_string_literal: true

require "socket"
require "io/wait"

# A proxy between a client and a server on 127.0.0.1 that makes faults on command. It runs in threads of its own.
#
#   FaultProxy.start(server_port) do |proxy|   # without a block: the proxy, to be stopped
#     client = connect_to(proxy.port)
#     proxy.stall!                             # nothing passes, either way, until resume
#     proxy.resume
#     proxy.cut!                               # all connections are reset (ECONNRESET)
#   end
#
# A command has taken effect when it returns: no more bytes pass after stall!, cut! or half_open!. It acts on the
# accepted connections; a connection that has carried no byte yet may not be accepted yet. Faults of replies
# (cut_after, corrupt) count or change the server's bytes, and leave the client's bytes alone.
class FaultProxy
  # Seconds by which each piece is delayed, in each direction.
  attr_accessor :delay

  # Bytes that are forwarded at once, at most: 1 makes the client see every reply in its smallest parts.
  attr_accessor :piece

  # The client connects here.
  attr_reader :port

  # Connections accepted so far.
  attr_reader :accepted

  def self.start(target_port)
    proxy = new(target_port)
    return proxy unless block_given?
    begin
      yield proxy
    ensure
      proxy.stop
    end
  end

  def initialize(target_port)
    @target = target_port
    @delay = 0
    @piece = 65_536
    @port = 0
    @accepted = 0
    @connections = []
    @lock = Mutex.new
    @resumed = ConditionVariable.new
    up!
  end

  # Resets every connection. New ones are served.
  def cut! = @lock.synchronize { @connections.dup }.each { |connection| cut(connection) }

  # Resets the connection (the current one, or else the next one) once the server has sent so many more bytes.
  def cut_after(bytes) = @lock.synchronize { @left = bytes }

  # No bytes pass in either direction, no bytes are lost, and connections stay open. New connections are accepted, and
  # stall too.
  def stall! = @lock.synchronize { @stalled = true }

  def resume
    @lock.synchronize do
      @stalled = false
      @resumed.broadcast
    end
  end

  # The block gets the server's bytes, piece by piece, and returns the bytes that the client gets instead. nil ends
  # that.
  def corrupt(&block) = @lock.synchronize { @corrupt = block }

  # The server goes away silently, as with its plug pulled: the clients' connections stay open, their bytes are
  # swallowed, and no answer comes. New connections are served.
  def half_open!
    @lock.synchronize { @connections.dup }.each do |connection|
      @lock.synchronize { connection.dead = true }
      reset(connection.server)
    end
  end

  # New connections are refused (ECONNREFUSED); open ones stay.
  def down!
    @listener&.close
    @acceptor&.join
    @listener = nil
    @place ||= keep_port
  end

  # New connections are served again, on the same port.
  def up!
    @listener ||= TCPServer.new("127.0.0.1", @port).tap do |listener|
      @port = listener.addr[1]
      @acceptor = Thread.new { accept(listener) }
    end
    @place&.close
    @place = nil
  end

  # Connections that are open now.
  def connections = @lock.synchronize { @connections.size }

  def stop
    down!
    @place.close
    cut!
    resume
  end

  Connection = Struct.new(:client, :server, :dead)
  private_constant :Connection

  private

  # Bound, but not listening: the system gives the port to nobody else, and refuses connections.
  def keep_port
    Socket.new(:INET, :STREAM).tap do |socket|
      socket.setsockopt(:SOCKET, :REUSEADDR, true)
      socket.bind(Addrinfo.tcp("127.0.0.1", @port))
    end
  end

  def accept(listener)
    loop { serve(listener.accept) }
  rescue IOError, SystemCallError
    nil # down!
  end

  def serve(client)
    server = TCPSocket.new("127.0.0.1", @target)
    connection = Connection.new(client, server)
    [client, server].each { |socket| socket.setsockopt(:TCP, :NODELAY, true) }
    @lock.synchronize do
      @accepted += 1
      @connections << connection
    end
    there = Thread.new { pump(connection, client, server) }
    back = Thread.new { pump(connection, server, client) }
    Thread.new { [there, back].each(&:join) && forget(connection) }
  rescue SystemCallError
    reset(client) # the server refuses the connection, so the proxy resets the client's
  end

  # Forwards one direction until its end. A half-close is forwarded as a half-close.
  def pump(connection, from, to)
    loop do
      bytes = from.readpartial(@piece)
      sleep @delay if @delay.positive?
      next if connection.dead
      corrupt = @corrupt if to.equal?(connection.client)
      forward(corrupt ? corrupt.call(bytes) : bytes, connection, to)
    end
  rescue EOFError
    waiting { to.close_write unless connection.dead }
  rescue IOError, SystemCallError
    cut(connection) unless connection.dead
  end

  def forward(bytes, connection, to)
    until bytes.empty? || connection.dead
      case (written = waiting { write(bytes, to, to.equal?(connection.client)) unless connection.dead })
      when :wait_writable then to.wait_writable
      when :cut then cut(connection)
      when Integer then bytes = bytes.byteslice(written..)
      end
    end
    cut(connection) if to.equal?(connection.client) && spent?
  end

  def write(bytes, to, counts)
    return to.write_nonblock(bytes, exception: false) unless counts && @left
    return :cut if spent?
    written = to.write_nonblock(bytes.byteslice(0, @left), exception: false)
    @left -= written unless written == :wait_writable
    written
  end

  # Returns true once: when the bytes before a cut have passed.
  def spent?
    @left = nil if (spent = @left == 0)
    spent
  end

  # Runs the block when the proxy is not stalled, and keeps commands out meanwhile.
  def waiting
    @lock.synchronize do
      @resumed.wait(@lock) while @stalled
      yield
    end
  end

  def cut(connection)
    @lock.synchronize { connection.dead = true }
    reset(connection.client)
    reset(connection.server)
  end

  # Closes with a reset instead of an end.
  def reset(socket)
    return if socket.closed?
    socket.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
    socket.close
  rescue IOError, SystemCallError
    nil # it is closed already
  end

  def forget(connection)
    [connection.client, connection.server].each { |socket| socket.close unless socket.closed? }
    @lock.synchronize { @connections.delete(connection) }
  end
end
