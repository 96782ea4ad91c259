# frozen_string_literal: true

require "digest"
require "time"

module Pelton
  module Web
    class Static
      # A file under one of its paths, with its compressed variants.
      #
      # @private
      class Asset
        CODINGS = {"br" => ".br", "gzip" => ".gz"}.freeze # best first

        # What a response needs to know about a file.
        StoredFile = Struct.new(:path, :coding, :size, :etag, :modified, :digest, :version) do
          def self.read(path, coding)
            stat = File.stat(path)
            digest = Digest::SHA256.file(path).digest
            new(path, coding, stat.size, HTTP::EntityTag.strong(digest), stat.mtime.httpdate, digest.unpack1("H16"),
              version_of(stat))
          end

          # Changes with the file.
          def self.version_of(stat) = [stat.ino, stat.size, stat.mtime]

          def current? = version == self.class.version_of(File.stat(path))
        end

        # @return [StoredFile] the uncompressed file
        attr_reader :file
        attr_reader :content_type

        # @return [Array<String>] the paths of the file and its compressed variants
        attr_reader :paths

        def initialize(path)
          @file = StoredFile.read(path, nil)
          @coded = CODINGS.filter_map do |coding, ending|
            StoredFile.read(path + ending, coding) if File.file?(path + ending)
          end
          @paths = [@file, *@coded].map(&:path)
          @content_type = Static.content_type(path)
          @fingerprinted = false
        end

        # @return [Asset] the same under the path with its digest
        def fingerprinted = dup.tap { |copy| copy.instance_variable_set(:@fingerprinted, true) }

        # @return [Boolean] whether this is the path with the digest
        def fingerprinted? = @fingerprinted

        # @return [String] digest of the file's bytes, 16 hexadecimal digits
        def digest = @file.digest

        # @return [Boolean] whether the response depends on Accept-Encoding
        def codings? = !@coded.empty?

        def file_for(header)
          (@coded.find { |one| HTTP::ContentCoding.accepted?(header, one.coding) } unless @coded.empty?) || @file
        end

        # @return [Boolean] whether no file has changed
        def current? = @file.current? && @coded.all?(&:current?)
      end

      # @private
      def self.content_type(path)
        type = Rack::Mime.mime_type(File.extname(path).downcase, "application/octet-stream")
        (type.start_with?("text/") || type.end_with?("javascript", "json", "xml")) ? "#{type}; charset=utf-8" : type
      end
    end
  end
end
