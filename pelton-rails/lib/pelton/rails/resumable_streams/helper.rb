# frozen_string_literal: true

module Pelton
  module Rails
    module ResumableStreams
      # In views.
      module Helper
        # An element with a record's text, which grows while a job writes it. It needs Turbo; `white-space: pre-wrap`
        # shows its lines.
        #
        # @param record [ActiveRecord::Base]
        # @param column [Symbol]
        # @param src [String] the path of the action that calls {Controller#follow_stream}
        # @param attributes [Hash] of the element
        # @return [ActiveSupport::SafeBuffer]
        def resumable_stream_tag(record, column, src:, **attributes)
          now = record.public_send(:"#{column}_stream").snapshot
          target = ResumableStreams.target(record, column)
          text = content_tag(:div, now&.text.to_s, id: target, **attributes)
          now&.open? ? text + content_tag("turbo-stream-source", "", id: "#{target}_source", src: src) : text
        end
      end
    end
  end
end
