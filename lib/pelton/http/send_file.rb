# frozen_string_literal: true

require "time"
require_relative "byte_range"
require_relative "entity_tag"
require_relative "folder"

module Pelton
  module HTTP
    # Sends the file that a response names by X-Sendfile or X-Accel-Redirect in place of its body (`x_sendfile`,
    # `x_accel`), as nginx and Apache do for the applications behind them.
    # @private
    class SendFile
      NAMES = %w[x-sendfile x-accel-redirect].freeze
      # As Rack 3 and Rack 2 have them.
      SPELLINGS = {"x-sendfile" => "x-sendfile", "X-Sendfile" => "x-sendfile", "x-accel-redirect" => "x-accel-redirect",
                   "X-Accel-Redirect" => "x-accel-redirect"}.freeze
      # What speaks of the body that the application has made.
      OF_BODY = %w[content-length transfer-encoding].freeze
      OF_CONTENT = %w[content-length content-type content-encoding content-range content-disposition].freeze
      MISSING = [Errno::ENOENT, Errno::EISDIR, Errno::ENOTDIR, Errno::ENXIO, Errno::ENAMETOOLONG].freeze
      private_constant :NAMES, :SPELLINGS, :OF_BODY, :OF_CONTENT, :MISSING

      # @param app [#call] the Rack application
      # @param folders [Array<String>] in which files lie that X-Sendfile may name
      # @param map [Hash{String => String}] from the beginnings of URLs that X-Accel-Redirect may name to folders
      # @raise [ArgumentError] a folder is missing
      def initialize(app, folders: [], map: {})
        @app = app
        @folders = folders.map { |path| folder("x_sendfile", path) }
        @map = map.sort_by { |prefix, _| -prefix.size }.to_h do |prefix, path|
          ["/#{prefix.delete_prefix("/").chomp("/")}/".squeeze("/"), folder("x_accel", path)]
        end
        @spellings = SPELLINGS.select { |_, header| (header == "x-sendfile") ? @folders.any? : @map.any? }
      end

      # @return [Array(Integer, Hash, Object)]
      # @raise [Error] the file lies in no folder that is allowed
      # @asynchronous
      def call(env)
        response = @app.call(env)
        status, headers, body = response
        return response unless headers.respond_to?(:to_hash)
        header, value = named(headers.to_hash)
        return response unless header
        close(body)
        file = opened(header, value)
        headers = headers.to_hash.to_h { |name, given| [name.to_s.downcase, given] }
        headers = headers.except(*NAMES, *OF_BODY)
        file ? Answer.new(env, status.to_i, headers, file).to_a : missing(header, value)
      end

      private

      def folder(setting, path)
        Folder.new(path)
      rescue SystemCallError => error
        raise ArgumentError, "#{setting}: #{error.message}: give a folder that exists"
      end

      # The header that counts here, and its value.
      def named(headers)
        @spellings.each { |spelling, header| (value = headers[spelling]) and return [header, value] }
        nil
      end

      # @return [File, nil] nil: there is no such file
      def opened(header, value)
        folder, name = (header == "x-sendfile") ? by_path(value) : by_url(value)
        folder.open(name)
      rescue *MISSING
        nil
      rescue Errno::EXDEV, ArgumentError
        raise Error, "#{header}: #{value.inspect} leads out of its folder by a symbolic link or by \"..\": allow the " \
          "folder where the file lies"
      end

      def by_path(value)
        path = File.expand_path(value)
        @folders.each { |folder| (name = folder.name_of(path)) and return [folder, name] }
        raise Error, "x-sendfile: #{path} lies in no folder that is allowed: add x_sendfile " \
          "#{File.dirname(path).inspect} to config/pelton.rb"
      end

      def by_url(value)
        url = value.to_s[/\A[^?#]*/].b.gsub(/%(\h\h)/) { $1.hex.chr }
        prefix, folder = @map.find { |beginning, _| url.start_with?(beginning) }
        return [folder, url.delete_prefix(prefix)] if prefix
        raise Error, "x-accel-redirect: #{value} begins with no URL that is known: add x_accel " \
          "#{"#{File.dirname(value)}/".inspect} => \"/the/folder\" to config/pelton.rb"
      end

      def missing(header, value)
        Pelton.logger.warn("HTTP: #{header}: there is no file #{value}")
        [404, {"content-type" => "text/plain"}, ["Not Found\n"]]
      end

      def close(body)
        body.close if body.respond_to?(:close)
      end

      # A file as the body of a response.
      class Body
        PIECE = 65_536
        private_constant :PIECE

        # @param file [File]
        # @param from [Integer] the first byte
        # @param size [Integer] bytes
        def initialize(file, from, size)
          @file = file
          @from = from
          @size = size
        end

        # By sendfile, or in pieces where that is not possible.
        #
        # @param exchange [Exchange]
        # @asynchronous
        def send_to(exchange)
          exchange.send_file(@file.fileno, @size, @from) || each { |piece| exchange.write(piece) }
          true
        end

        # Ends early where the file has become shorter.
        def each
          at = @from
          ending = at + @size
          while at < ending && (piece = @file.pread([PIECE, ending - at].min, at))
            at += piece.bytesize
            yield piece
          end
        rescue EOFError
          nil
        end

        def close = @file.close
      end

      # The response with a file: the whole of it, one range, or that the client has it already.
      class Answer
        # @param env [Hash]
        # @param status [Integer] of the application
        # @param headers [Hash{String => String}] of the application, in lower case
        # @param file [File] belongs to the response from now on
        def initialize(env, status, headers, file)
          @env = env
          @status = status
          @file = file
          @stat = file.stat
          @headers = headers
        end

        # @return [Array(Integer, Hash, Object)]
        def to_a
          describe
          return whole unless @status == 200 && !@headers.key?("content-range") && reads?
          return without_content(304, @headers.except(*OF_CONTENT)) if not_modified?
          part(range)
        end

        private

        def reads? = %w[GET HEAD].include?(@env["REQUEST_METHOD"])

        def describe
          @headers["last-modified"] ||= @stat.mtime.httpdate
          @headers["etag"] ||=
            format("\"%x-%x-%x\"", @stat.mtime.to_i * 1_000_000_000 + @stat.mtime.nsec, @stat.size, @stat.ino)
          @headers["accept-ranges"] ||= "bytes"
        end

        def not_modified?
          return EntityTag.current?(@env, @headers["etag"]) if @env["HTTP_IF_NONE_MATCH"]
          @env["HTTP_IF_MODIFIED_SINCE"] == @headers["last-modified"]
        end

        # nil where the range is for another version.
        def range
          version = @env["HTTP_IF_RANGE"]
          return if version && !(version.start_with?('"') ? @headers["etag"] : @headers["last-modified"]).eql?(version)
          ByteRange.of(@env["HTTP_RANGE"], @stat.size) if @env["REQUEST_METHOD"] == "GET"
        end

        def part(range)
          return whole if range.nil?
          return without_content(416, {"content-range" => "bytes */#{@stat.size}"}) unless range
          @headers["content-range"] = "bytes #{range.begin}-#{range.end}/#{@stat.size}"
          @status = 206
          body(range.begin, range.size)
        end

        def whole = body(0, @stat.size)

        def body(from, size) = [@status, @headers.merge("content-length" => size.to_s), Body.new(@file, from, size)]

        def without_content(status, headers)
          @file.close
          [status, headers, []]
        end
      end
      private_constant :Body, :Answer
    end
  end
end
