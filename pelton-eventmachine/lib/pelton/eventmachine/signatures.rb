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

    # Sends data on a connection.
    #
    # @param signature [Integer]
    # @param data [String]
    def send_data(signature, data, _length = nil) = _transport(signature).send_data(data)

    # Closes a connection.
    #
    # @param signature [Integer]
    # @param after_writing [Boolean] only when all queued bytes are sent
    def close_connection(signature, after_writing)
      transport = _transport(signature)
      _in_loop { transport.close(after_writing) }
    end

    # @!method get_peername(signature)
    #   @param signature [Integer]
    #   @return [String, nil] the peer's packed address; nil: there is none
    # @!method get_sockname(signature)
    #   @param signature [Integer]
    #   @return [String, nil] the own packed address; nil: there is none

    # EventMachine's names for operations of a transport, which take its arguments after the signature.
    {
      get_peername: :peername, get_sockname: :sockname, get_sock_opt: :socket_option, set_sock_opt: :set_socket_option,
      get_file_descriptor: :fileno,
      get_idle_time: :idle, get_comm_inactivity_timeout: :inactivity_timeout,
      set_comm_inactivity_timeout: :inactivity_timeout=,
      get_pending_connect_timeout: :pending_timeout, set_pending_connect_timeout: :pending_timeout=,
      pause_connection: :pause, resume_connection: :resume,
      connection_paused?: :paused?, get_proxied_bytes: :proxied, get_subprocess_pid: :pid,
      get_subprocess_status: :status, detach_fd: :detach
    }.each do |name, operation|
      define_method(name) { |signature, *arguments| _transport(signature).public_send(operation, *arguments) }
    end

    # @param signature [Integer]
    # @return [Integer] the errno that ended the connection; 0: none
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
