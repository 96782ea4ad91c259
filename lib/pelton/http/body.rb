# frozen_string_literal: true

module Pelton
  module HTTP
    # Response bodies that are no Array: files, `each`, `call(stream)`, and Deferrables.
    # @private
    module Body
      class << self
        # Sends a body and closes it, once, also when the client is gone. What it raises ends the response unfinished.
        def deliver(exchange, body, env)
          return deliver_stream(exchange, body, env) unless body.respond_to?(:each)
          later = false
          send_file(exchange, body) || send_parts(exchange, body)
          (later = deferred?(body)) ? await_end(exchange, body, env) : exchange.finish
        ensure
          close(body) if later == false
        end

        private

        # A directory or a pipe cannot be sent so, and opening it might take for ever.
        def send_file(exchange, body)
          return unless body.respond_to?(:to_path) && File.stat(path = body.to_path).file?
          File.open(path, "rb") { |file| exchange.__send__(:_send_file, file.fileno, file.size) }
        end

        def send_parts(exchange, body)
          pass_on(exchange, body) if body.respond_to?(:_splice, true)
          body.each { |part| exchange.write(part) }
        end

        # What another connection receives goes on to the client as far as it can do so at once. The rest is the body's parts.
        def pass_on(exchange, body)
          return unless exchange.__send__(:_fits?, body.bytesize) && (begun = body.__send__(:_begun))
          while (stream = exchange.__send__(:_direct, begun)) && (count = body.__send__(:_splice, stream))
            exchange.__send__(:_passed, count)
            begun = nil
          end
        end

        # As Thin's users write them: each has kept its block, and calls it with what comes later. It fails when the client is
        # gone.
        def await_end(exchange, body, env)
          env["rack.response_finished"] << ->(*, error) { body.fail if error && body.respond_to?(:fail) }
          body.callback { finish(exchange, body) }
          body.errback do
            exchange.abort
            close(body)
          end
        end

        def deferred?(body) = body.respond_to?(:callback) && body.respond_to?(:errback)

        # The stream's close ends the response, and may come long after the call.
        def deliver_stream(exchange, body, env)
          env["rack.response_finished"] << ->(*) { close(body) } if body.respond_to?(:close)
          body.call(BodyStream.new(exchange))
        end

        def finish(exchange, body)
          exchange.finish
        ensure
          close(body)
        end

        def close(body)
          body.close if body.respond_to?(:close)
        end
      end
    end
  end
end
