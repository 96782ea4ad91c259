# frozen_string_literal: true

module Pelton
  module Cable
    # Where a page is in its streams: it carries the position of its render to its first subscription, which gets what
    # has come since.
    # @private
    module Position
      # Seconds for which a position in a subscription's identifier counts: a client that connects again later has the
      # same identifier.
      FRESH = 60
      # Bytes of one.
      LONGEST = 2048
      private_constant :FRESH, :LONGEST

      class << self
        # @param streams [Hash{String => String}] topics by the streams' names
        # @return [String] JSON; streams that keep no messages are left out
        def of(streams, pubsub)
          at = (Time.now.to_f * 1000).to_i
          JSON.generate(streams.filter_map do |stream, topic|
            (position = pubsub.position(topic)) && [stream, entry(position, at)]
          end.to_h)
        end

        # The position in a parameter of a subscription, as clients send it that do not know of positions: Turbo's
        # element, by its attribute `data-position`.
        #
        # @param identifier [String]
        # @return [Hash, nil] positions by stream
        def of_page(identifier)
          return unless identifier.include?("position")
          text = JSON.parse(identifier)["position"]
          return unless text.is_a?(String) && text.bytesize <= LONGEST
          positions = JSON.parse(text, max_nesting: 3)
          positions.is_a?(Hash) ? positions.select { |_, entry| fresh?(entry) }.then { |all| all if all.any? } : nil
        rescue JSON::ParserError, TypeError, NoMethodError
          nil
        end

        private

        def entry(position, at)
          epoch, offset = position.split(":", 2)
          {epoch: epoch, offset: offset.match?(/\A\d+\z/) ? Integer(offset) : offset, at: at}
        end

        def fresh?(entry)
          entry.is_a?(Hash) && entry["at"].is_a?(Integer) && Time.now.to_f - entry["at"] / 1000.0 < FRESH
        end
      end
    end
  end
end
