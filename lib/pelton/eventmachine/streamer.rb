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

    # Bytes from which on a file is sent without being read.
    MAPPED_FROM = 65_536

    # @param connection [Connection]
    # @param filename [String]
    # @option options [Boolean] :http_chunks as chunks of HTTP/1.1's transfer encoding
    def initialize(connection, filename, options = {})
      @transport = connection.instance_variable_get(:@em_transport)
      @http_chunks = options[:http_chunks]
      @file = file_of(filename)
      @file ? stream : fail("file not found")
    end

    # Goes on, after the connection was told more than it can send at once.
    def stream_one_chunk
      loop do
        return sent("the connection is closed") if @transport.unbound?
        return @transport.when_sent { stream_one_chunk } if @transport.outbound > BackpressureLevel
        data = @file.read(ChunkSize) or return finish
        @transport.send_data(@http_chunks ? "#{data.bytesize.to_s(16)}\r\n#{data}\r\n" : data)
      end
    end

    private

    def stream
      large = @file.size >= MAPPED_FROM && !@http_chunks
      stream_one_chunk unless large && @transport.send_file(@file) { |error| sent(error) }
    end

    def file_of(filename)
      File.open(filename, "rb") if File.file?(filename)
    rescue SystemCallError
      nil
    end

    def finish
      @transport.send_data("0\r\n\r\n") if @http_chunks
      sent
    end

    def sent(error = nil)
      @file.close
      error ? fail(error) : succeed
    end
  end

  class Transport
    # Calls the block when nothing is left to send, or it can be sent no more.
    def when_sent
      EventMachine.next_tick { yield }
    end

    # @return [Boolean] whether it does so: then the block is called when the file is sent, with an error or nil
    def send_file(_file) = false
  end

  class StreamTransport
    # Seconds until one that is not connected is asked again.
    RETRY = 0.01

    def when_sent(&block)
      return super if @stream.nil? || @stream.closed?
      return EventMachine.add_timer(RETRY, block) if @holding # it is not connected yet
      ::Pelton.spawn do
        @stream.flush
      rescue ::Pelton::Error
        nil
      ensure
        EventMachine.next_tick(&block)
      end
    end

    # By sendfile. What is sent meanwhile goes out behind the file.
    def send_file(file, &block)
      return false if @holding || @stream.tls || @closing
      @holding = true
      ::Pelton.spawn do
        error = nil
        begin
          send_all(file)
        rescue ::Pelton::Error, SystemCallError => error
          error = error.message
        end
        EventMachine.next_tick { file_sent(error, block) }
      end
      true
    end

    private

    def send_all(file)
      offset = 0
      socket = nil
      @stream.flush
      while offset < file.size
        count = @stream._send_file(file.fileno, offset, file.size - offset)
        return send_rest(file, offset) unless count
        offset += count
        next if count > 0
        # A descriptor of its own: the stream's is the loop's.
        socket ||= IO.for_fd(@stream.fileno, autoclose: false).dup
        ::Pelton::Reactor.current.io_wait(socket, IO::WRITABLE, nil)
      end
    ensure
      socket&.close
    end

    def send_rest(file, offset)
      file.seek(offset)
      while (data = file.read(FileStreamer::ChunkSize))
        @stream._put(data)
        @stream.flush
      end
    end

    def file_sent(error, block)
      release_held
      @stream.close if @closing == :after && !@stream.closed?
      block.call(error)
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
