# frozen_string_literal: true

module Pelton
  module Web
    class Static
      # A response's body: a part of a file, which is read piece by piece.
      #
      # @private
      class FilePart
        PIECE = 65_536
        private_constant :PIECE

        # @param part [Range] of its bytes
        def initialize(path, part)
          @path = path
          @part = part
        end

        # @raise [EOFError] the file is shorter by now. The response must not look complete then
        def each
          File.open(@path, "rb") do |file|
            file.seek(@part.begin)
            left = @part.size
            while left > 0
              piece = file.readpartial([left, PIECE].min)
              left -= piece.bytesize
              yield piece
            end
          end
        end
      end

      # All of a file: a server that sees its path can send it without reading it.
      #
      # @private
      class WholeFile < FilePart
        def to_path = @path
      end
    end
  end
end
