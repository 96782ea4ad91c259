# frozen_string_literal: true

# em-websocket's specs use an unreleased em-websocket-client, whose connections take a version and an origin, and keep
# data that arrives together with the end of the handshake.
require "em-websocket-client"

module EventMachine
  class WebSocketClient
    attr_writer :options

    def self.connect(uri, options = {})
      address = URI.parse(uri)
      EM.connect(address.host, address.port || 80, self) do |client|
        client.url = uri
        client.options = options
      end
    end

    def connection_completed
      @connect&.yield
      origin = @options[:origin]
      @hs = ::WebSocket::Handshake::Client.new({url: @url, version: @options[:version],
                                                headers: origin && {"Origin" => origin}}.compact)
      send_data(@hs.to_s)
    end

    def receive_data(data)
      return receive_frames(data) if @handshaked
      @hs << data
      return unless @hs.finished?
      @handshaked = true
      @frame = ::WebSocket::Frame::Incoming::Client.new(version: @hs.version)
      succeed
      receive_frames(@hs.leftovers.to_s)
    end

    private

    def receive_frames(data)
      @frame << data
      while (message = @frame.next)
        @stream&.call(message)
      end
    end
  end
end
