# frozen_string_literal: true

require_relative "comparison"
require_relative "pinning"
require_relative "processes"
require_relative "result"
require_relative "rounds"
require_relative "trial"

module Pelton
  module Lab
    # Plans the comparisons of experiments, starts their servers and runs them one after the other: first an untimed
    # rehearsal of every contender, which checks its answers (not again with other pinnings and at other latencies:
    # timed answers are checked as well); then the timed rounds, see {Rounds}.
    class Runner
      # @param options [Options] from the command line
      # @param progress [#call] called with a text and the finished share of all work, from 0 to 1
      # @param attempt [#call] given {Processes}, a job and a core, returns a {Trial}
      def initialize(options, progress: ->(text, share) {}, attempt: nil)
        @options = options
        @progress = progress
        @attempt = attempt || ->(processes, job, core) { Trial.new(processes, job, core:, deadline: options.deadline) }
        @random = Random.new(options.seed)
        @rehearsed = {}
      end

      # Yields each comparison when it is complete.
      # @return [Array<Comparison>] one for each pinning and latency of each race
      def run(experiments)
        comparisons = [*experiments].flat_map do |experiment|
          experiment.races.flat_map { |race| comparisons(experiment, race) }
        end
        work = comparisons.sum { |comparison| work(comparison) }
        done = 0
        comparisons.each do |comparison|
          comparison.skipped = Pinning.unavailable(comparison.pin)
          unless comparison.skipped
            compare(comparison, Processes.new) do |text, share|
              @progress.call(text, (done + share * work(comparison)) / work.to_f)
            end
          end
          done += work(comparison)
          yield comparison if block_given?
        end
      end

      private

      def comparisons(experiment, race)
        latencies = race.latencies ? @options.latencies || race.latencies : [nil]
        (@options.pins || race.sizes.keys).product(latencies).map do |pin, latency|
          size = race.size(pin, @options.size, full: @options.full)
          results = contenders(race).map { |contender| result(race, contender, size, latency) }
          comparison = Comparison.new(experiment, race, pin, latency:, size:, rounds: @options.rounds || race.rounds,
            results:)
          comparison.tap { comparison.left_out = left_out(race) }
        end
      end

      # The number of measurements in a comparison, which estimates its share of the work.
      def work(comparison)
        [comparison.results.sum { |result| (result.status == :skipped) ? 0 : rounds(comparison, result) }, 1].max
      end

      def rounds(comparison, result)
        result.contender.rounds(comparison.rounds, all: @options.full || @options.rounds)
      end

      def left_out(race)
        return [] unless @options.peers.nil?
        race.contenders.select { |contender| contender.extra && !contender.unavailable }.map(&:name)
      end

      # The contenders that take part.
      def contenders(race)
        race.contenders.select do |contender|
          next if contender.instead_of && !race.find(contender.instead_of).unavailable
          @options.peers || (!contender.extra && !(@options.peers == false && contender.peer?))
        end
      end

      def result(race, contender, size, latency)
        # `--size` is for every contender, but a long latency still bounds it.
        size = contender.size(size, latency:, full: @options.full || (@options.size && !race.fixed?))
        result = Result.new(contender, size)
        contender.unavailable&.then { |reason| result.skip(reason) }
        result
      end

      def compare(comparison, processes, &progress)
        server_core, core = Pinning.cores(comparison.pin)
        server = comparison.race.starter&.call(processes, server_core, @options.server)
        comparison.server = server&.version
        host, port = linked(link(comparison), server, processes, server_core)
        rounds = Rounds.new(comparison, server, random: @random) do |result, size, rehearsal|
          job = {path: comparison.experiment.path, experiment: comparison.experiment.name, race: comparison.race.name,
                 contender: result.name, size:, host:, port:, server_core:, rehearsal:}
          @attempt.call(processes, job, core)
        end
        fresh = comparison.results.select { |result| result.runnable? && !@rehearsed[result.contender] }
        fresh.each { |result| @rehearsed[result.contender] = true }
        rounds.rehearse(fresh, &progress)
        rounds.run(comparison.results.to_h { |result| [result, rounds(comparison, result)] }, &progress)
      rescue Unavailable => error
        comparison.skipped = error.message
      ensure
        processes.stop_all
        comparison.commands.update(processes.commands)
      end

      # The latency proxy's settings: half a round trip each way.
      def link(comparison)
        comparison.latency&.positive? ? {delay: comparison.latency / 2000.0} : comparison.race.link
      end

      # The host and port where contenders reach the server.
      def linked(link, server, processes, core)
        return [host(server), server&.port] unless link && server
        arguments = link.flat_map { |name, value| ["--#{name.to_s.tr("_", "-")}", value.to_s] }
        ["127.0.0.1",
          processes.serve_ruby("latency_proxy.rb", "--to", "#{host(server)}:#{server.port}", *arguments, core:).last]
      end

      def host(server)
        server.respond_to?(:host) ? server.host : "127.0.0.1"
      end
    end
  end
end
