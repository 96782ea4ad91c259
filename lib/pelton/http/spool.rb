# frozen_string_literal: true

require "stringio"
require "tempfile"

module Pelton
  module HTTP
    # Middleware that receives the whole body of a request before it calls the application: in memory up to a limit, and
    # beyond it in a file. Then `rack.input` can be rewound, and a slow upload waits here instead of in the application.
    # {Server#initialize} uses it for `spool:`.
    class Spool
      include Opaque

      # @param app [#call]
      # @param memory [Integer] the most bytes of a body in memory
      def initialize(app, memory: 131_072)
        @app = app
        @memory = memory
      end

      # @asynchronous
      def call(env)
        input = env["rack.input"]
        receive(input, env) if input.is_a?(Input)
        @app.call(env)
      end

      private

      def receive(input, env)
        spool = StringIO.new(String.new(encoding: Encoding::BINARY))
        input.each_part do |part|
          spool = move(spool, env) if spool.is_a?(StringIO) && spool.size + part.bytesize > @memory
          spool.write(part)
        end
        env["CONTENT_LENGTH"] = spool.size.to_s
        spool.rewind
        env["rack.input"] = spool
      end

      # Moves the body to a file, which is deleted when the response is complete.
      def move(memory, env)
        file = Tempfile.create("pelton", binmode: true)
        File.unlink(file.path)
        env["rack.response_finished"] << ->(*) { file.close }
        file.write(memory.string)
        memory.string.clear
        file
      rescue
        file&.close
        raise
      end
    end
  end
end
