# frozen_string_literal: true

require "json"
require "pelton/http/websocket"

module Soak
  # A client of a cable that stays subscribed, as the browser's does: it comes back with its position, and is told when
  # messages are lost. Then its page would load the state, which has all that was broadcast before. One of the plain
  # protocol has no position: each return tells it.
  class CableListener
    IDENTIFIER = JSON.generate(channel: "RoomChannel")
    PROTOCOLS = {true => "actioncable-v1-ext-json", false => "actioncable-v1-json"}.freeze

    # @return [Hash{Integer => true}] numbers of messages
    attr_reader :got

    # @return [Float, nil] what was broadcast since, it must get; nil: it is not subscribed yet
    attr_reader :since

    # @return [Integer] times that it was told of a gap, that it was connected, and messages that came twice
    attr_reader :told, :connections, :twice

    def initialize(url, extended:)
      @url = url
      @extended = extended
      @got = {}
      @positions = {}
      @told = @connections = @twice = 0
      @task = Pelton.spawn { stay_connected }
    end

    def stop = @task.cancel

    # @param at [Float] when its worker was asked to broadcast it
    def knows?(number, at) = @got.key?(number) || at <= @since

    private

    def stay_connected
      loop do
        socket = Pelton::HTTP::WebSocket.connect(@url, protocols: [PROTOCOLS[@extended]], timeout: 5)
        talk(socket)
      rescue Pelton::Error, SystemCallError
        nil # it comes back
      ensure
        socket&.close
        sleep 0.05
      end
    end

    def talk(socket)
      while (text = socket.receive(timeout: 10))
        message = JSON.parse(text)
        case message["type"]
        when "welcome" then subscribe(socket)
        when "ping" then socket.write(JSON.generate(command: "pong")) if @extended
        when "confirm_subscription" then confirmed
        when "reject_history" then forget
        when nil then take(message)
        end
      end
    end

    def subscribe(socket)
      @connections += 1
      history = {streams: @positions} if @positions.any?
      socket.write(JSON.generate({command: "subscribe", identifier: IDENTIFIER, history: history}.compact))
    end

    def confirmed
      return @since = Process.clock_gettime(Process::CLOCK_MONOTONIC) unless @since
      forget if @positions.empty?
    end

    def forget
      @positions = {}
      @told += 1
      @since = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def take(message)
      number = message["message"].fetch("number")
      @twice += 1 if @got.key?(number)
      @got[number] = true
      @positions[message["stream_id"]] = message.slice("epoch", "offset") if message["stream_id"]
    end
  end
end
