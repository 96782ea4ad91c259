# frozen_string_literal: true

module Pelton
  module HTTP
    # Response bodies that are no Array: files, `each`, `call(stream)`, and Deferrables.
    # @private
    module Body
      class << self
        # Sends a body and closes it, also when the client is gone. What it raises ends the response unfinished.
        def deliver(exchange, body, env)
          if body.respond_to?(:to_path) && send_file(exchange, body)
            finish(exchange, body)
          elsif body.respond_to?(:each)
            deliver_parts(exchange, body, env)
          else
            deliver_stream(exchange, body)
          end
        end

        private

        def send_file(exchange, body)
          File.open(body.to_path, "rb") { |file| exchange.__send__(:_send_file, file.fileno, file.size) }
        rescue SystemCallError, Pelton::Error
          close(body)
          raise
        end

        def deliver_parts(exchange, body, env)
          pass_on(exchange, body) if body.respond_to?(:_splice, true)
          body.each { |part| exchange.write(part) }
          deferred?(body) ? await_end(exchange, body, env) : finish(exchange, body)
        rescue Exception # standard:disable Lint/RescueException
          close(body)
          raise
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
        def deliver_stream(exchange, body)
          body.call(BodyStream.new(exchange))
        end

        def finish(exchange, body)
          exchange.finish
          close(body)
        end

        def close(body)
          body.close if body.respond_to?(:close)
        end
      end
    end
  end
end
