# frozen_string_literal: true

module Pelton
  module Web
    # Middleware: refuses request bodies beyond a limit with 413, at once if `content-length` shows it, otherwise when
    # the application has read that much.
    #
    #     use Pelton::Web::BodyLimit, 1 << 20
    class BodyLimit
      # @private
      def self.wrap(app, settings) = settings.max_body ? new(app, settings.max_body) : app

      def initialize(app, bytes)
        @app = app
        @bytes = bytes
      end

      # @asynchronous if the application waits
      def call(env)
        length = env["CONTENT_LENGTH"]
        return Problem.of(error).response(env) if length && length.to_i > @bytes
        if length.nil? && env["HTTP_TRANSFER_ENCODING"]
          env["rack.input"] = Input.new(env["rack.input"], @bytes, method(:error))
        end
        @app.call(env)
      rescue TooLarge => error
        Problem.of(error).response(env)
      end

      private

      def error = TooLarge.new("The body of a request may have #{@bytes} bytes.")

      # Rack's input, limited to a number of bytes.
      class Input
        # @private
        def initialize(input, bytes, error)
          @input = input
          @left = bytes
          @error = error
        end

        # @raise [TooLarge]
        # @asynchronous
        def read(length = nil, buffer = nil)
          return counted(@input.read(*[length, buffer].compact)) if length
          all = +"".b
          while (part = read(16_384))
            all << part
          end
          buffer ? buffer.replace(all) : all
        end

        # (see #read)
        def gets
          counted(@input.gets)
        end

        # (see #read)
        def each
          while (part = read(16_384))
            yield part
          end
        end

        # Closes Rack's input.
        def close = @input.close

        private

        def counted(part)
          @left -= part.bytesize if part
          raise @error.call if @left.negative?
          part
        end
      end
    end

    class Settings
      # @!attribute max_body
      #   @return [Integer, nil] maximum bytes of a request's body: see {BodyLimit}; nil, the default, leaves it to the
      #     server
      setting(:max_body) do |value|
        "must be a number of bytes, or nil" if value && !(value.is_a?(Integer) && value.positive?)
      end
    end
  end
end
