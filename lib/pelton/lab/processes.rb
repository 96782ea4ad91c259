# frozen_string_literal: true

require "io/wait"
require "rbconfig"
require "shellwords"
require_relative "programs"

module Pelton
  module Lab
    # The processes of one race: started on a core, and none of them left behind however the race ends.
    class Processes
      LIBRARY = File.expand_path("../..", __dir__)
      # What helps a programmer takes a Ruby a tenth of its start.
      QUICKLY = {"did_you_mean" => :DidYouMean, "error_highlight" => :ErrorHighlight}
        .filter_map { |name, constant| "--disable=#{name}" if Object.const_defined?(constant) }.freeze

      # What was started, as a user would type it, by the name of the program or script: of each the last one.
      attr_reader :commands

      def initialize
        @running = []
        @commands = {}
      end

      # Starts a command (before it, what to change in its environment) in a process group of its own, so that Ctrl-C reaches the lab alone and the lab ends the rest.
      # @param core [Integer, nil] the core it is bound to
      # @param user [String, nil] the user it runs as, where the lab itself is root
      # @return [Integer] its process id
      def start(*command, core: nil, user: nil, **options)
        environment = command.first.is_a?(Hash) ? command.shift : {}
        note(command, pinned(core))
        pid = Process.spawn(environment, *Programs.tied(user:), *pinned(core), *command, pgroup: true, in: File::NULL, **options)
        @running << pid
        pid
      end

      # Starts one of the lab's Ruby scripts.
      def start_ruby(script, *arguments, environment: {}, **options)
        start({**unbundled, **environment}, RbConfig.ruby, *QUICKLY, "-I", LIBRARY, File.expand_path(script, __dir__), *arguments, **options)
      end

      # Starts a Ruby script that prints its port at the end of a line when it listens.
      # @return [Array(Integer, Integer)] process id and port
      # @raise [Unavailable] when it does not within the deadline (seconds)
      def serve_ruby(script, *arguments, deadline: 10, **options)
        reader, writer = IO.pipe
        pid = start_ruby(script, *arguments, out: writer, **options)
        writer.close
        line = reader.gets if reader.wait_readable(deadline)
        raise Unavailable, "#{script} did not start" unless line
        [pid, Integer(line[/\d+$/])]
      ensure
        reader&.close
      end

      # Ends a process and what it started, and waits for it. One that is stopped or hangs in C ends as well.
      def stop(pid)
        return unless @running.include?(pid)
        kill(:KILL, pid)
        Process.wait(pid)
        @running.delete(pid)
      end

      # Waits for a process to end by itself; it has been told to, or its report is complete.
      # @return [Process::Status]
      def wait(pid)
        status = Process.wait2(pid).last
        kill(:KILL, pid) # what it may have left in its group
        @running.delete(pid)
        status
      end

      def stop_all
        stop(@running.last) until @running.empty?
      end

      private

      def note(command, pinned)
        program = command.find { |word| word.end_with?(".rb", "/pelton") } || command.first
        @commands[File.basename(program, ".rb")] = [*pinned, *command].shelljoin
      end

      def kill(signal, pid)
        Process.kill(signal, -pid)
      rescue Errno::ESRCH, Errno::EPERM
        # it has ended by itself
      end

      # A bundle's gems without Bundler, which takes a tenth of a second to load and 9 MB: they are on the load path.
      def unbundled
        return {} unless defined?(Bundler) && ENV["RUBYOPT"].to_s.include?("bundler/setup")
        {"RUBYOPT" => Bundler.original_env["RUBYOPT"], "RUBYLIB" => $LOAD_PATH.join(File::PATH_SEPARATOR)}
      end

      def pinned(core)
        core ? ["taskset", "-c", core.to_s] : []
      end
    end
  end
end
