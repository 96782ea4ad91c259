# frozen_string_literal: true

require_relative "heat"
require_relative "pinning"
require_relative "processes"
require_relative "result"
require_relative "trial"

module Pelton
  module Lab
    # Runs races: first every contender once, untimed, to see that it answers rightly; then rounds, in each of which
    # every contender runs once, in a shuffled order, so that what disturbs the machine disturbs all alike.
    class Runner
      # @param options [Options] what the command line asked for
      # @param progress [#call] told, in a few words, what is being done
      def initialize(options, progress: ->(text) {})
        @options = options
        @progress = progress
        @random = Random.new(options.seed)
      end

      # Yields each heat when it is over.
      # @return [Array<Heat>] one for each pinning of each race
      def run(experiment)
        experiment.races.flat_map do |race|
          (@options.pins || race.sizes.keys).map { |pin| heat(experiment, race, pin).tap { |heat| yield heat if block_given? } }
        end
      end

      private

      def heat(experiment, race, pin)
        size = race.size(pin, @options.size)
        results = entrants(race).map { |contender| enter(contender, size) }
        heat = Heat.new(experiment, race, pin, size:, rounds: @options.rounds || race.rounds, results:)
        heat.skipped = Pinning.unavailable(pin)
        compete(heat, Processes.new) unless heat.skipped
        heat
      end

      def entrants(race)
        race.contenders.select do |contender|
          @options.peers || (!contender.extra && !(@options.peers == false && contender.peer?))
        end
      end

      def enter(contender, size)
        # A size that was asked for is asked of everybody.
        size = [size, contender.at_most].min if contender.at_most && !@options.size
        result = Result.new(contender, size)
        contender.unavailable&.then { |reason| result.skip(reason) }
        result
      end

      def compete(heat, processes)
        server_core, core = Pinning.cores(heat.pin)
        server = heat.race.starter&.call(processes, server_core)
        heat.server = server&.version
        port = linked(heat.race.link, server, processes, server_core)
        try = ->(result, rehearsal) { try(heat, result, Setting.new(processes, server, port, core, rehearsal)) }
        heat.results.select(&:runnable?).each { |result| try.call(result, true) }
        heat.rounds.times do |round|
          heat.results.select(&:runnable?).shuffle(random: @random).each do |result|
            @progress.call("#{heat.experiment.name}: #{heat.race.name}, #{Pinning::NAMES[heat.pin]}, " \
              "round #{round + 1} of #{heat.rounds}: #{result.name}")
            try.call(result, false)
          end
        end
      rescue Unavailable => error
        heat.skipped = error.message
      ensure
        processes.stop_all
      end

      Setting = Struct.new(:processes, :server, :port, :core, :rehearsal)

      # Runs a contender once and books what came of it.
      def try(heat, result, setting)
        size = setting.rehearsal ? [heat.race.rehearsal, result.size].min : result.size
        before = counters(heat.race, setting.server)
        outcome = trial(heat, result, size, setting).run { heat.race.disturbance&.call(setting.server, size) }
        case outcome.status
        when :done
          miscounted = miscounted(heat.race, before, setting.server, size)
          return result.refuse(miscounted) if miscounted
          result.add(outcome.measurement) unless setting.rehearsal
        when :unavailable then result.skip(outcome.reason)
        when :wrong then result.refuse("wrong: #{outcome.reason}")
        else result.refuse(outcome.reason)
        end
      end

      def trial(heat, result, size, setting)
        job = {path: heat.experiment.path, experiment: heat.experiment.name, race: heat.race.name,
               contender: result.name, size:, port: setting.port, rehearsal: setting.rehearsal}
        Trial.new(setting.processes, job, core: setting.core, deadline: @options.deadline)
      end

      def linked(link, server, processes, core)
        return server&.port unless link
        arguments = link.flat_map { |name, value| ["--#{name}", value.to_s] }
        processes.serve_ruby("latency_proxy.rb", "--to", server.port.to_s, *arguments, core:).last
      end

      def counters(race, server)
        server.counters if race.expected_counts
      end

      # What the server counted otherwise than the race expects, or nil.
      def miscounted(race, before, server, size)
        return unless before
        after = server.counters
        wrong = race.expected_counts.call(size).map do |name, expected|
          counted = after.fetch(name) - before.fetch(name)
          "#{name} is #{counted}, should be #{expected}" unless counted == expected
        end.compact
        "wrong: the server counted: #{wrong.join("; ")}" unless wrong.empty?
      end
    end
  end
end
