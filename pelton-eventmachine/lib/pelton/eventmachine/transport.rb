# frozen_string_literal: true

module EventMachine
  # What a {Connection} sends through: a stream, a datagram socket, a watched descriptor, a watched file or a process.
  # This is the base class. An instance of the base class itself stands for a closed connection, whose operations do
  # nothing.
  #
  # While a callback waits, its transport is busy, and unbind is called after the callback.
  # @private
  class Transport
    include Pelton::Opaque

    attr_reader :signature
    attr_accessor :connection

    def initialize
      @signature = EventMachine._register(self)
      @busy = @unbound = @closing = false
    end

    # ---- operations of a connection; each kind of transport overrides those that it supports

    def send_data(_data) = -1

    def send_datagram(_data, _host, _port) = -1

    def close(_after_writing) = nil

    def outbound = 0

    def idle = 0.0

    def paused? = false

    def pause = false

    def resume = false

    def inactivity_timeout = 0.0

    def inactivity_timeout=(seconds)
    end

    def pending_timeout = 0.0

    def pending_timeout=(seconds)
    end

    def fileno = nil

    def pid = nil

    def status = nil

    # @return [Integer, nil] the number of the error that ended it
    def errno = nil

    def closing? = !!@closing

    # @return [Boolean] whether received data is no longer delivered: it was closed at once, not after writing
    def deaf? = @closing == :now || @unbound

    def unbound? = @unbound

    # Closes it at once, because the loop ends.
    def abandon = close(false)

    # ---- sockets

    def peername = socket(&:getpeername)

    def sockname = socket(&:getsockname)

    def socket
      number = EventMachine._on_reactor { fileno } or return
      yield BasicSocket.for_fd(number).tap { |socket| socket.autoclose = false }
    rescue SystemCallError, ::Pelton::Error
      nil
    end

    def socket_option(level, option) = socket! { |socket| socket.getsockopt(level, option).data }

    def set_socket_option(level, option, value) = socket! { |socket| socket.setsockopt(level, option, value) }

    # ---- callbacks

    # Calls the block as a callback of the connection: unbind is called after the block.
    def busy
      @busy = true
      yield
    rescue Exception => error # standard:disable Lint/RescueException -- a callback may raise anything
      EventMachine._failed(error)
    ensure
      done
    end

    # Notifies the connection that it is closed for good.
    #
    # @param errno [Integer, nil] the error that closed it
    def unbind(errno = nil)
      return if @unbound
      return @pending_unbind = [errno] if @busy
      @unbound = true
      begin
        call_unbind(errno)
      ensure
        EventMachine._unregister(self)
      end
    rescue Exception => error # standard:disable Lint/RescueException -- a callback may raise anything
      EventMachine._failed(error)
    end

    private

    def done
      @busy = false
      unbind(*@pending_unbind) if @pending_unbind
    end

    def call_unbind(errno)
      connection = @connection or return
      if connection.original_method(:unbind).arity.zero?
        connection.unbind
      else
        connection.unbind(errno && ERRNOS[errno])
      end
    end

    def socket!
      number = EventMachine._on_reactor { fileno } or raise ConnectionNotBound, "this connection is closed"
      yield BasicSocket.for_fd(number).tap { |socket| socket.autoclose = false }
    end
  end
end
