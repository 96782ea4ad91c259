# frozen_string_literal: true

require_relative "worker"

module Soak
  # Uses a client of several servers whose keys move when a server is down. Then an older value may come back, so the
  # only check of an answer is that this value was stored under this key, whole.
  class Roamer
    def initialize(name, client, random, tally)
      @name = name
      @client = client
      @random = random
      @tally = tally
    end

    def step
      Timeout.timeout(Worker::FAR_TOO_LONG, Stuck) do
        keys = Array.new(@random.rand(1..10)) { "#{@name}-#{@random.rand(50)}" }
        case @random.rand(4)
        when 0 then @client.set_multi(keys.to_h { |key| [key, value_of(key)] }, ttl: 100)
        when 1 then keys.each { |key| @client.set(key, value_of(key), ttl: 100) }
        when 2 then keys.map { |key| [key, @client.later.get(key).errback {}] }.each do |key, operation|
          check(key, operation.await)
        end
        else @client.get_multi(keys).each { |key, value| check(key, value) }
        end
        @tally[:right] += 1
      end
    rescue Pelton::ConnectionError, Pelton::TimeoutError => error
      raise unless Soak.excused?(error)
      @tally[error.class.name] += 1
      Pelton.running? ? Pelton::Reactor.current.yield : Thread.pass
    end

    private

    def value_of(key)
      filling = @random.rand(0..9).to_s * @random.rand(0..2000)
      "#{key} #{filling.bytesize} #{filling}"
    end

    def check(key, value)
      return unless value
      found, size, filling = value.split(" ", 3)
      return if found == key && filling.bytesize == size.to_i && filling.squeeze.size <= 1
      raise Wrong, "#{key}: #{value.inspect[0, 200]}"
    end
  end
end
