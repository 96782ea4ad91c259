# frozen_string_literal: true

require_relative "heat"
require_relative "pinning"
require_relative "processes"
require_relative "result"
require_relative "trial"

module Pelton
  module Lab
    # Runs races: first every contender once, untimed, to see that it answers rightly (and not again in other pinnings and
    # at other latencies: timed answers are checked, too); then rounds, in each of which
    # every contender runs once, in a shuffled order, so that what disturbs the machine disturbs all alike.
    class Runner
      # @param options [Options] what the command line asked for
      # @param progress [#call] told what is being done, and how much of all is done, from 0 to 1
      # @param attempt [#call] runs a contender once: given {Processes}, a job and a core, it returns a {Trial}
      def initialize(options, progress: ->(text, share) {}, attempt: nil)
        @options = options
        @progress = progress
        @attempt = attempt || ->(processes, job, core) { Trial.new(processes, job, core:, deadline: options.deadline) }
        @random = Random.new(options.seed)
        @rehearsed = {}
      end

      # Yields each heat when it is over.
      # @return [Array<Heat>] one for each pinning and latency of each race
      def run(experiments)
        heats = [*experiments].flat_map { |experiment| experiment.races.flat_map { |race| heats(experiment, race) } }
        work = heats.sum { |heat| work(heat) }
        done = 0
        heats.each do |heat|
          heat.skipped = Pinning.unavailable(heat.pin)
          compete(heat, Processes.new) { |text, share| @progress.call(text, (done + share * work(heat)) / work.to_f) } unless heat.skipped
          done += work(heat)
          yield heat if block_given?
        end
      end

      private

      def heats(experiment, race)
        latencies = race.latencies ? @options.latencies || race.latencies : [nil]
        (@options.pins || race.sizes.keys).product(latencies).map do |pin, latency|
          size = race.size(pin, @options.size, full: @options.full)
          results = entrants(race).map { |contender| enter(race, contender, size, latency) }
          heat = Heat.new(experiment, race, pin, latency:, size:, rounds: @options.rounds || race.rounds, results:)
          heat.tap { heat.left_out = left_out(race) }
        end
      end

      # How often something is run for a heat: what its share of the whole is guessed from.
      def work(heat)
        [heat.results.sum { |result| (result.status == :skipped) ? 0 : rounds(heat, result) }, 1].max
      end

      def rounds(heat, result)
        result.contender.rounds(heat.rounds, all: @options.full || @options.rounds)
      end

      def left_out(race)
        return [] unless @options.peers.nil?
        race.contenders.select { |contender| contender.extra && !contender.unavailable }.map(&:name)
      end

      def entrants(race)
        race.contenders.select do |contender|
          next if contender.instead_of && !race.find(contender.instead_of).unavailable
          @options.peers || (!contender.extra && !(@options.peers == false && contender.peer?))
        end
      end

      def enter(race, contender, size, latency)
        # A size that was asked for is asked of everybody, but for what a long line allows.
        size = contender.size(size, latency:, full: @options.full || (@options.size && !race.fixed?))
        result = Result.new(contender, size)
        contender.unavailable&.then { |reason| result.skip(reason) }
        result
      end

      def compete(heat, processes)
        server_core, core = Pinning.cores(heat.pin)
        server = heat.race.starter&.call(processes, server_core, @options.server)
        heat.server = server&.version
        setting = Setting.new(processes, server, *linked(link(heat), server, processes, server_core), core, server_core)
        (heat.rounds + 1).times do |round|
          runnable = heat.results.select(&:runnable?)
          runnable = if round.zero?
            runnable.reject { |result| @rehearsed[result.contender] }
          else
            runnable.select { |result| round <= rounds(heat, result) }.shuffle(random: @random)
          end
          runnable.each_with_index do |result, n|
            yield "#{heat.name}, #{round.zero? ? "rehearsal" : "round #{round} of #{heat.rounds}"}: #{result.name}",
              (round + n / runnable.size.to_f) / (heat.rounds + 1)
            try(heat, result, setting, round.zero?)
          end
        end
      rescue Unavailable => error
        heat.skipped = error.message
      ensure
        processes.stop_all
        heat.commands.update(processes.commands)
      end

      # The server as contenders reach it, the core that they run on, and the server's.
      Setting = Struct.new(:processes, :server, :host, :port, :core, :server_core)

      # Runs a contender once and books what came of it.
      def try(heat, result, setting, rehearsal)
        size = rehearsal ? [heat.race.rehearsal, result.size].min : result.size
        job = {path: heat.experiment.path, experiment: heat.experiment.name, race: heat.race.name,
               contender: result.name, size:, host: setting.host, port: setting.port,
               server_core: setting.server_core, rehearsal:}
        before = counters(heat.race, setting.server)
        @rehearsed[result.contender] = true
        trial = @attempt.call(setting.processes, job, setting.core)
        outcome = trial.run { heat.race.disturbance&.call(setting.server, size) }
        case outcome.status
        when :done
          miscounted = miscounted(heat.race, before, setting.server, size)
          return result.refuse(miscounted) if miscounted
          result.add(outcome.measurement) unless rehearsal
        when :unavailable then result.skip(outcome.reason)
        when :wrong then result.refuse("wrong: #{outcome.reason}")
        else result.refuse(outcome.reason)
        end
      end

      # What stands before the server: half a round trip each way.
      def link(heat)
        heat.latency&.positive? ? {delay: heat.latency / 2000.0} : heat.race.link
      end

      # Host and port at which the server is reached.
      def linked(link, server, processes, core)
        return [host(server), server&.port] unless link && server
        arguments = link.flat_map { |name, value| ["--#{name.to_s.tr("_", "-")}", value.to_s] }
        ["127.0.0.1", processes.serve_ruby("latency_proxy.rb", "--to", "#{host(server)}:#{server.port}", *arguments, core:).last]
      end

      def host(server)
        server.respond_to?(:host) ? server.host : "127.0.0.1"
      end

      # nil where nothing is to be counted, or the server is not the lab's alone and counts for others, too.
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
