# frozen_string_literal: true

module Pelton
  # Raised when all operations of {Deferrable.any} have failed.
  class AllFailedError < Error
    # @return [Array] the errors, in the order of the list
    attr_reader :errors

    def initialize(errors)
      @errors = errors
      super("all #{errors.size} operations failed: #{errors.uniq.map(&:inspect).join(", ")}")
    end

    def retriable? = errors.any? { |error| error.respond_to?(:retriable?) && error.retriable? }
  end

  # Combines several operations into one. See {Deferrable.all}.
  class Composition
    def initialize(list, cancel)
      @list = list
      @cancel = cancel
      @results = Array.new(list.size)
      @missing = list.size
      @whole = Operation.new
    end

    def all
      @whole.succeed([]) if @list.empty?
      listen(
        ->(index, values) { settle(:succeed, @results) if complete?(index, values) },
        ->(_index, errors) { settle(:fail, *errors) }
      )
    end

    def any
      @whole.fail(AllFailedError.new([])) if @list.empty?
      listen(
        ->(_index, values) { settle(:succeed, *values) },
        ->(index, errors) { settle(:fail, AllFailedError.new(@results)) if complete?(index, errors) }
      )
    end

    def race
      raise ArgumentError, "race needs at least one operation" if @list.empty?
      listen(
        ->(_index, values) { settle(:succeed, *values) },
        ->(_index, errors) { settle(:fail, *errors) }
      )
    end

    private

    def listen(succeeded, failed)
      @list.each_with_index do |one, index|
        one.callback { |*values| succeeded.call(index, values) }
        one.errback { |*errors| failed.call(index, errors) }
      end
      @whole
    end

    def complete?(index, results)
      @results[index] = (results.size > 1) ? results : results.first
      (@missing -= 1).zero?
    end

    def settle(how, *results)
      return if @whole.done?
      @whole.public_send(how, *results)
      @list.each { |one| one.cancel if one.respond_to?(:cancel) } if @cancel
    end
  end
  private_constant :Composition
end
