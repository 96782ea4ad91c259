# frozen_string_literal: true

require_relative "copy"
require_relative "equivalents"
require_relative "report"
require_relative "results"
require_relative "sample"
require_relative "source"
require_relative "trial"

module Mutations
  # Makes a sample of mutants and tries each, in some copies at once.
  class Run
    FOLDER = "tmp/mutations"

    # @param root [String] the checkout
    # @param jobs [Integer] how many copies
    # @param again [Boolean] whether what survived before is tried once more
    # @param options [Hash] of {Sample}
    def initialize(root, only: //, jobs: 1, again: false, **options)
      @root, @jobs = root, jobs
      @mutants = Sample.new(Source.all(root, only), **options).mutants
      @results = Results.new(File.join(root, FOLDER, "results.jsonl"), again: again)
      @equivalents = Equivalents.new
    end

    # @return [Report] of those which were tried: all of them, if nobody interrupts
    def report
      left = @mutants.reject { |mutant| outcome(mutant) }
      puts "#{@mutants.size} mutants, #{@mutants.size - left.size} of them tried before"
      try(left) if left.any?
      Report.new(@mutants.to_h { |mutant| [mutant, outcome(mutant)] }.compact)
    end

    private

    def outcome(mutant) = @equivalents.include?(mutant) ? "equivalent" : @results[mutant.key]

    def try(mutants)
      Copy.build(@root)
      queue = Queue.new(mutants)
      workers = Array.new([@jobs, mutants.size].min) { |number| Thread.new { work(queue, mutants.size, number) } }
      workers.each(&:join)
    rescue Interrupt
      queue.clear
      workers.each(&:join)
    end

    def work(queue, count, number)
      trial = Trial.new(Copy.new(File.join(@root, FOLDER, number.to_s)).update(@root), @results)
      while (mutant = pop(queue))
        outcome = @results[mutant.key] = trial.outcome(mutant)
        puts "#{count - queue.size}/#{count} #{outcome}: #{mutant}"
      end
    end

    def pop(queue)
      queue.pop(true)
    rescue ThreadError
      nil
    end
  end
end
