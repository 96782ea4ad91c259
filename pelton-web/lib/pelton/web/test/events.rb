# frozen_string_literal: true

module Pelton
  module Web
    module Test
      # The server-sent events of a response, one by one, while the application goes on sending.
      class Events
        # An event: its name ("message" where the application gives none), its text and its id.
        Event = Struct.new(:name, :data, :id, keyword_init: true)
        # By this entry of the env, a response that is a stream goes to the reader.
        KEY = "pelton.web.test.events"
        # Comes after the last part.
        FINISHED = Object.new.freeze
        private_constant :FINISHED

        # @private
        # @param timeout [Numeric] seconds that an event may take
        def initialize(timeout)
          @timeout = timeout
          @parts = Thread::Queue.new
          @text = +""
        end

        # The next event. Comments are left out.
        #
        # @param timeout [Numeric] seconds
        # @return [Event, nil] nil: the stream has ended
        # @raise [TimeoutError] none came in time
        # @raise the error that has ended the application's block
        # @asynchronous
        def next(timeout: @timeout)
          Pelton.timeout(timeout) do
            until (event = taken)
              return unless more
            end
            event
          end
        rescue Pelton::TimeoutError
          raise Pelton::TimeoutError, "no event came within #{timeout} s"
        end

        # Leaves, as a client that closes the page: the application's block is cancelled where it waits.
        #
        # @asynchronous
        def close
          @task&.cancel
          @body.close if @body.respond_to?(:close)
          @body = nil
        end

        # @private
        # Reads the response in a task of its own.
        def read(body)
          @body = body
          sink = InReactor::Sink.new(@parts)
          @task = Pelton.spawn(name: "an event stream of a test", detached: true) do
            body.respond_to?(:each) ? body.each { |part| sink.write(part.dup) } : body.call(sink)
          rescue => error
            @error = error
          ensure
            @parts << FINISHED
          end
        end

        private

        def more
          part = @parts.pop unless @finished
          return @text << part unless part.nil? || part.equal?(FINISHED)
          @finished = true
          raise @error if @error
        end

        # The first event of what has arrived.
        def taken
          while (block = @text.slice!(/\A.*?(?>\r\n|\n|\r){2}/m))
            event = parse(block) and return event
          end
        end

        # HTML, 9.2.6.
        def parse(block)
          fields = block.split(/\r\n|\n|\r/).filter_map { |line| line.match(/\A([^:]+)(?:: ?(.*))?\z/)&.captures }
          data = fields.filter_map { |name, value| value.to_s if name == "data" }
          Event.new(name: fields.assoc("event")&.last || "message", data: data.join("\n"), id: fields.assoc("id")&.last) if data.any?
        end
      end
    end
  end
end
