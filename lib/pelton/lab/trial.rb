# frozen_string_literal: true

require "io/wait"
require "json"
require "tempfile"
require_relative "../clock"
require_relative "measurement"
require_relative "programs"

module Pelton
  module Lab
    # One contender once, in a fresh process. What came of it is a {Measurement} or a reason why there is none.
    class Trial
      # `status` is :done, or :wrong, :error, :unavailable, :hung, :crashed with a `reason`.
      Outcome = Struct.new(:status, :measurement, :reason)

      # @param job [Hash] path, experiment, race, contender, size, port, rehearsal
      # @param deadline [Numeric] seconds after which the process is ended
      def initialize(processes, job, core: nil, deadline: 60)
        @processes = processes
        @job = job
        @core = core
        @deadline = deadline
      end

      # Runs it. The block is called when measuring begins.
      def run(&on_start)
        output = Tempfile.new("pelton-lab")
        reader, writer = IO.pipe
        pid = @processes.start_ruby("child.rb", JSON.generate(@job), :environment => {"PELTON_LAB_REPORT" => writer.fileno.to_s},
          :core => @core, [:out, :err] => output.path, writer => writer)
        writer.close
        last = follow(reader, &on_start)
        return Outcome.new(:hung, nil, "no end within #{@deadline} s: cut") if last == :late
        conclude(last, @processes.wait(pid), output)
      ensure
        @processes.stop(pid) if pid
        reader&.close
        output&.close!
      end

      private

      # Reads events until the process closes its report.
      # @return [Hash, nil, :late] the last event
      def follow(reader)
        late = Clock.now + @deadline
        last = nil
        loop do
          left = Clock.left(late)
          return :late unless left > 0 && reader.wait_readable(left)
          line = reader.gets or return last
          last = JSON.parse(line, symbolize_names: true)
          yield if last[:event] == "measuring" && block_given?
        end
      end

      def conclude(event, status, output)
        case event && event[:event]
        when "done"
          Outcome.new(:done, Measurement.new(**event.except(:event)))
        when "wrong", "error", "unavailable"
          Outcome.new(event[:event].to_sym, nil, event[:message])
        else
          said = Programs.last_words(output.path)
          Outcome.new(:crashed, nil, "it ended without a result (#{status.to_s.sub(/\Apid \d+ /, "")})#{": #{said}" if said}")
        end
      end
    end
  end
end
