# frozen_string_literal: true

module Pelton
  module Rails
    module ResumableStreams
      # In views.
      module Helper
        # An element with a record's text, which grows while a job writes it, and one with its state
        # ({Pelton::ResumableStream::TurboElements.state}). It needs Turbo; `white-space: pre-wrap` shows the text's
        # lines.
        #
        # @param record [ActiveRecord::Base]
        # @param column [Symbol]
        # @param src [String, nil] the path of the action that calls {Controller#follow_stream}; nil: by Action Cable,
        #   on the page's one connection
        # @param attributes [Hash] of the element
        # @return [ActiveSupport::SafeBuffer]
        def resumable_stream_tag(record, column, src: nil, **attributes)
          now = record.public_send(:"#{column}_stream").snapshot
          target = ResumableStreams.target(record, column)
          text = content_tag(:div, now&.text.to_s, id: target, **attributes)
          text += Pelton::ResumableStream::TurboElements.state(target, now ? now.state : "waiting").html_safe
          now&.open? ? text + resumable_stream_source(record, column, src, "#{target}_source") : text
        end

        private

        def resumable_stream_source(record, column, src, id)
          return content_tag("turbo-stream-source", "", id: id, src: src) if src
          content_tag("turbo-cable-stream-source", "", id: id, channel: Channel.name,
            "signed-stream-name": Channel.sign(record, column))
        end
      end
    end
  end
end
