# frozen_string_literal: true

module EventMachine
  # What stands behind a {Connection}: a stream, a socket for datagrams, a watched descriptor, a file or a process. This is
  # the base, and by itself one that is closed: its operations do nothing.
  #
  # While a callback waits its transport is busy, and unbind waits until it is done.
  # @private
  class Transport
    attr_reader :signature
    attr_accessor :connection

    def initialize
      @signature = EventMachine._register(self)
      @busy = @unbound = @closing = false
    end

    # ---- what a connection may ask for; each kind overrides what it can do

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

    # @return [Integer, nil] the error that it met
    def errno = nil

    def closing? = !!@closing

    # Whether nothing more is received: it was closed, and not only after writing.
    def deaf? = @closing == :now || @unbound

    def unbound? = @unbound

    # Closes it at once: the loop ends.
    def abandon = close(false)

    # ---- sockets

    def peername = socket(&:getpeername)

    def sockname = socket(&:getsockname)

    def socket
      number = fileno or return
      yield BasicSocket.for_fd(number).tap { |socket| socket.autoclose = false }
    rescue SystemCallError, ::Pelton::Error
      nil
    end

    def socket_option(level, option)
      socket! { |socket| socket.getsockopt(level, option).data }
    end

    def set_socket_option(level, option, value)
      socket! { |socket| socket.setsockopt(level, option, value) }
    end

    # ---- callbacks

    # Calls the block as a callback of the connection: unbind waits until it is done.
    def busy
      @busy = true
      yield
    rescue Exception => error # standard:disable Lint/RescueException -- a callback may raise anything
      EventMachine._failed(error)
    ensure
      done
    end

    # It is closed for good: tells the connection.
    #
    # @param errno [Integer, nil] why
    def unbind(errno = nil)
      return if @unbound
      return @late = [errno] if @busy
      @unbound = true
      begin
        tell_unbound(errno)
      ensure
        EventMachine._unregister(self)
      end
    rescue Exception => error # standard:disable Lint/RescueException -- a callback may raise anything
      EventMachine._failed(error)
    end

    private

    def done
      @busy = false
      unbind(*@late) if @late
    end

    def tell_unbound(errno)
      connection = @connection or return
      if connection.original_method(:unbind).arity.zero?
        connection.unbind
      else
        connection.unbind(errno && ERRNOS[errno])
      end
    end

    def socket!
      number = fileno or raise ConnectionNotBound, "this connection is closed"
      yield BasicSocket.for_fd(number).tap { |socket| socket.autoclose = false }
    end
  end
end
