# frozen_string_literal: true

require "io/wait"
require "rbconfig"
require "shellwords"
require_relative "installation"
require_relative "pinning"
require_relative "programs"

module Pelton
  module Lab
    # The processes of one race, on their cores. None of them outlives the race, however it ends.
    class Processes
      # Options that save a tenth of Ruby's start: without the help for programmers.
      QUICK_START = {"did_you_mean" => :DidYouMean, "error_highlight" => :ErrorHighlight}
        .filter_map { |name, constant| "--disable=#{name}" if Object.const_defined?(constant) }.freeze

      # The last command line of each program or script, as a user would type it, by its name.
      attr_reader :commands

      def initialize
        @running = []
        @commands = {}
      end

      # Starts a command in a separate process group, so that Ctrl-C reaches only the lab, which then ends the others.
      # The command may begin with a Hash of changes to the environment.
      # @param core [Integer, nil] the core it is bound to
      # @param user [String, nil] the user it runs as, where the lab itself is root
      # @return [Integer] its process id
      def start(*command, core: nil, user: nil, **options)
        environment = command.first.is_a?(Hash) ? command.shift : {}
        note(command, Pinning.words(core))
        pid = Process.spawn(environment, *Programs.tied(user:), *Pinning.words(core), *command, pgroup: true,
          in: File::NULL, **options)
        @running << pid
        pid
      end

      # Starts one of the lab's Ruby scripts.
      def start_ruby(script, *arguments, environment: {}, **options)
        start({**unbundled, **environment}, RbConfig.ruby, *QUICK_START, "-I", Installation::LIBRARIES,
          File.expand_path(script, __dir__), *arguments, **options)
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

      # Kills a process with its children, and waits for it. Stopped processes and those that hang in C end as well.
      def stop(pid)
        return unless @running.include?(pid)
        kill(:KILL, pid)
        Process.wait(pid)
        @running.delete(pid)
      end

      # Waits for a process that is about to end by itself.
      # @return [Process::Status]
      def wait(pid)
        status = Process.wait2(pid).last
        kill(:KILL, pid) # children that it may have left
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
        # RubyGems 3.5 and newer look at BUNDLER_SETUP, too.
        {"RUBYOPT" => Bundler.original_env["RUBYOPT"], "BUNDLER_SETUP" => nil,
         "RUBYLIB" => $LOAD_PATH.join(File::PATH_SEPARATOR)}
      end
    end
  end
end
