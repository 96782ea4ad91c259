# frozen_string_literal: true

module Pelton
  module Cable
    # Subscribes a client to a stream by its signed name: what `turbo-rails` and `@anycable/web`
    # (`cable.streamFromSigned`) ask for. With `public_streams: true` also by any name (`cable.streamFrom`).
    # @private
    class StreamChannel < Channel
      # As which clients know it.
      TURBO = "Turbo::StreamsChannel"
      PUBSUB = "$pubsub"

      def subscribed
        stream = if params.key?(:signed_stream_name)
          @session.server.signed_streams&.verify(params[:signed_stream_name])
        else
          public_name
        end
        raise Refused, "the name of the stream is not signed by this server" unless stream
        stream_from(stream)
      end

      private

      def public_name
        name = params[:stream_name]
        name if @session.server.public_streams && params[:channel] == PUBSUB && name.is_a?(String) && !name.empty?
      end
    end
  end
end
