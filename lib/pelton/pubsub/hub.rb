# frozen_string_literal: true

require "fileutils"
require "socket"
require "tmpdir"
require_relative "../pubsub"
require_relative "wire"

module Pelton
  class PubSub
    # Numbers what several processes publish, keeps what must be kept, and sends it to all of them, the publisher among
    # them: so all see one order. It listens on a UNIX socket that only its owner may use, and has a thread of its own,
    # which never waits for a link. It needs no reactor, so a process with a hub can fork.
    # @private
    class Hub
      # Bytes that may wait for a link which does not read, besides those that are kept when it joins. Then it is cut.
      LIMIT = 16 << 20
      # A process that has joined.
      class Link
        attr_reader :io, :reader, :pending

        def initialize(io)
          @io = io
          @reader = Wire::Reader.new
          @frames = []
          @pending = @extra = 0
        end

        # @param parts [Array<String>] of a frame
        # @param extra [Boolean] whether the frame may exceed the limit
        def push(*parts, extra: false)
          bytes = parts.sum(&:bytesize)
          @frames.concat(parts)
          @pending += bytes
          @extra += bytes if extra
        end

        def joined? = !!@joined

        def joined! = @joined = true

        def beyond?(limit) = @pending - @extra > limit

        # Sends what the socket takes.
        def flush
          until @pending.zero?
            chunk = @rest || take
            sent = @io.write_nonblock(chunk, exception: false)
            return @rest = chunk if sent == :wait_writable
            @pending -= sent
            @extra = [@extra, @pending].min
            @rest = (chunk.byteslice(sent..) if sent < chunk.bytesize)
          end
        end

        private

        def take
          return @frames.shift if @frames.first.bytesize >= Wire::LONG
          chunk = "".b
          chunk << @frames.shift while @frames.any? && chunk.bytesize < Wire::LONG &&
              @frames.first.bytesize < Wire::LONG
          chunk
        end
      end
      private_constant :Link

      # The environment variable with the descriptor of what the program before this one has kept.
      KEPT = "PELTON_PUBSUB_KEPT"

      # Where a folder for the socket may be made: file systems may be read-only, but for the shared memory.
      FOLDERS = [nil, "/dev/shm"].freeze
      private_constant :FOLDERS

      # Opens a hub in a folder of its own. It goes on where {#hand_over} has ended.
      #
      # @param folders [Array<String, nil>] the first one that is writable has it; nil: the system's for temporary files
      # @raise [SystemCallError]
      def self.open(folders: FOLDERS)
        folder = make_folder(folders)
        new("#{folder}/pubsub",
          folder: folder, kept: ENV.delete(KEPT)&.then { |descriptor| IO.for_fd(Integer(descriptor), "rb") })
      end

      def self.make_folder(folders)
        failure = nil
        folders.each do |parent|
          return Dir.mktmpdir("pelton-", parent)
        rescue SystemCallError, ArgumentError => failure # ArgumentError: there is no folder for temporary files
          next
        end
        raise failure.class,
          "the workers' socket needs a folder that is writable, which TMPDIR may name: #{failure.message}"
      end
      private_class_method :make_folder

      # @return [String] of the socket
      attr_reader :path

      # @param path [String]
      # @param folder [String, nil] that is removed with the hub
      # @param kept [IO, nil] what another hub has handed over
      def initialize(path, folder: nil, limit: LIMIT, kept_bytes: 64 << 20, kept: nil)
        @path = path
        @folder = folder
        @limit = limit
        @history = History.new(bytes: kept_bytes)
        @serial = 0
        take_over(kept, kept_bytes) if kept
        @links = {}
        umask = File.umask(0o177)
        @server = UNIXServer.new(path)
        @thread = Thread.new { run }
      ensure
        File.umask(umask) if umask
      end

      # Closes the descriptors in a child that has inherited them through a fork.
      def forget = [@server, *@links.keys].each(&:close)

      # Ends the hub, once. Whoever has joined finds the connection closed.
      def close
        return if @server.closed?
        @thread.kill
        @thread.join
        @links.each_value { |link| drop(link) }
        @server.close
        remove
      end

      # Closes the hub, and hands what it keeps over to the program that this process becomes by exec: in a file without
      # a name.
      def hand_over
        @thread.kill.join
        file = File.open("#{@path}.kept", File::RDWR | File::CREAT | File::EXCL | File::BINARY, 0o600)
        File.unlink(file.path)
        file.write(Wire.frame(Wire::WELCOME, @history.epoch),
          Wire.frame(Wire::READY, [@serial, @history.forgotten].pack("Q>Q>")))
        @history.each do |_, body, position, _, serial, age|
          file.write(Wire.message(Wire::KEPT, serial, History.parse(position).last, body, age: age).join)
        end
        file.rewind
        file.autoclose = file.close_on_exec = false
        ENV[KEPT] = file.fileno.to_s
      rescue SystemCallError => error
        Pelton.logger.warn("pubsub: the kept messages are lost: #{error.message}")
      ensure
        close
      end

      # Removes the socket: also in a child, when its parent, which had the hub, was killed.
      def remove
        FileUtils.rm_f(@path)
        FileUtils.rm_rf(@folder) if @folder
      end

      private

      def take_over(kept, bytes)
        reader = Wire::Reader.new
        epoch = nil
        while (chunk = kept.read(Wire::LONG))
          reader << chunk
          while (kind, body = reader.next)
            case kind
            when Wire::WELCOME then epoch = body.force_encoding(Encoding::UTF_8)
            when Wire::READY
              @serial, forgotten = body.unpack("Q>Q>")
              @history = History.new(bytes: bytes, epoch: epoch, forgotten: forgotten)
            when Wire::KEPT then take(body)
            end
          end
        end
      rescue Wire::Malformed => error
        Pelton.logger.warn("pubsub: the kept messages are lost: another version has kept #{error.message}")
      ensure
        kept.close
      end

      def take(body)
        serial, offset, age = body.unpack(Wire::NUMBERS)
        message = body.byteslice(Wire::NUMBERS_SIZE..)
        topic, rule = Wire.topic_and_rule(message)
        @history.insert(topic, message, "#{@history.epoch}:#{offset}", rule, serial, age: age)
      end

      def run
        loop do
          turn
        rescue => error # of one turn: the others go on
          Pelton.logger.error("pubsub: the hub has failed: #{error.full_message(highlight: false)}")
        end
      end

      def turn
        waiting = @links.values.select { |link| link.pending.positive? }.map(&:io)
        readable, = IO.select([@server, *@links.keys], waiting)
        readable.each { |io| io.equal?(@server) ? accept : read(@links[io]) }
        @links.values.each { |link| flush(link) }
      end

      def accept
        io = @server.accept_nonblock(exception: false)
        @links[io] = Link.new(io) unless io == :wait_readable
      rescue SystemCallError => error
        Pelton.logger.warn("pubsub: the hub cannot accept a process: #{error.message}")
        sleep 0.1 # it has no more descriptors, and would try again at once
      end

      # @return [Boolean] whether there may be more
      def read(link)
        bytes = link.io.read_nonblock(link.reader.wanted, @buffer ||= "".b, exception: false)
        return false if bytes == :wait_readable
        return drop(link) unless bytes
        link.reader << bytes
        while (kind, body = link.reader.next)
          handle(link, kind, body)
        end
        true
      rescue Wire::Malformed => error
        Pelton.logger.warn("pubsub: the hub cuts off a process that sent #{error.message}")
        drop(link)
      rescue SystemCallError
        drop(link)
      end

      def handle(link, kind, body)
        case kind
        when Wire::JOIN then join(link, *Wire.joined(body))
        when Wire::PUBLISH then publish(body)
        else raise Wire::Malformed, "a frame of the kind #{kind}"
        end
      end

      # A process that comes back gets what was kept since; a new one what is kept, for its own history.
      def join(link, epoch, serial)
        back = epoch == @history.epoch && serial <= @serial
        link.push(Wire.frame(Wire::WELCOME, @history.epoch), extra: true)
        @history.each do |_, body, position, _, of, age|
          next if back && of <= serial
          link.push(*Wire.message(back ? Wire::MESSAGE : Wire::KEPT, of, History.parse(position).last, body, age: age),
            extra: true)
        end
        link.push(Wire.frame(Wire::READY, [@serial].pack("Q>")), extra: true)
        link.joined!
      end

      def publish(body)
        topic, rule = Wire.topic_and_rule(body)
        @serial += 1
        offset = rule ? History.parse(@history.append(topic, body, rule, @serial)).last : 0
        parts = Wire.message(Wire::MESSAGE, @serial, offset, body)
        @links.each_value { |link| link.push(*parts) if link.joined? }
      end

      def flush(link)
        link.flush
        return unless link.beyond?(@limit)
        Pelton.logger.warn("pubsub: the hub cuts off a process that does not read: #{link.pending} bytes wait for it")
        drop(link)
      rescue SystemCallError # the process has ended; what it published before is still to be read
        nil while read(link)
        drop(link)
      end

      # A child that was forked meanwhile has the descriptor, too: closing alone would not end the connection.
      #
      # @return [false]
      def drop(link)
        link.io.shutdown if @links.delete(link.io)
        false
      rescue SystemCallError
        false # the process has ended
      ensure
        link.io.close
      end
    end
  end
end
