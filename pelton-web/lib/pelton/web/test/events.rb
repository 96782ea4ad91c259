# frozen_string_literal: true

module Pelton
  module Web
    module Test
      # The server-sent events of a response, read while the application sends.
      class Events
        # An event: its name ("message" by default), its data and its id.
        Event = Struct.new(:name, :data, :id, keyword_init: true)
        # An env with this entry passes its stream to the reader.
        KEY = "pelton.web.test.events"
        # Follows the last part.
        FINISHED = Object.new.freeze
        private_constant :FINISHED

        # @private
        # @param timeout [Numeric] seconds for each event
        def initialize(timeout)
          @timeout = timeout
          @parts = Thread::Queue.new
          @text = +""
        end

        # Returns the next event, without comments.
        #
        # @param timeout [Numeric] seconds
        # @return [Event, nil] nil if the stream has ended
        # @raise [TimeoutError] if none arrives in time
        # @raise the error that ended the application's block
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

        # Leaves like a client that closes the page: the application's block is cancelled where it waits.
        #
        # @asynchronous
        def close
          @task&.cancel
          @body.close if @body.respond_to?(:close)
          @body = nil
        end

        # @private
        # Reads the response in a separate task.
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

        # Takes the first event from the received text.
        def taken
          while (block = @text.slice!(/\A.*?(?>\r\n|\n|\r){2}/m))
            event = parse(block) and return event
          end
        end

        # HTML, section 9.2.6.
        def parse(block)
          fields = block.split(/\r\n|\n|\r/).filter_map { |line| line.match(/\A([^:]+)(?:: ?(.*))?\z/)&.captures }
          data = fields.filter_map { |name, value| value.to_s if name == "data" }
          if data.any?
            Event.new(name: fields.assoc("event")&.last ||
              "message", data: data.join("\n"), id: fields.assoc("id")&.last)
          end
        end
      end
    end
  end
end
