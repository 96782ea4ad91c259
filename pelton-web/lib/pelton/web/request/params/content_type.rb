# frozen_string_literal: true

module Pelton
  module Web
    class Params
      # Determines a file's type by the gem marcel: by its bytes, and by its name if that is more precise.
      # @private
      module ContentType
        UNKNOWN = "application/octet-stream"
        # Bytes to examine for text.
        SAMPLE = 8192
        private_constant :UNKNOWN, :SAMPLE

        class << self
          # @raise [ConfigurationError] if the gem is missing
          def of(path, name)
            marcel
            File.open(path, "rb") do |file|
              found = Marcel::MimeType.for(file)
              next Marcel::MimeType.for(file.tap(&:rewind), name: name) unless found == UNKNOWN
              named = Marcel::MimeType.for(name: name)
              # Text has no magic bytes, and a name must not turn it into an image.
              (named.start_with?("text/") && text?(file)) ? named : UNKNOWN
            end
          end

          private

          def marcel
            require "marcel"
          rescue LoadError
            raise ConfigurationError,
              "the type of a file is found out by the gem marcel: add gem \"marcel\" to the Gemfile"
          end

          # UTF-8 without control characters; the sample may end inside a character.
          def text?(file)
            file.rewind
            sample = (file.read(SAMPLE) || +"").force_encoding(Encoding::UTF_8)
            if sample.bytesize == SAMPLE
              sample = sample.byteslice(0, sample.bytesize - 3).scrub("") + sample.byteslice(-3, 3).scrub("")
            end
            sample.valid_encoding? && !sample.match?(/[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]/)
          end
        end
      end
      private_constant :ContentType
    end
  end
end
