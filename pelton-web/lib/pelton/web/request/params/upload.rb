# frozen_string_literal: true

require_relative "content_type"

module Pelton
  module Web
    class Params
      # A file from a form, in a temporary file that is deleted after the request.
      class Upload
        include Opaque

        attr_reader :tempfile

        # @return [String, nil] the type that the client claims. Do not trust it: {#type} looks at the bytes
        attr_reader :content_type

        # @return [String] the client's name for the file, without folders and control characters, at most 255 bytes.
        #   Not a safe file name: two clients may send the same
        attr_reader :original_filename

        # @param part [Hash] Rack's
        def initialize(part)
          @tempfile = part[:tempfile]
          @content_type = part[:type]
          name =
            part[:filename].to_s.dup.force_encoding(Encoding::UTF_8).scrub("_").tr("\\", "/").split("/").last.to_s
              .gsub(/[[:cntrl:]]/, "_")
          @original_filename = name.byteslice(0, 255).scrub("").sub(/\A\.{0,2}\z/, "_")
        end

        # The file's type by its bytes. The client's name counts only if it is more precise (a document that is a ZIP
        # archive, or text); the type that the client claims never does. Needs the gem marcel.
        #
        # @return [String] "image/png"; "application/octet-stream" if unknown
        # @raise [ConfigurationError] if the gem is missing
        def type = @type ||= ContentType.of(path, original_filename)

        # @return [Integer] bytes
        def size = @tempfile.size

        # @return [String] the path of the temporary file, or of the kept one after {Uploads#keep}
        def path = @kept || @tempfile.path

        # @private
        def _kept(path) = @kept = path

        # @return [String, nil] the file's bytes
        def read(...) = @tempfile.read(...)

        # @return [Integer] 0
        def rewind = @tempfile.rewind
      end
    end
  end
end
