# frozen_string_literal: true

require "erb"

module Pelton
  module Rails
    module ResumableStreams
      # A text's events as elements of Turbo, for `<turbo-stream-source>`.
      class TurboEvents
        # @param target [String] the id of the element with the text
        # @param fresh [Boolean] whether the reader has no position: the element gets the whole text, whatever it has
        # @yieldparam event [Pelton::ResumableStream::Event] whose state has changed
        # @yieldreturn [String, nil] elements of Turbo, which come first
        def initialize(target, fresh:, &changed)
          @target, @fresh, @changed = target, fresh, changed
        end

        # @return [String, nil]
        def of(event)
          case event.type
          when :append then text(event.text)
          when :begin then element("update", "")
          else [@changed&.call(event), (leave if Pelton::ResumableStream::FINAL.include?(event.type.to_s))].compact.join.presence
          end
        end

        private

        def text(text)
          action, @fresh = @fresh ? "update" : "append", false
          element(action, text)
        end

        # The reader comes no more.
        def leave = %(<turbo-stream action="remove" target="#{@target}_source"></turbo-stream>)

        def element(action, text)
          %(<turbo-stream action="#{action}" target="#{@target}"><template>#{ERB::Util.html_escape(text)}</template></turbo-stream>)
        end
      end
    end
  end
end
