# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # The segments of a request's path.
      module Segments
        # Characters that need a closer look: escapes, control characters and non-ASCII ones.
        UNUSUAL = /[^\x21-\x24\x26-\x7e]/
        ESCAPE = /%(?:(\h\h)|)/
        SLASH = "/".ord
        private_constant :UNUSUAL, :ESCAPE, :SLASH

        class << self
          # Splits a path. A trailing slash is ignored. `%2F` is part of a segment.
          #
          # @param path [String] PATH_INFO
          # @return [Array<String>] in UTF-8; the first is empty
          # @raise [BadRequest] if the path is not UTF-8, or contains a control character or a malformed escape
          def of(path)
            path = path.dup.force_encoding(Encoding::UTF_8)
            raise BadRequest, "The path does not begin with a slash." unless path.getbyte(0) == SLASH
            return [""] if path.bytesize == 1
            path.chop! if path.getbyte(-1) == SLASH
            if path.ascii_only? && !path.match?(UNUSUAL)
              path.split("/", -1)
            else
              path.b.split("/", -1).map! { |segment| decode(segment) }
            end
          end

          # @param segment [String] a path's last segment
          # @return [Array(String, String), nil] the text before its last dot, and its format, if it has one
          def ending(segment)
            dot = segment.rindex(".")
            return unless dot&.positive? && dot < segment.size - 1
            format = segment[dot + 1..]
            [segment[0, dot], format] unless format.include?("/") # that was %2F
          end

          private

          def decode(segment)
            text = segment.gsub(ESCAPE) do
              if $1
                $1.hex.chr
              else
                raise(BadRequest, "The path contains a % that is not followed by two hexadecimal digits.")
              end
            end
            text.force_encoding(Encoding::UTF_8)
            raise BadRequest, "The path is not UTF-8." unless text.valid_encoding?
            raise BadRequest, "The path contains a control character." if text.match?(/[\0-\x1f\x7f]/)
            text
          end
        end
      end
    end
  end
end
