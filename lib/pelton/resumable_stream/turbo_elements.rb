# frozen_string_literal: true

require "cgi/escape"

module Pelton
  class ResumableStream
    # A text's events as elements of Turbo, for a page with two elements: one has the text, the other one the text's
    # state (see {.state}).
    class TurboElements
      # The element that has a text's state, for styles and scripts: `data-state` is one of {STATES}.
      #
      # @param target [String] the id of the element with the text
      # @param state [String]
      # @return [String] HTML
      def self.state(target, state)
        %(<span id="#{CGI.escapeHTML(target)}_state" role="status" data-state="#{CGI.escapeHTML(state)}"></span>)
      end

      # @param target [String] the id of the element with the text; the element by which the page follows it has the
      #   same id with `_source`
      # @yieldparam event [Event] whose state has changed
      # @yieldreturn [String, nil] elements of Turbo, which come first
      def initialize(target, &changed)
        @target, @changed = target, changed
        @id = CGI.escapeHTML(target)
      end

      # @param event [Event]
      # @return [String] HTML
      def of(event)
        case event.type
        when :append then element(event.first? ? "update" : "append", @id, CGI.escapeHTML(event.text))
        when :begin then element("update", @id, "")
        else [@changed&.call(event), state(event.type.name), (leave if FINAL.include?(event.type.name))].join
        end
      end

      private

      def state(state) = element("replace", "#{@id}_state", TurboElements.state(@target, state))

      # The reader comes no more.
      def leave = %(<turbo-stream action="remove" target="#{@id}_source"></turbo-stream>)

      def element(action, id, html)
        %(<turbo-stream action="#{action}" target="#{id}"><template>#{html}</template></turbo-stream>)
      end
    end
  end
end
