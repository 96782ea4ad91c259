# frozen_string_literal: true

# Connections by their signatures, and EventMachine's module functions that take one.
module EventMachine
  CLOSED = Transport.allocate # stands for each connection that is gone
  private_constant :CLOSED

  class << self
    # @return [Integer] the number of open connections, listeners and the like
    def connection_count = @transports.size
    alias_method :get_connection_count, :connection_count

    # @return [Integer] the number of connections that are being closed
    def num_close_scheduled = @transports.count { |_, transport| transport.closing? }

    def send_data(signature, data, _length = nil) = _transport(signature).send_data(data)

    def close_connection(signature, after_writing)
      transport = _transport(signature)
      _in_loop { transport.close(after_writing) }
    end

    def get_peername(signature) = _transport(signature).peername

    def get_sockname(signature) = _transport(signature).sockname

    def get_sock_opt(signature, level, option) = _transport(signature).socket_option(level, option)

    def set_sock_opt(signature, level, option, value) = _transport(signature).set_socket_option(level, option, value)

    def get_file_descriptor(signature) = _transport(signature).fileno

    def get_idle_time(signature) = _transport(signature).idle

    def get_comm_inactivity_timeout(signature) = _transport(signature).inactivity_timeout

    def set_comm_inactivity_timeout(signature, seconds)
      _transport(signature).inactivity_timeout = seconds
    end

    def get_pending_connect_timeout(signature) = _transport(signature).pending_timeout

    def set_pending_connect_timeout(signature, seconds)
      _transport(signature).pending_timeout = seconds
    end

    def pause_connection(signature) = _transport(signature).pause

    def resume_connection(signature) = _transport(signature).resume

    def connection_paused?(signature) = _transport(signature).paused?

    def report_connection_error_status(signature) = _transport(signature).errno || 0

    # @private
    def _register(transport)
      raise "eventmachine not initialized" unless @reactor_running
      @transports[signature = (@signatures += 1)] = transport
      signature
    end

    # @private
    def _unregister(transport) = @transports.delete(transport.signature)

    # @private
    def _transport(signature) = @transports[signature] || CLOSED.dup
  end
end
