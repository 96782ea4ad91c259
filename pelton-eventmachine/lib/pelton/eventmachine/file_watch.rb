# frozen_string_literal: true

module EventMachine
  # A handler for {EventMachine.watch_file}.
  class FileWatch < Connection
    # @return [String] the path of the watched file
    attr_reader :path

    # @private
    def self._bind(transport, arguments, block)
      super(transport, arguments, lambda do |watch|
        watch.instance_variable_set(:@path, transport.path)
        block&.call(watch)
      end)
    end

    # Never called: a watched file is not read.
    def receive_data(_data)
    end

    # Called when the file's content has changed, or the entries of the folder.
    def file_modified
    end

    # Called when the file was deleted. {#unbind} follows.
    def file_deleted
    end

    # Called when the file was renamed.
    def file_moved
    end

    # @raise [InvalidSignature] when this watch has ended, or was not the first one of the file
    def stop_watching = EventMachine.unwatch_filename(@signature)
  end

  # A watched file.
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

    # @param mask [Integer] inotify's event mask
    def notify_events(mask)
      busy do
        @connection.file_modified unless (mask & FileWatches::MODIFIED).zero?
        @connection.file_moved unless (mask & FileWatches::MOVED).zero?
        @connection.file_deleted if deleted?(mask)
      end
      close(false) if deleted?(mask)
    end

    private

    # While a file is open somewhere, deleting it only removes its name, and inotify reports a change of attributes.
    def deleted?(mask)
      @deleted ||= !(mask & FileWatches::DELETED).zero? ||
        (!(mask & FileWatches::ATTRIBUTES).zero? && !File.exist?(@path))
    end
  end

  # All watches of a loop, on one inotify descriptor.
  # @private
  class FileWatches
    MODIFIED = 0x2 | 0x40 | 0x80 | 0x100 | 0x200 # written; in a folder: moved from, moved to, created, deleted
    ATTRIBUTES = 0x4
    DELETED = 0x400
    MOVED = 0x800

    def initialize
      @io = IO.for_fd(::Pelton::Inotify.open)
      @transports = Hash.new { |transports, watch| transports[watch] = [] }
      @readiness = Readiness.new(@io) { read }
      @readiness.wanted = Readiness::READABLE
    end

    def add(transport) = @transports[::Pelton::Inotify.add(@io.fileno, transport.path)] << transport

    def closed? = @io.closed?

    def close
      @readiness.wanted = 0
      @io.close
    end

    # @return [Boolean] whether the transport is the first one of its file
    def first?(transport) = !closed? && @transports.any? { |_, all| all.first.equal?(transport) }

    def forget(transport)
      return if closed?
      @transports.delete_if do |watch, all|
        next unless all.delete(transport)
        ::Pelton::Inotify.remove(@io.fileno, watch) if all.empty?
        all.empty?
      end
      close if @transports.empty?
    end

    private

    def read
      bytes = @io.read_nonblock(65_536, exception: false)
      return if bytes == :wait_readable || bytes.nil?
      offset = 0
      while offset < bytes.bytesize
        watch, mask, _cookie, length = bytes.byteslice(offset, 16).unpack("iIII")
        offset += 16 + length
        @transports[watch].dup.each { |transport| transport.notify_events(mask) } if @transports.key?(watch)
      end
    end
  end

  class << self
    # Watches a file or a folder.
    #
    # @param filename [String]
    # @param handler [Class, Module, nil] a subclass of {FileWatch}, or a module for one
    # @return [FileWatch]
    # @raise [Unsupported] when the file cannot be watched
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

    # @raise [InvalidSignature] as {FileWatch#stop_watching}
    def unwatch_filename(signature)
      transport = _transport(signature)
      raise InvalidSignature, "attempt to remove invalid file watch signature" unless @file_watches&.first?(transport)
      transport.close(false)
      nil
    end
  end
end
