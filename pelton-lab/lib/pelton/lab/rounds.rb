# frozen_string_literal: true

module Pelton
  module Lab
    # The rounds of one comparison: in each of them every contender is measured once, in a shuffled order, so that a
    # disturbance of the machine strikes all alike. A contender's process lives for one round, or for as many as the
    # race's `rounds_per_process` says: then the processes wait for their turns side by side.
    class Rounds
      # @param server [#counters, nil] the race's server
      # @param random [Random] shuffles the order
      # @yieldparam result [Result]
      # @yieldparam size [Integer]
      # @yieldparam rehearsal [Boolean]
      # @yieldreturn [Trial]
      def initialize(comparison, server, random:, &trial)
        @comparison = comparison
        @race = comparison.race
        @server = server
        @random = random
        @trial = trial
      end

      # Runs each contender once, untimed.
      # @yieldparam text [String] the current step
      # @yieldparam share [Float] the finished share of this comparison
      def rehearse(results)
        results.each_with_index do |result, n|
          yield "#{@comparison.name}, rehearsal: #{result.name}", share(0, n, results.size)
          size = [@race.rehearsal, result.size].min
          settle(result, checked(size) { |disturb| @trial.call(result, size, true).run(&disturb) })
        end
      end

      # Runs the timed rounds.
      # @param rounds [Hash{Result => Integer}] in how many of the first rounds each contender takes part
      # @yieldparam text [String]
      # @yieldparam share [Float]
      def run(rounds, &progress)
        (1..@comparison.rounds).each_slice(@race.rounds_per_process) do |some|
          trials = (@race.rounds_per_process > 1) ? prepare(taking_part(rounds, some.first), some.first, &progress) : {}
          some.each { |round| measure(round, taking_part(rounds, round), trials, &progress) }
          trials.each { |result, trial| result.runnable? ? settle(result, trial.finish) : trial.stop }
        end
      end

      private

      def taking_part(rounds, round)
        rounds.select { |result, last| result.runnable? && round <= last }.keys
      end

      # Starts processes that wait for their rounds.
      # @return [Hash{Result => Trial}]
      def prepare(results, round)
        results.to_h do |result|
          yield "#{@comparison.name}, start: #{result.name}", share(round, 0, 1)
          trial = @trial.call(result, result.size, false)
          trial.prepare&.then { |outcome| settle(result, outcome) }
          [result, trial]
        end
      end

      def measure(round, results, trials)
        results.shuffle(random: @random).each_with_index do |result, n|
          yield "#{@comparison.name}, round #{round} of #{@comparison.rounds}: #{result.name}",
            share(round, n, results.size)
          outcome = checked(result.size) do |disturb|
            trials[result] ? trials[result].measure(&disturb) : @trial.call(result, result.size, false).run(&disturb)
          end
          settle(result, outcome)
          # Measurements of one round are nearer to each other than to those of another.
          result.add(outcome.measurement, round + 0.9 * n / results.size) if outcome.status == :done
        end
      end

      # The outcome of the block, which is a wrong answer where the server has counted otherwise than the race expects.
      def checked(size)
        before = @server.counters if @race.expected_counts
        outcome = yield -> { @race.disturbance&.call(@server, size) }
        miscounted = miscounted(before, size) if before && outcome.status == :done
        miscounted ? Trial::Outcome.new(:wrong, nil, miscounted) : outcome
      end

      # A contender that did not do its work rightly is out.
      def settle(result, outcome)
        case outcome.status
        when :done then nil
        when :unavailable then result.skip(outcome.reason)
        when :wrong then result.refuse("wrong: #{outcome.reason}")
        else result.refuse(outcome.reason)
        end
      end

      def share(round, index, size)
        (round + index / size.to_f) / (@comparison.rounds + 1)
      end

      # The counters that differ from the race's expectation, in words, or nil.
      def miscounted(before, size)
        after = @server.counters
        wrong = @race.expected_counts.call(size).filter_map do |name, expected|
          counted = after.fetch(name) - before.fetch(name)
          "#{name} is #{counted}, should be #{expected}" unless counted == expected
        end
        "the server counted: #{wrong.join("; ")}" unless wrong.empty?
      end
    end
  end
end
