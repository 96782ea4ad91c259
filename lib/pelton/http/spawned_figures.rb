# frozen_string_literal: true

module Pelton
  module HTTP
    # Has what a task does counted for the request that has spawned it, also through other tasks. {JSONLog} prepends it to the tasks' class when it
    # has something to count.
    # @private
    module SpawnedFigures
      KEY = :pelton_figures

      # The block of a task, with the figures of its request. It says where the user's block is, since tasks are shown by that.
      class Block < Proc
        def self.of(block, figures)
          new { SpawnedFigures.within(figures, &block) }.tap { |one| one.instance_variable_set(:@block, block) }
        end

        def source_location = @block.source_location
      end

      # The fibers of tasks are used again.
      def self.within(figures)
        Thread.current[KEY] = figures
        yield
      ensure
        Thread.current[KEY] = nil
      end

      def spawn(&block) = block ? _spawn(block, false, false) : super # by & the Block would become a Proc

      def _spawn(block, transient, detached)
        figures = Thread.current[KEY]
        super(figures ? Block.of(block, figures) : block, transient, detached)
      end
    end
  end
end
