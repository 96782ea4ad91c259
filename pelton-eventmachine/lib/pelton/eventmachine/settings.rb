# frozen_string_literal: true

require "etc"

# Properties of the loop, and settings of the loop and the process. A setting that Pelton does not need is accepted and
# does nothing.
module EventMachine
  @heartbeat_interval = 2.0
  @simultaneous_accept_count = 10

  class << self
    # @return [Symbol] :extension, like EventMachine's C implementation
    def library_type = :extension

    # Does nothing: Pelton chooses the best backend itself.
    def epoll = nil

    # Does nothing: Pelton chooses the best backend itself.
    def epoll=(_value)
    end

    def epoll? = ::Pelton::Reactor.current.stats[:backend] == :epoll

    # Does nothing: Pelton chooses the best backend itself.
    def kqueue = nil

    # Does nothing: Pelton chooses the best backend itself.
    def kqueue=(_value)
    end

    def kqueue? = ::Pelton::Reactor.current.stats[:backend] == :kqueue

    # @return [Boolean] whether {Connection#start_tls} works
    def ssl? = ::Pelton.const_defined?(:TLS) && ::Pelton::TLS.available?

    # @return [Float] seconds; it has no effect, because idle connections are found without it
    attr_reader :heartbeat_interval
    alias_method :get_heartbeat_interval, :heartbeat_interval

    # @param seconds [Numeric] kept, but without effect
    def heartbeat_interval=(seconds)
      @heartbeat_interval = seconds.to_f
    end
    alias_method :set_heartbeat_interval, :heartbeat_interval=

    # @return [Integer] the value that was set; it has no effect
    def get_simultaneous_accept_count = @simultaneous_accept_count

    # @param count [Integer] kept, but without effect
    def set_simultaneous_accept_count(count)
      @simultaneous_accept_count = Integer(count)
    end

    # Sets the number of descriptors that this process may open.
    #
    # @param count [Integer, nil] nil leaves it as it is
    # @return [Integer] the present number
    # @raise [RuntimeError] when the process lacks the privileges
    def set_descriptor_table_size(count = nil)
      limit, most = Process.getrlimit(:NOFILE)
      return limit unless count
      Process.setrlimit(:NOFILE, count, [count, most].max)
      Process.getrlimit(:NOFILE).first
    rescue Errno::EPERM
      raise "failed to set the descriptor table size: more than #{most} needs privileges"
    end
    alias_method :set_rlimit_nofile, :set_descriptor_table_size

    # Gives up the superuser's rights for good.
    #
    # @param name [String] the name of a user
    # @raise [ArgumentError] when there is no such user
    # @raise [Errno::EPERM] when the process is not the superuser's
    def set_effective_user(name)
      user = Etc.getpwnam(name)
      Process::Sys.setgid(user.gid)
      Process::Sys.setuid(user.uid)
      nil
    end
    alias_method :setuid_string, :set_effective_user
  end
end
