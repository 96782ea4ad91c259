# frozen_string_literal: true

module EventMachine
  # Sends a file, as {IOStreamer} does. It also fails when there is no such file.
  class FileStreamer < IOStreamer
    # The size of a piece, in bytes.
    ChunkSize = CHUNK_SIZE # standard:disable Naming/ConstantName -- EventMachine's name

    # The streamer pauses while the connection has more queued bytes than this.
    BackpressureLevel = 50_000 # standard:disable Naming/ConstantName

    # Files of at least so many bytes are sent by sendfile.
    MAPPED_FROM = 65_536

    # @param connection [Connection, #send_data] see {StreamerTarget}
    # @param filename [String]
    # @option options [Boolean] :http_chunks see {IOStreamer#initialize}
    def initialize(connection, filename, options = {})
      file = file_of(filename)
      file ? super(connection, file, options) : fail("file not found")
    end

    private

    def stream
      large = @io.size >= MAPPED_FROM && !@http_chunks
      super unless large && @target.send_file(@io) { |error| finish_with(error) }
    end

    def file_of(filename)
      File.open(filename, "rb") if File.file?(filename)
    rescue SystemCallError
      nil
    end

    def finish_with(error = nil)
      @io.close
      super
    end
  end

  class Transport
    # Calls the block when no byte is queued any more, or when the connection is closed.
    def when_sent = EventMachine.next_tick { yield }

    # @yieldparam error [String, nil] called when the file has been sent, or with the error's message
    # @return [Boolean] whether it sends the file; false: the caller must do it
    def send_file(_file) = false
  end

  class StreamTransport
    # While the connection is not made, {#when_sent} looks again after so many seconds.
    RETRY = 0.01

    def when_sent(&block)
      return super if @stream.nil? || @stream.closed?
      return EventMachine.add_timer(RETRY, block) if @queueing # it is not connected yet
      ::Pelton.spawn(detached: true) do
        @stream.flush
      rescue ::Pelton::Error
        nil
      ensure
        EventMachine.next_tick(&block)
      end
    end

    # Sends the file by sendfile. Data sent meanwhile follows the file.
    def send_file(file, &block)
      return false if @queueing || @stream.tls || @closing
      @queueing = true
      ::Pelton.spawn(detached: true) do
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
        count = @stream.send_file(file.fileno, offset, file.size - offset)
        return send_rest(file, offset) unless count
        offset += count
        next if count > 0
        # It waits on a copy of the descriptor, because the loop already watches the stream's own.
        socket ||= IO.for_fd(@stream.fileno, autoclose: false).dup
        ::Pelton::Reactor.current.io_wait(socket, IO::WRITABLE, nil)
      end
    ensure
      socket&.close
    end

    def send_rest(file, offset)
      file.seek(offset)
      while (data = file.read(FileStreamer::ChunkSize))
        @stream.put(data)
        @stream.flush
      end
    end

    def file_sent(error, block)
      send_queued
      @stream.close if @closing == :after && !@stream.closed?
      block.call(error)
    end
  end

  class Connection
    # Sends a small file, of at most 32 KB.
    #
    # @return [Integer] bytes
    # @raise [RuntimeError] when the file is larger
    # @raise [IOError] when the file cannot be read
    def send_file_data(filename) = EventMachine.send_file_data(@signature, filename)

    # Sends a file of any size. See {FileStreamer}.
    #
    # @return [FileStreamer]
    def stream_file_data(filename, options = {}) = FileStreamer.new(self, filename, options)
  end

  class << self
    # The largest file that {Connection#send_file_data} sends, in bytes.
    SMALL_FILE = 32 * 1024
    private_constant :SMALL_FILE

    # Sends a file of up to 32 KB. See {Connection#send_file_data}.
    #
    # @param signature [Integer]
    # @param filename [String]
    # @raise [RuntimeError] if the file is larger, or cannot be read
    def send_file_data(signature, filename)
      data = File.binread(filename, SMALL_FILE + 1).to_s
      raise "file is too large" if data.bytesize > SMALL_FILE
      _transport(signature).send_data(data)
    rescue SystemCallError => error
      raise IOError, error.message
    end
  end
end
