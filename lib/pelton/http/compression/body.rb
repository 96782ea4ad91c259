# frozen_string_literal: true

module Pelton
  module HTTP
    class Compression
      # A body that is compressed part by part, as its parts come.
      # @private
      class Body
        # @param body [#each]
        # @param stream [#part, #finish, #close] see {Coders}
        def initialize(body, stream)
          @body = body
          @stream = stream
        end

        # @yieldparam part [String] binary
        def each
          @body.each do |text|
            part = @stream.part(text)
            yield part unless part.empty?
          end
          yield @stream.finish
        ensure
          @stream.close
        end

        def close = (@body.close if @body.respond_to?(:close))
      end
      private_constant :Body
    end
  end
end
