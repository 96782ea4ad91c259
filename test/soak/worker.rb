# frozen_string_literal: true

require "timeout"
require_relative "model"

module Soak
  # An answer that no memcached would give.
  class Wrong < StandardError
  end

  # An operation that did not end at its deadline.
  class Stuck < StandardError
  end

  # Whether failing servers and networks may cause the error. The servers here send no wrong replies: a reply that fits
  # no request is a bug.
  def self.excused?(error)
    !error.is_a?(Pelton::ProtocolError) && [Pelton::ConnectionError, Pelton::TimeoutError,
      Pelton::OverloadError].any? { |kind| error.is_a?(kind) }
  end

  # Uses a client, in all styles, with keys of its own, and compares each answer with its models'. Errors that the
  # network causes are counted.
  class Worker
    FAR_TOO_LONG = 30 # seconds
    KEYS = 6

    # @param deaths [#call] returns the number of servers that have died, and so lost their values
    # @param coded [Boolean] the client has a serializer: counters are stored raw, and no bytes are appended to values
    def initialize(name, client, deaths, random, tally, coded: false)
      @name = name
      @client = client
      @deaths = deaths
      @random = random
      @tally = tally
      @renewals = 0
      @coded = coded
      @models = Array.new(KEYS) { |index| renew(index) }
    end

    def step
      Timeout.timeout(FAR_TOO_LONG, Stuck) do
        case @random.rand(20)
        when 0..13 then burst
        when 14, 15 then many
        when 16 then stored_once
        when 17 then changed_by_a_block
        when 18 then fetched
        else value_of_another_size
        end
      end
    end

    private

    def renew(index)
      model = Model.new("#{@name}-#{@renewals += 1}", @deaths.call, counter: index == 0)
      @models[index] = model if @models
      model
    end

    # The index of a key whose server has not died since the key's first use.
    def pick(indexes = (0...KEYS))
      index = @random.rand(indexes)
      renew(index) if @models[index].generation != @deaths.call
      index
    end

    # Some commands for one key, which the server executes in their order.
    def burst
      index = pick
      model = @models[index]
      commands = Array.new(@random.rand(1..8)) { command_for(model) }
      style = %i[direct callback later].sample(random: @random)
      check(model, commands, __send__(style, model, commands), [index], style)
    end

    def command_for(model)
      known = model.counter? ? Model::COUNTER : Model::VALUE
      command = (@coded ? known - %i[append prepend] : known).sample(random: @random)
      case command
      when :set, :add, :replace then [command, model.counter? ? @random.rand(1000).to_s : value]
      when :append, :prepend then [command, value(10)]
      when :incr, :decr, :begin_at then [command, @random.rand(1..100)]
      else [command]
      end
    end

    def value(limit = 200)
      limit = 100_000 if limit == 200 && @random.rand(40) == 0
      @random.bytes(@random.rand(1..limit)).tap { |bytes| bytes.setbyte(0, 0x78) } # an x in front: never a number
    end

    # Returns a method and its arguments.
    def call_of(model, command, argument)
      options = (@random.rand(3) == 0) ? {timeout: @random.rand(0.005..0.2)} : {}
      case command
      when :refused then [:incr, [model.key], options]
      when :begin_at then [:incr, [model.key], options.merge(initial: argument)]
      when :touch, :gat then [command, [model.key], options.merge(ttl: 1000)]
      when :get, :delete then [command, [model.key], options]
      else [command, [model.key, argument], (@coded && command == :set &&
        model.counter?) ? options.merge(raw: true) : options]
      end
    end

    def direct(model, commands)
      failed = nil
      commands.map do |command, argument|
        next failed if failed
        method, arguments, options = call_of(model, command, argument)
        begin
          @client.public_send(method, *arguments, **options)
        rescue Pelton::Error => error
          failed = error unless command == :refused && error.is_a?(Pelton::Memcached::ServerError)
          error
        end
      end
    end

    def callback(model, commands)
      answers = Array.new(commands.size)
      operations = commands.each_with_index.map do |(command, argument), i|
        method, arguments, options = call_of(model, command, argument)
        @client.public_send(method, *arguments, **options) { |answer| answers[i] = answer }.errback do |error|
          answers[i] = error
        end
      end
      operations.each { |operation| outcome(operation) }
      Pelton::Reactor.current.yield if Pelton.running? # lets the callbacks run
      answers
    end

    def later(model, commands)
      commands.map do |command, argument|
        method, arguments, options = call_of(model, command, argument)
        @client.later.public_send(method, *arguments, **options).errback {}
      end.map { |operation| outcome(operation) }
    end

    def outcome(operation)
      operation.await
    rescue Pelton::Error => error
      error
    end

    # Many keys at once.
    def many
      pick
      indexes = (1...KEYS).to_a.sample(@random.rand(1..5), random: @random)
      indexes.each { |index| renew(index) if @models[index].generation != @deaths.call }
      models = indexes.map { |index| @models[index] }
      case @random.rand(3)
      when 0
        pairs = models.to_h { |model| [model.key, value] }
        same(pairs.size, pairs.keys, indexes) { @client.set_multi(pairs) } or return
        pairs.each_with_index { |(_, value), i| models[i].answer(:set, value) }
      when 1
        expected = models.count { |model| model.answer(:delete) }
        same(expected, models.map(&:key), indexes) { @client.delete_multi(models.map(&:key)) } or return
      end
      expected = models.to_h { |model| [model.key, model.answer(:get)] }.compact
      same(expected, models.map(&:key), indexes) { @client.get_multi(models.map(&:key)) }
    end

    # A set with the cas number of an older value stores nothing.
    def stored_once
      index = pick(1...KEYS)
      model = @models[index]
      model.answer(:set, first = value)
      same(true, model.key, [index]) { @client.set(model.key, first) } or return
      cas = nil
      same(first, model.key, [index]) { @client.gets(model.key).then { |old, number| cas = number and old } } or return
      model.answer(:set, second = value)
      same(true, model.key, [index]) { @client.set(model.key, second, cas: cas) } or return
      same(false, model.key, [index]) { @client.set(model.key, value, cas: cas) }
    end

    def changed_by_a_block
      index = pick(1...KEYS)
      model = @models[index]
      old = model.answer(:get)
      model.answer(:set, new = value)
      seen = []
      same([true, [old]], model.key, [index]) { [@client.cas(model.key) { |present| seen << present and new }, seen] }
    end

    def fetched
      index = pick(1...KEYS)
      model = @models[index]
      present = model.answer(:get)
      made = value
      # When servers fail, a fetch returns the value that its block has made, and it is unknown whether that value was
      # stored.
      same(true, model.key, [index]) { [present || made, made].include?(@client.fetch(model.key, wait: 0.2) { made }) }
      renew(index)
    end

    def value_of_another_size
      index = pick(1...KEYS)
      model = @models[index]
      model.answer(:set, large = @random.bytes(@random.rand(200_000..900_000)))
      same(true, model.key, [index]) { @client.set(model.key, large) } or return
      same(large, model.key, [index]) { @client.get(model.key) } or return
      same(true, model.key, [index]) { @client.delete(model.key) }
      model.answer(:delete)
    end

    # Checks the block's value. Returns false, and gives up the keys, when the block fails.
    def same(expected, what, indexes)
      actual = begin
        yield
      rescue Pelton::Error => error
        error
      end
      compare(expected, actual, what, indexes)
    end

    def check(model, commands, answers, indexes, style)
      commands.zip(answers).each do |(command, argument), actual|
        expected = model.answer(command, argument)
        if expected == :refused && actual.is_a?(Pelton::Memcached::ServerError) &&
            actual.message.include?("non-numeric")
          expected, actual = :refused, :refused
        end
        actual = actual.rstrip if model.counter? && actual.is_a?(String)
        compare(expected, actual, [style, command, model.key], indexes) or break
      end
    end

    def compare(expected, actual, what, indexes)
      if indexes.any? { |index| @models[index].generation != @deaths.call }
        @tally[:deaths] += 1
      elsif Soak.excused?(actual)
        @tally[actual.class.name] += 1
      elsif expected == actual
        @tally[:right] += 1
        return true
      else
        raise Wrong, "#{@name}, #{what.inspect}: #{shorten(expected)} was expected, not #{shorten(actual)}"
      end
      indexes.each { |index| renew(index) }
      false
    end

    def shorten(object) = object.is_a?(Exception) ? object.full_message(highlight: false) : object.inspect[0, 200]
  end
end
