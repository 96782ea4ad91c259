# frozen_string_literal: true

module Pelton
  # Values that a task takes along from the code that spawned it: a request id, a tenant, a locale.
  #
  #     Pelton::Inherited[:tenant] = "acme"
  #     Pelton.spawn { Pelton::Inherited[:tenant] }.await # => "acme"
  #
  # They are Ruby's own (`Fiber[:tenant]`) from Ruby 3.2 on. Tasks of {Pelton.spawn}, groups and {Pelton.map}, timers,
  # {Pelton.next_tick}, {Pelton.offload}, {Background#run} and the blocks of a {Deferrable} have a copy; what they set
  # stays theirs. Each request of a server begins without any.
  module Inherited
    KEY = :pelton_inherited
    private_constant :KEY

    # Wraps a block with inherited values. Keeps its source_location, which tasks display.
    class Block < Proc
      def self.of(block, arounds)
        one = new do |*values|
          arounds.reduce(-> { block.call(*values) }) { |inner, around| -> { around.call(inner) } }.call
        end
        one.tap { one.instance_variable_set(:@block, block) }
      end

      def source_location = @block.source_location
    end
    private_constant :Block

    @carriers = []

    class << self
      if Fiber.respond_to?(:[])
        # @param name [Symbol]
        # @return the value that this fiber has set or inherited
        def [](name) = Fiber[name]

        # @param name [Symbol]
        # @param value nil: forget it
        def []=(name, value)
          Fiber[name] = value
        end

        private

        def values = Fiber.current.storage || {}

        def values=(values)
          (self.values.keys - values.keys).each { |name| Fiber[name] = nil }
          values.each { |name, value| Fiber[name] = value }
        end
      else
        def [](name) = values[name]

        def []=(name, value)
          Pelton._observe(:inheritance, true)
          self.values = values.merge(name => value).compact
        end

        private

        def values = Thread.current[KEY] || {}

        def values=(values)
          Thread.current[KEY] = values
        end
      end

      public

      # For libraries that keep a state by fiber in their own way: the block is called where a task is spawned, and
      # returns a Proc that is called in the task with the task's block, and calls that with the same state. What was
      # registered first is called first.
      #
      #     Pelton::Inherited.carry do
      #       context = OpenTelemetry::Context.current
      #       ->(block) { OpenTelemetry::Context.with_current(context, &block) }
      #     end
      #
      # @return [void]
      def carry(&capture)
        @carriers = [capture, *@carriers] # the last one's Proc is outermost
        Pelton._observe(:inheritance, true)
      end

      # @private
      # @return [Proc] the block with what the calling fiber has
      def block(block)
        inherited = values
        Block.of(block, [->(run) { with(inherited, run) }, *@carriers.map(&:call)])
      end

      private

      def with(inherited, run)
        before = values
        self.values = inherited
        run.call
      ensure
        self.values = before
      end
    end

    Pelton.register_upcalls(inherit: method(:block))
  end
end
