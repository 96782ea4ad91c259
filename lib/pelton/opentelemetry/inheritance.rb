# frozen_string_literal: true

module Pelton
  module OpenTelemetry
    # Gives each task the context of the code that has spawned it. The fibers of tasks are used again, so a task begins with nothing else.
    # @private
    module Inheritance
      # The block of a task, with its context. It says where the user's block is, since tasks are shown by that.
      class Block < Proc
        def self.of(block)
          context = ::OpenTelemetry::Context.current
          new { Inheritance.within(context, &block) }.tap { |one| one.instance_variable_set(:@block, block) }
        end

        def source_location = @block.source_location
      end

      # Runs the block with this context and nothing else, and leaves none.
      def self.within(context)
        ::OpenTelemetry::Context.clear
        ::OpenTelemetry::Context.attach(context)
        yield
      ensure
        ::OpenTelemetry::Context.clear
      end

      def spawn(&block) = block ? _spawn(block, false, false) : super # by & the Block would become a Proc

      def _spawn(block, transient, detached) = super(Block.of(block), transient, detached)

      Task.singleton_class.prepend(self)
    end
  end
end
