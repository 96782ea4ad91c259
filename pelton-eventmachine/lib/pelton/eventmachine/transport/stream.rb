# frozen_string_literal: true

module EventMachine
  # A connection on a stream: TCP, UNIX, a pipe to a child, a terminal.
  # @private
  class StreamTransport < Transport
    include Inactivity

    # Seconds for an attempt to connect, unless the program sets another limit.
    PENDING_TIMEOUT = 20.0

    # @param stream [Pelton::Stream, nil] a connected stream; nil: {#connect} makes one
    def initialize(stream = nil)
      super()
      @connecting = @paused = @queueing = false
      @proxy = nil
      @server = false
      use(stream) if stream
    end

    # Begins to connect to the addresses, one after the other, until one accepts.
    #
    # @param addresses [Array<Addrinfo>]
    # @param local [Addrinfo, nil] the local address to connect from
    def connect(addresses, local = nil)
      @addresses = addresses.dup
      @unix = addresses.first&.unix?
      @local = local&.to_sockaddr
      @connecting = @queueing = true
      @pending_timeout = PENDING_TIMEOUT
      attempt
      wait_for_connection
      self
    end

    # Delivers received data to the connection from now on.
    def open
      return done if @closing == :now || @stream.closed?
      @stream.deliver_to(self)
      @stream.pause if @paused
      done
    end

    # ---- called by the stream

    def _received(data)
      @busy = true
      data = pass_on(data) if @proxy
      @connection.receive_data(data) if data
      @busy = false
      unbind(*@pending_unbind) if @pending_unbind
    rescue Exception => error # standard:disable Lint/RescueException -- a callback may raise anything
      failed(error)
    end

    # A server in the same process gets its connection before the client's connection_completed, as on EventMachine.
    def _connected
      @connecting = false
      @pending_timer&.cancel
      @pending_timer = @addresses = @local = nil
      EventMachine._serving? ? EventMachine._behind_input(-> { connected }) : connected
    end

    def _closed(error) = closed(error && (error.errno || Errno::EPROTO::Errno))

    # ---- output

    def send_data(data)
      return queue(data) if @queueing
      @stream.put(data)
    rescue ::Pelton::Error
      cannot_send(data)
    end

    def outbound = (@queued ? @queued.grep(String).sum(&:bytesize) : 0) + (@stream ? @stream.pending : 0)

    # ---- closing

    def close(after_writing)
      @closing ||= :now if @unbound
      return if @unbound || @closing == :now || (@closing && after_writing)
      @closing = after_writing ? :after : :now
      if !after_writing
        @queued = nil
        @stream ? @stream.abort : unbind_later
      elsif !@queueing
        @stream.cork(false)
        @stream.close
      end
    end

    # ---- flow

    def paused? = @paused

    # Stops receiving and sending until {#resume}.
    def pause
      return false if @paused || @unbound
      @paused = true
      @stream&.pause
      @stream&.cork(true)
      true
    end

    def resume
      return false if !@paused || @unbound
      @paused = false
      @stream&.cork(false)
      @stream&.resume
      true
    end

    # ---- time

    def idle = @stream ? @stream.idle : 0.0

    def pending_timeout = @pending_timeout || 0.0

    def pending_timeout=(seconds)
      @pending_timeout = seconds.to_f
      wait_for_connection if @connecting
    end

    # ---- the rest

    def fileno = (@stream && !@stream.closed?) ? @stream.fileno : nil

    def errno = @errno || @stream&.errno

    # @return [Integer] the descriptor, which belongs to the caller from now on
    def detach
      number = @stream.detach
      @closing = :now
      unbind_later
      number
    end

    attr_reader :stream

    # @return [Boolean] whether the connection was accepted by a server of this process
    attr_writer :server

    private

    def use(stream)
      @stream = stream
      stream.tell_closed(self)
    end

    def failed(error)
      EventMachine._failed(error)
    ensure
      done
    end

    # ---- connecting

    def attempt
      stream = ::Pelton::Stream.begin_connect(@addresses.shift.to_sockaddr, @local)
      use(stream)
      stream.on_connect(self)
      stream.pause.cork(true) if @paused
    rescue ::Pelton::ConnectionError => error
      raise ConnectionError, refusal_of(error) unless refusal?(error.errno)
      return attempt unless @addresses.empty?
      @errno = error.errno
      unbind_later
    end

    # Errors of the peer or of the network, not of this process.
    def refusal?(number)
      !@unix && [Errno::ECONNREFUSED, Errno::ENETUNREACH, Errno::EHOSTUNREACH,
        Errno::ETIMEDOUT].include?(ERRNOS[number])
    end

    def refusal_of(error)
      return "no connection" if @unix
      @local ? "couldn't bind to address" : "cannot connect: #{error.message}"
    end

    def wait_for_connection
      @pending_timer&.cancel
      @pending_timer = ::Pelton.add_timer(@pending_timeout) { time_out if @connecting }
    end

    def connected
      return if @unbound || @closing == :now || @stream.closed?
      send_queued
      close_after_writing = @closing == :after
      busy { @connection.connection_completed }
      return if @unbound || @closing == :now || @stream.closed?
      close_after_writing ? @stream.close : open
    end

    def closed(errno)
      if @connecting && errno && @addresses&.any? && !@closing
        attempt
      else
        @pending_timer&.cancel
        @inactivity_timer&.cancel
        unbind(@errno ||= errno)
        @proxy_sources&.dup&.each(&:target_gone)
      end
    end

    # ---- output

    # Keeps data sent before the connection is made, or after a file.
    def queue(data)
      return send_later(data) unless EventMachine.reactor_thread?
      return @unbound ? -1 : 0 if @closing || @unbound
      (@queued ||= []) << String.new(data)
      data.bytesize
    end

    def send_queued
      @queueing = false
      queued, @queued = @queued, nil
      queued&.each do |data|
        next if @stream.closed?
        data.equal?(:tls) ? begin_tls : @stream.put(data)
      end
    end

    def cannot_send(data)
      return @unbound ? -1 : 0 if EventMachine.reactor_thread?
      send_later(data)
    end

    # Data from another thread.
    def send_later(data)
      return -1 unless EventMachine.reactor_running?
      data = String.new(data)
      EventMachine.next_tick { send_data(data) }
      data.bytesize
    end

    def unbind_later = EventMachine.next_tick { unbind(@errno) }

    ::Pelton.register_upcalls(stream_connected: instance_method(:_connected),
      stream_received: instance_method(:_received), stream_closed: instance_method(:_closed))
  end
end
