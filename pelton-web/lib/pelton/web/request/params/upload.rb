# frozen_string_literal: true

require_relative "content_type"

module Pelton
  module Web
    class Params
      # A file that a form has sent. It is in a temporary file, which is deleted behind the request.
      class Upload
        include Opaque

        attr_reader :tempfile

        # @return [String, nil] what the client says of which type it is. Do not trust it: {#type} looks at the bytes
        attr_reader :content_type

        # @return [String] the name that the client gives, without folders and control characters, 255 bytes at most. It is no safe
        #   name for a file of yours: two clients may give the same
        attr_reader :original_filename

        # @param part [Hash] Rack's
        def initialize(part)
          @tempfile = part[:tempfile]
          @content_type = part[:type]
          name = part[:filename].to_s.dup.force_encoding(Encoding::UTF_8).scrub("_").tr("\\", "/").split("/").last.to_s.gsub(/[[:cntrl:]]/, "_")
          @original_filename = name.byteslice(0, 255).scrub("").sub(/\A\.{0,2}\z/, "_")
        end

        # What the file is, by its bytes; the client's name counts only where it is more precise (a document that is a ZIP archive, or text),
        # and what the client claims never does. By the gem marcel, which a Gemfile has to name.
        #
        # @return [String] "image/png"; "application/octet-stream": unknown
        # @raise [ConfigurationError] the gem is missing
        def type = @type ||= ContentType.of(path, original_filename)

        # @return [Integer] bytes
        def size = @tempfile.size

        # @return [String] the path of the temporary file
        def path = @tempfile.path

        # @return [String, nil] its bytes
        def read(...) = @tempfile.read(...)

        # @return [Integer] 0
        def rewind = @tempfile.rewind
      end
    end
  end
end
