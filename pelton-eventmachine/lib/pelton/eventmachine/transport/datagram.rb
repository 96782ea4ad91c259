# frozen_string_literal: true

module EventMachine
  # A UDP socket. Each datagram is one call of receive_data, during which get_peername is the sender's address.
  # @private
  class DatagramTransport < Transport
    include Inactivity

    # The size of the largest datagram, in bytes.
    LARGEST = 65_536

    # Datagrams received in one loop iteration; then other connections go first.
    BURST = 64

    def initialize(address)
      super()
      @socket = Socket.new(address.afamily, :DGRAM)
      @socket.setsockopt(:SOCKET, :REUSEADDR, true)
      @socket.setsockopt(:SOCKET, :BROADCAST, true)
      @socket.bind(address)
      @queued = []
      @bytes_queued = 0
      @active_at = Pelton::Clock.now
      @readiness = Readiness.new(@socket, broken: -> { shut }) { |events| ready(events) }
    rescue SystemCallError
      EventMachine._unregister(self)
      @socket&.close
      raise "no datagram socket"
    end

    def open
      @readiness.wanted |= Readiness::READABLE unless @closing
    end

    # Sends to the sender of the last datagram.
    def send_data(data) = @peer ? put(data, @peer) : 0

    def send_datagram(data, host, port) = put(data, Addrinfo.udp(host, Integer(port)))

    def outbound = @bytes_queued

    def peername = @peer ? @peer.to_sockaddr : "\0".b * 16

    def fileno = @socket.closed? ? nil : @socket.fileno

    def idle = Pelton::Clock.now - @active_at

    attr_reader :errno

    def close(after_writing)
      return if @unbound || @closing == :now || (@closing && after_writing)
      @closing = after_writing ? :after : :now
      shut if !after_writing || @queued.empty?
    end

    def detach
      number = @socket.fileno
      @socket.autoclose = false
      @closing = :now
      @readiness.wanted = 0
      EventMachine.next_tick { unbind }
      number
    end

    def abandon
      @closing = :now
      @readiness.wanted = 0
      @socket.close unless @socket.closed?
      unbind
    end

    def pause
      return false if @paused || @unbound
      @readiness.wanted &= ~Readiness::READABLE
      @paused = true
    end

    def resume
      return false if !@paused || @unbound
      @readiness.wanted |= Readiness::READABLE
      @paused = false
      true
    end

    def paused? = !!@paused

    private

    def ready(events)
      write_queued unless (events & Readiness::WRITABLE).zero?
      receive unless (events & Readiness::READABLE).zero?
    end

    def receive
      BURST.times do
        break if @closing == :now || @paused
        data, peer = @socket.recvfrom_nonblock(LARGEST, exception: false)
        break if data == :wait_readable
        @peer = peer
        @active_at = Pelton::Clock.now
        busy { @connection.receive_data(data) }
      end
    rescue Errno::ECONNREFUSED # a datagram was sent to a port without a listener
      nil
    rescue SystemCallError => error
      @errno = error.errno
      shut
    end

    def put(data, address)
      return 0 if @closing
      return put_later(data, address) unless EventMachine.reactor_thread?
      @active_at = Pelton::Clock.now
      if !@queued.empty? || transmit(data, address) == :wait_writable
        @queued << [String.new(data), address]
        @bytes_queued += data.bytesize
        @readiness.wanted |= Readiness::WRITABLE
      end
      data.bytesize
    end

    # For data from another thread.
    def put_later(data, address)
      data = String.new(data)
      EventMachine.next_tick { put(data, address) }
      data.bytesize
    end

    # A datagram that the system refuses is dropped, because datagrams may get lost anyway.
    def transmit(data, address)
      @socket.sendmsg_nonblock(data, 0, address, exception: false)
    rescue SystemCallError
      nil
    end

    def write_queued
      until @queued.empty?
        return if transmit(*@queued.first) == :wait_writable
        @bytes_queued -= @queued.shift.first.bytesize
      end
      @readiness.wanted &= ~Readiness::WRITABLE
      shut if @closing
    end

    def shut
      return if @socket.closed?
      @closing = :now
      @inactivity_timer&.cancel
      @readiness.wanted = 0
      @socket.close
      EventMachine.next_tick { unbind(@errno) }
    end
  end

  class << self
    # Opens a UDP socket on an address of this machine.
    #
    # @return [Connection]
    # @raise [RuntimeError] when it is no address of this machine, or the port is in use
    def open_datagram_socket(address, port, handler = nil, *arguments, &block)
      type = klass_from_handler(Connection, handler, *arguments)
      raise "eventmachine not initialized: evma_open_datagram_socket" unless reactor_running?
      _on_reactor do
        transport = DatagramTransport.new(datagram_address(address, port))
        type._bind(transport, arguments, block).tap { transport.open }
      end
    end
    ruby2_keywords :open_datagram_socket

    # Sends a datagram.
    #
    # @param signature [Integer] of the socket
    # @param data [String]
    # @param host [String] the receiver's address
    # @param port [Integer]
    def send_datagram(signature, data, _length, host, port) = _transport(signature).send_datagram(data, host, port)

    private

    def datagram_address(address, port)
      Addrinfo.udp(address.to_s, Integer(port)) # an empty one is any
    rescue SocketError
      raise "no datagram socket"
    end
  end

  class Connection
    # Sends a datagram. Only for connections of {EventMachine.open_datagram_socket}.
    #
    # @param recipient_address [String]
    # @return [Integer] bytes
    # @raise [ConnectionError] when the address cannot be resolved
    def send_datagram(data, recipient_address, recipient_port)
      data = data.to_s
      @em_transport.send_datagram(data, recipient_address, Integer(recipient_port))
    rescue SocketError
      raise ConnectionError, "error in sending datagram"
    end
  end
end
