# frozen_string_literal: true

module EventMachine
  # Sends a file by a connection, piece by piece, as fast as the peer takes it. It succeeds when all is given to the
  # connection, and fails with a message when there is no such file.
  class FileStreamer
    include Deferrable

    # Bytes of a piece.
    ChunkSize = 16_384 # standard:disable Naming/ConstantName -- as it is called there

    # Bytes that may wait in the connection.
    BackpressureLevel = 50_000 # standard:disable Naming/ConstantName

    # Seconds until a connection that has enough to send is looked at again.
    INTERVAL = 0.005

    # @param connection [Connection]
    # @param filename [String]
    # @option options [Boolean] :http_chunks as chunks of HTTP/1.1's transfer encoding
    def initialize(connection, filename, options = {})
      @connection = connection
      @http_chunks = options[:http_chunks]
      @file = file_of(filename)
      @file ? stream_one_chunk : fail("file not found")
    end

    # Goes on, after the connection was told more than it can send at once.
    def stream_one_chunk
      loop do
        return fail("the connection is closed") if @connection.instance_variable_get(:@em_transport).unbound?
        return wait if @connection.get_outbound_data_size > BackpressureLevel
        data = @file.read(ChunkSize) or return finish
        @http_chunks ? send_chunk(data) : @connection.send_data(data)
      end
    end

    private

    def file_of(filename)
      File.open(filename, "rb") if File.file?(filename)
    rescue SystemCallError
      nil
    end

    def send_chunk(data) = @connection.send_data("#{data.bytesize.to_s(16)}\r\n#{data}\r\n")

    def wait = EventMachine.add_timer(INTERVAL) { stream_one_chunk }

    def finish
      @connection.send_data("0\r\n\r\n") if @http_chunks
      @file.close
      succeed
    end

    def fail(*)
      @file&.close
      super
    end
  end

  class Connection
    # Sends a small file: at most 32 KB.
    #
    # @return [Integer] bytes
    # @raise [RuntimeError] it is larger
    # @raise [IOError] it cannot be read
    def send_file_data(filename) = EventMachine.send_file_data(@signature, filename)

    # Sends a file of any size. See {FileStreamer}.
    #
    # @return [FileStreamer]
    def stream_file_data(filename, options = {}) = FileStreamer.new(self, filename, options)
  end

  class << self
    # Bytes of a file that {Connection#send_file_data} sends.
    SMALL_FILE = 32 * 1024
    private_constant :SMALL_FILE

    def send_file_data(signature, filename)
      data = File.binread(filename, SMALL_FILE + 1).to_s
      raise "file is too large" if data.bytesize > SMALL_FILE
      _transport(signature).send_data(data)
    rescue SystemCallError => error
      raise IOError, error.message
    end
  end
end
