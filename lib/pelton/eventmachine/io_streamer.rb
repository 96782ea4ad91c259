# frozen_string_literal: true

module EventMachine
  # Sends what an IO (or a StringIO) holds by a connection, piece by piece, as fast as the peer takes it. It succeeds when
  # all is given to the connection; the IO stays open.
  class IOStreamer
    include Deferrable

    # Bytes of a piece.
    CHUNK_SIZE = 16_384

    # @param connection [Connection]
    # @param io [#read]
    # @option options [Boolean] :http_chunks as chunks of HTTP/1.1's transfer encoding
    def initialize(connection, io, options = {})
      @transport = connection.instance_variable_get(:@em_transport)
      @io = io
      @http_chunks = options[:http_chunks]
      stream_one_chunk
    end

    private

    def stream_one_chunk
      loop do
        return fail("the connection is closed") if @transport.unbound?
        return @transport.when_sent { stream_one_chunk } if @transport.outbound > FileStreamer::BackpressureLevel
        data = @io.read(CHUNK_SIZE) or return finish
        @transport.send_data(@http_chunks ? "#{data.bytesize.to_s(16)}\r\n#{data}\r\n" : data)
      end
    end

    def finish
      @transport.send_data("0\r\n\r\n") if @http_chunks
      succeed
    end
  end
end
