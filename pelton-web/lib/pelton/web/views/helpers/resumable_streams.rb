# frozen_string_literal: true

require "pelton/resumable_stream"
require_relative "form"
require_relative "tags"

module Pelton
  module Web
    module Helpers
      # Texts that a job writes piece by piece ({Pelton::ResumableStream}).
      module ResumableStreams
        # An element with a record's text, which grows while a job writes it, and one with its state
        # ({Pelton::ResumableStream::TurboElements.state}). It needs Turbo; `white-space: pre-wrap` shows the text's
        # lines.
        #
        #     <%= resumable_stream_tag @message, :content, src: stream_message_path(@message) %>
        #
        # @param record [Object] whose `content_stream` is the {Pelton::ResumableStream}, for a column `:content`
        # @param column [Symbol]
        # @param src [String] the path of the action that calls {Controller::Streaming#follow_stream}
        # @param attributes [Hash] of the element
        # @return [HTML]
        # @asynchronous
        def resumable_stream_tag(record, column, src:, **attributes)
          now = record.public_send(:"#{column}_stream").snapshot
          target = ResumableStreams._target(record, column)
          state = Pelton::ResumableStream::TurboElements.state(target, now ? now.state : "waiting")
          parts = [tag(:div, now&.text.to_s, id: target, **attributes), HTML.new(state)]
          parts << tag("turbo-stream-source", id: "#{target}_source", src: src) if now&.open?
          safe_join(parts)
        end

        # The id of the element with a text: `message_7_content` for a Message.
        def self._target(record, column)
          key = record.respond_to?(:pk) ? record.pk : record.id
          "#{Form._scope(record)}_#{[*key].join("_")}_#{column}"
        end
      end
    end
  end
end
