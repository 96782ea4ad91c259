# frozen_string_literal: true

module Pelton
  module HTTP
    # Response bodies other than Arrays: files, `each`, `call(stream)`, and Deferrables.
    # @private
    module Body
      class << self
        # @raise [TypeError] it is no body
        def check(body)
          return if body.respond_to?(:each) || body.respond_to?(:call)
          hint = body.is_a?(String) ? "[the String]" : "[] for an empty one"
          raise TypeError, "the application returned #{body.nil? ? "nil" : "an instance of #{body.class}"} as the " \
            "body: return an Array of Strings (#{hint}), or an object that responds to each or call"
        end

        # Sends a body and closes it, once, also when the client has closed the connection. An error leaves the response
        # unfinished.
        def deliver(exchange, body, env)
          return deliver_stream(exchange, body, env) unless body.respond_to?(:each)
          later = false
          send_file(exchange, body) || send_parts(exchange, body)
          (later = deferred?(body)) ? await_end(exchange, body, env) : exchange.finish
        ensure
          close(body) if later == false
        end

        private

        # A directory or a pipe cannot be sent by sendfile, and opening a pipe might block for ever.
        def send_file(exchange, body)
          return body.send_to(exchange) if body.respond_to?(:send_to)
          return unless body.respond_to?(:to_path) && File.stat(path = body.to_path).file?
          File.open(path, "rb") { |file| exchange.send_file(file.fileno, file.size) }
        end

        def send_parts(exchange, body)
          pass_on(exchange, body) if body.respond_to?(:relay_to)
          body.each { |part| exchange.write(part) }
        end

        # Passes bytes from another connection to the client as long as the client accepts them at once. The body's
        # parts are the rest.
        def pass_on(exchange, body)
          return unless exchange.fits?(body.bytesize) && (begun = body.begin_relay)
          while (stream = exchange.write_directly(begun)) && (count = body.relay_to(stream))
            exchange.passed(count)
            begun = nil
          end
        end

        # Deferrable bodies in Thin's style: the body has kept the block of `each`, and calls it with later parts. It
        # fails when the client has closed the connection.
        def await_end(exchange, body, env)
          env["rack.response_finished"] << ->(*, error) { body.fail if error && body.respond_to?(:fail) }
          body.callback { finish(exchange, body) }
          body.errback do
            exchange.abort
            close(body)
          end
        end

        def deferred?(body) = body.respond_to?(:callback) && body.respond_to?(:errback)

        # Closing the stream ends the response, perhaps long after the call has returned.
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
