# frozen_string_literal: true

module Pelton
  module Lab
    # The competitors that are gems, and their installation.
    class Peers
      # The versions that are known to work.
      GEMS = {
        "async" => "2.23.1", # Falcon's; 2.24 calls IO#timeout, which Ruby 3.1 does not have
        "dalli" => "~> 4.3",
        "em-synchrony" => "~> 1.0",
        "eventmachine" => "1.2.7",
        "eventmachine_httpserver" => "~> 0.2",
        "falcon" => "0.51.1", # the last one that works with that async
        "iodine" => "~> 0.7",
        "itsi-server" => "0.2.27",
        "memcached" => "1.8.0",
        "puma" => ">= 6.4",
        "rails" => "~> 7.2.0", # the last for Ruby 3.1
        "redis" => "~> 5.4", # Rails' cache in Redis
        "roda" => "~> 3.90",
        "sqlite3" => "~> 1.7.3", # the last for Ruby 3.1 that Rails 7.2 takes
        "thin" => "~> 2.0",
        "thruster" => "~> 0.1"
      }.freeze

      # @param run [#call] runs a command line and returns its output and whether it succeeded
      # @param find [#call] given a name and a requirement, returns the installed version or nil
      def initialize(out, run: method(:execute), find: method(:installed))
        @out = out
        @run = run
        @find = find
      end

      # Installs the missing ones, each on its own, and names each one that does not install, with the reason.
      # @return [Integer] the exit status: 0, or 1 when one does not install
      def install
        GEMS.map { |name, version| present(name, version) || add(name, version) }.all? ? 0 : 1
      end

      private

      def present(name, version)
        found = @find.call(name, version) or return
        @out.puts("#{name} #{found} is here")
        true
      end

      def installed(name, version)
        Gem::Specification.find_all_by_name(name, version).first&.version
      end

      def add(name, version)
        said, installed = @run.call([Gem.ruby, "-S", "gem", "install", "--no-document", name, "--version", version])
        @out.puts(
          installed ? "#{name} was installed" : "#{name} does not install, the lab goes on without it: #{reason(said)}"
        )
        installed
      end

      # The line of a build's output that states the reason.
      def reason(said)
        lines = said.lines.map(&:strip).reject(&:empty?)
        lines.grep(/Could not (find|reach)|Error\)|error:|missing|not found/i).first || lines.last ||
          "without a message"
      end

      def execute(command)
        run = -> { [IO.popen([*command, err: %i[child out], in: File::NULL], &:read).scrub, $?.success?] }
        defined?(Bundler) ? Bundler.with_unbundled_env(&run) : run.call
      end
    end
  end
end
