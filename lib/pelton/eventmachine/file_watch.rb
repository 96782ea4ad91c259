# frozen_string_literal: true

module EventMachine
  # A handler for {EventMachine.watch_file}.
  class FileWatch < Connection
    # @return [String] of the file
    attr_reader :path

    # @private
    def self._bind(transport, arguments, block)
      super(transport, arguments, lambda do |watch|
        watch.instance_variable_set(:@path, transport.path)
        block&.call(watch)
      end)
    end

    def receive_data(_data)
    end

    # Its content has changed; of a folder, what is in it.
    def file_modified
    end

    # It is there no more. {#unbind} follows.
    def file_deleted
    end

    # It was renamed.
    def file_moved
    end

    # @raise [InvalidSignature] when it is watched no more, or was watched already when this began
    def stop_watching = EventMachine.unwatch_filename(@signature)
  end

  # A file that the system watches.
  # @private
  class FileWatchTransport < Transport
    attr_reader :path

    def initialize(path, watches)
      super()
      @path = path
      @watches = watches
    end

    def close(_after_writing)
      return if @unbound || @closing
      @closing = :now
      @watches.forget(self)
      EventMachine.next_tick { unbind }
    end

    def abandon
      @watches.close
      unbind
    end

    # @param mask [Integer] inotify's
    def tell(mask)
      busy do
        @connection.file_modified unless (mask & FileWatches::MODIFIED).zero?
        @connection.file_moved unless (mask & FileWatches::MOVED).zero?
        @connection.file_deleted if deleted?(mask)
      end
      close(false) if deleted?(mask)
    end

    private

    # A file that is still open somewhere only loses its name.
    def deleted?(mask)
      @deleted ||= !(mask & FileWatches::DELETED).zero? || (!(mask & FileWatches::ATTRIBUTES).zero? && !File.exist?(@path))
    end
  end

  # The system's watches of a loop: one descriptor for all.
  # @private
  class FileWatches
    MODIFIED = 0x2 | 0x40 | 0x80 | 0x100 | 0x200 # written; in a folder: moved from, moved to, created, deleted
    ATTRIBUTES = 0x4
    DELETED = 0x400
    MOVED = 0x800

    def initialize
      @io = IO.for_fd(::Pelton::Inotify._open)
      @transports = Hash.new { |transports, watch| transports[watch] = [] }
      @readiness = Readiness.new(@io) { read }
      @readiness.wanted = Readiness::READABLE
    end

    def add(transport)
      @transports[::Pelton::Inotify._add(@io.fileno, transport.path)] << transport
    end

    def closed? = @io.closed?

    def close
      @readiness.wanted = 0
      @io.close
    end

    # Whether it is the one by which the file began to be watched.
    def first?(transport) = !closed? && @transports.any? { |_, all| all.first.equal?(transport) }

    def forget(transport)
      return if closed?
      @transports.delete_if do |watch, all|
        next unless all.delete(transport)
        ::Pelton::Inotify._remove(@io.fileno, watch) if all.empty?
        all.empty?
      end
      close if @transports.empty?
    end

    private

    def read
      bytes = @io.read_nonblock(65_536, exception: false)
      return if bytes == :wait_readable || bytes.nil?
      place = 0
      while place < bytes.bytesize
        watch, mask, _cookie, length = bytes.byteslice(place, 16).unpack("iIII")
        place += 16 + length
        @transports[watch].dup.each { |transport| transport.tell(mask) } if @transports.key?(watch)
      end
    end
  end

  class << self
    # Watches a file or a folder.
    #
    # @param filename [String]
    # @param handler [Class, Module, nil] a {FileWatch}'s subclass or a module for one
    # @return [FileWatch]
    # @raise [Unsupported] when it cannot be watched
    def watch_file(filename, handler = nil, *arguments, &block)
      type = klass_from_handler(FileWatch, handler, *arguments)
      raise Unsupported, "no file watching support on this system" unless ::Pelton.const_defined?(:Inotify)
      _on_reactor do
        @file_watches = FileWatches.new if @file_watches.nil? || @file_watches.closed?
        transport = FileWatchTransport.new(filename, @file_watches)
        begin
          @file_watches.add(transport)
        rescue SystemCallError => error
          _unregister(transport)
          @file_watches.forget(transport)
          raise Unsupported, "error registering file #{filename} for watching: #{error.class.new.message}"
        end
        type._bind(transport, arguments, block)
      end
    end
    ruby2_keywords :watch_file

    # @raise [InvalidSignature]
    def unwatch_filename(signature)
      transport = _transport(signature)
      raise InvalidSignature, "attempt to remove invalid file watch signature" unless @file_watches&.first?(transport)
      transport.close(false)
      nil
    end
  end
end
