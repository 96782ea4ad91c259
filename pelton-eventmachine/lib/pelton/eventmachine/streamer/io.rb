# frozen_string_literal: true

module EventMachine
  # Sends the content of an IO (or a StringIO) on a connection, piece by piece, as fast as the peer takes it. It
  # succeeds when all bytes have been given to the connection, and fails with a message when that is closed. The IO
  # stays open.
  class IOStreamer
    include Deferrable

    # The size of a piece, in bytes.
    CHUNK_SIZE = 16_384

    # @param connection [Connection, #send_data] see {StreamerTarget}
    # @param io [#read]
    # @option options [Boolean] :http_chunks whether to send the pieces in HTTP/1.1's chunked transfer coding
    def initialize(connection, io, options = {})
      @target = StreamerTarget.for(connection)
      @io = io
      @http_chunks = options[:http_chunks]
      stream
    end

    # Sends pieces until the connection has enough of them queued, and continues when they are sent.
    def stream_one_chunk
      until @target.unbound? # no `loop`, which would rescue a StopIteration of the IO
        return @target.when_sent { stream_one_chunk } if @target.outbound > FileStreamer::BackpressureLevel
        data = @io.read(CHUNK_SIZE) or return finish
        @target.send_data(@http_chunks ? "#{data.bytesize.to_s(16)}\r\n#{data}\r\n" : data)
      end
      finish_with("the connection is closed")
    end

    private

    def stream = stream_one_chunk

    def finish
      @target.send_data("0\r\n\r\n") if @http_chunks
      finish_with
    end

    def finish_with(error = nil) = error ? fail(error) : succeed
  end
end
