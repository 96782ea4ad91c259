# frozen_string_literal: true

module EventMachine
  # Sends the data of a {FileStreamer} or an {IOStreamer} by an object's own `send_data`. It is used instead of a
  # transport when a handler overrides `send_data`, and when the object is a wrapper of a connection, such as
  # em-http-request's.
  # @private
  class StreamerTarget
    # @param connection [Connection, #send_data]
    # @return [Transport, StreamerTarget]
    def self.for(connection)
      return new(connection) unless connection.is_a?(Connection)
      transport = connection.instance_variable_get(:@em_transport)
      (connection.original_method(:send_data).owner == Connection) ? transport : new(connection, transport)
    end

    def initialize(connection, transport = nil)
      @connection = connection
      @transport = transport
    end

    def send_data(data) = @connection.send_data(data)

    def send_file(_file) = false

    # A wrapper without get_outbound_data_size gets all data at once, as on EventMachine.
    def outbound = @connection.respond_to?(:get_outbound_data_size) ? @connection.get_outbound_data_size : 0

    def unbound? = !!@transport&.unbound?

    def when_sent(&block) = @transport ? @transport.when_sent(&block) : EventMachine.next_tick(&block)
  end
end
