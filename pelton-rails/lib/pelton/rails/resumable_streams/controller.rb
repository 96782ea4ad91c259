# frozen_string_literal: true

require "pelton/http"

module Pelton
  module Rails
    module ResumableStreams
      # In controllers.
      module Controller
        # The headers of the empty response that Rails makes.
        REPLACED = %w[content-type content-length cache-control etag].freeze
        private_constant :REPLACED

        # The action's response is a text that is followed by server-sent events: from the beginning, from the parameter
        # `after`, or where the browser was. Who may read it is the action's business.
        #
        #     def show
        #       message = current_user.messages.find(params[:id])
        #       follow_stream(message, :content) { turbo_stream.replace(message.reload) }
        #
        # For `<turbo-stream-source>`, which {Helper} writes, the events are elements of Turbo. Others get them by their
        # names ({Pelton::HTTP::EventStream#follow}) with `turbo: false`.
        #
        # @param record [ActiveRecord::Base]
        # @param column [Symbol]
        # @param turbo [Boolean]
        # @param every [Numeric] seconds of silence, after which a comment finds out whether the client is still there
        # @yieldparam event [Pelton::ResumableStream::Event] whose state has changed
        # @yieldreturn [String, nil] elements of Turbo
        # @return [void]
        def follow_stream(record, column, turbo: true, every: 15, &changed)
          stream = record.public_send(:"#{column}_stream")
          position = request.get_header("HTTP_LAST_EVENT_ID").presence
          elements = ResumableStreams.elements(record, column, &changed) if turbo
          position ||= params[:after] unless turbo
          @_pelton_events = Pelton::HTTP::EventStream.new do |out|
            ::ActiveRecord::Base.connection_handler.clear_active_connections! # a request would keep its connection
            out.follow(stream, after: position, every: every, &elements&.method(:of))
          end
          self.response_body = "" # the action has its response
        end

        # @private
        def to_a
          return super unless @_pelton_events
          status, headers, = super
          headers = headers.to_h.reject { |name, _| REPLACED.include?(name.downcase) }.merge(@_pelton_events.headers)
          # Whose Rack::ETag would read the body to its end
          headers["Last-Modified"] = Time.now.httpdate if Rack.release < "3"
          [status, headers, @_pelton_events]
        end
      end
    end
  end
end
