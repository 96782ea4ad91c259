# frozen_string_literal: true

module Soak
  # The value that a memcached has under one key, and the answers that follow from it. No other worker uses the key, so
  # that each answer is known until a command fails: then the value is unknown, and the key is given up.
  class Model
    # A key is either for values or for a counter: memcached pads numbers with spaces.
    VALUE = %i[get set add replace append prepend delete touch gat refused].freeze
    COUNTER = %i[get set incr decr begin_at delete].freeze

    attr_reader :key, :generation

    def initialize(key, generation, counter: false)
      @key = key
      @generation = generation
      @counter = counter
      @value = nil
    end

    def counter? = @counter

    # Applies a command, and returns its answer.
    def answer(command, argument = nil)
      case command
      when :get, :gat then @value
      when :set then store(argument)
      when :add then @value.nil? && store(argument)
      when :replace then !@value.nil? && store(argument)
      when :append then !@value.nil? && store(@value + argument)
      when :prepend then !@value.nil? && store(argument + @value)
      when :delete then !@value.nil?.tap { @value = nil }
      when :touch then !@value.nil?
      when :refused then @value && :refused
      when :incr then count((Integer(@value) + argument) % 2**64) if @value
      when :decr then count([Integer(@value) - argument, 0].max) if @value
      when :begin_at then @value ? count(Integer(@value) + 1) : count(argument)
      else raise ArgumentError, command.to_s
      end
    end

    private

    def store(value)
      @value = value
      true
    end

    def count(number)
      @value = number.to_s
      number
    end
  end
end
