# frozen_string_literal: true

require "io/wait"
require "json"
require "tempfile"
require "pelton/clock"
require_relative "measurement"
require_relative "programs"

module Pelton
  module Lab
    # One contender in a fresh process: measured once by {#run}, or in several rounds by {#prepare}, {#measure} and
    # {#finish}, between which other contenders are measured.
    class Trial
      # `status` is :done with a {Measurement}, or :wrong, :error, :unavailable, :hung, :crashed with a `reason`.
      Outcome = Struct.new(:status, :measurement, :reason)

      # @param job [Hash] path, experiment, race, contender, size, port, rehearsal
      # @param deadline [Numeric] seconds for each step, after which the process is killed
      def initialize(processes, job, core: nil, deadline: 60)
        @processes = processes
        @job = job
        @core = core
        @deadline = deadline
      end

      # Runs the contender from its start to its end. The block is called when measuring begins.
      # @return [Outcome]
      def run(&on_start)
        start
        conclude(follow(&on_start))
      ensure
        stop
      end

      # Starts the contender and waits until it can be measured.
      # @return [Outcome, nil] nil: it can
      def prepare
        controlled, @control = IO.pipe
        start(controlled)
        controlled.close
        event = follow("ready")
        return if event?(event, "ready")
        outcome = conclude(event)
        return outcome unless outcome.status == :done
        Outcome.new(:error, nil, "it must use run.measure_server, since the race has rounds_per_process")
      end

      # Measures one round. The block is called when measuring begins.
      # @return [Outcome]
      def measure(&on_start)
        ask_for_a_round
        event = follow("measured", &on_start)
        event?(event, "measured") ? done(event) : conclude(event)
      end

      # Lets the contender make its last checks and end.
      # @return [Outcome]
      def finish
        @control.close
        conclude(follow)
      ensure
        stop
      end

      # Kills the process if it is still there. After {#run} and {#finish} nothing is left to stop.
      def stop
        @processes.stop(@pid) if @pid
        [@reader, @control].each { |io| io&.close }
        @output&.close!
      end

      private

      # @param controlled [IO, nil] from which the process reads whether to measure another round
      def start(controlled = nil)
        @output = Tempfile.new("pelton-lab")
        @reader, writer = IO.pipe
        environment = {"PELTON_LAB_REPORT" => writer.fileno.to_s, "PELTON_LAB_CONTROL" => controlled&.fileno&.to_s}
        @pid = @processes.start_ruby("child.rb", JSON.generate(@job), :environment => environment,
          :core => @core, [:out, :err] => @output.path, writer => writer,
            **(controlled ? {controlled => controlled} : {}))
        writer.close
      end

      def ask_for_a_round
        @control.puts("measure")
      rescue Errno::EPIPE
        # it has ended: its last event says why
      end

      # Reads events until one of that name comes, or until the process closes its report.
      # @return [Hash, nil, :late] the last event
      def follow(name = nil)
        late = Clock.now + @deadline
        loop do
          left = Clock.left(late)
          return :late unless left > 0 && @reader.wait_readable(left)
          line = @reader.gets or return @event
          @event = JSON.parse(line, symbolize_names: true)
          yield if event?(@event, "measuring") && block_given?
          return @event if event?(@event, name)
        end
      end

      def event?(event, name)
        event.is_a?(Hash) && event[:event] == name
      end

      def done(event)
        Outcome.new(:done, Measurement.new(**event.except(:event)))
      end

      def conclude(event)
        return Outcome.new(:hung, nil, "no end within #{@deadline} s: cut") if event == :late
        status = @processes.wait(@pid)
        case event && event[:event]
        when "done"
          done(event)
        when "wrong", "error", "unavailable"
          Outcome.new(event[:event].to_sym, nil, event[:message])
        else
          said = Programs.last_words(@output.path)
          Outcome.new(:crashed, nil,
            "it ended without a result (#{status.to_s.sub(/\Apid \d+ /, "")})#{": #{said}" if said}")
        end
      end
    end
  end
end
