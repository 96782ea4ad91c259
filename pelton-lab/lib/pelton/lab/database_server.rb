# frozen_string_literal: true

require "fileutils"
require "socket"
require "tmpdir"
require_relative "programs"

module Pelton
  module Lab
    # A PostgreSQL or MariaDB of the contenders, on 127.0.0.1, with data that is removed when the lab ends.
    class DatabaseServer
      attr_reader :host, :port, :version

      # @param core [Integer, nil] the core it is bound to
      # @raise [Unavailable] where the database is not installed or does not start
      def self.postgres(processes, core)
        programs = Dir["/usr/lib/postgresql/*/bin"].max_by { |path| path[/\d+/].to_i } or raise Unavailable,
          "PostgreSQL is not installed"
        new(processes, core, "PostgreSQL #{programs[/\d+/]}", user: "postgres") do |server|
          server.prepare("#{programs}/initdb", "-D", server.folder, "-U", "postgres", "-A", "trust", "-E", "UTF8",
            "--locale=C")
          ["#{programs}/postgres", "-D", server.folder, "-p", server.port.to_s, "-c", "listen_addresses=127.0.0.1",
            "-c", "unix_socket_directories=", "-c", "max_connections=300", "-c", "synchronous_commit=off"]
        end
      end

      # The same, of MariaDB.
      def self.mariadb(processes, core)
        Programs.find("mariadbd") or raise Unavailable, "MariaDB is not installed"
        new(processes, core, "MariaDB #{Programs.version("mariadbd")}", user: "mysql") do |server|
          # A server that starts removes the temporary tables of all that have the same folder for them
          common = ["--no-defaults", "--datadir=#{server.folder}", "--tmpdir=#{server.folder}"]
          server.prepare("mariadb-install-db", *common, "--auth-root-authentication-method=normal",
            "--skip-name-resolve")
          ["mariadbd", *common, "--port=#{server.port}", "--socket=#{server.folder}/socket", "--bind-address=127.0.0.1",
            "--pid-file=#{server.folder}/pid", "--skip-name-resolve", "--max-connections=300",
            "--innodb-flush-log-at-trx-commit=2"]
        end
      end

      # @return [String] the folder of its data
      attr_reader :folder

      # @param user [String] the user it runs as where the lab is root
      # @yieldreturn [Array<String>] the server's command line, after its data was prepared
      def initialize(processes, core, version, user:)
        @processes = processes
        @version = version
        @user = user
        @host = "127.0.0.1"
        @port = Programs.free_port
        make_folder
        pid = processes.start(*yield(self), core: core, user: user, chdir: "/", out: log, err: %i[child out])
        raise Unavailable, "#{version} did not start: #{Programs.last_words(log)}" unless answers?(pid)
      end

      # Runs a command to its end, as the user of the database.
      # @raise [Unavailable] when it fails
      def prepare(*command, chdir: "/")
        output = IO.popen([*Programs.tied(user: @user), *command, chdir:, err: %i[child out]], &:read)
        raise Unavailable, "#{command.first} failed: #{output.scrub.lines.last&.chomp}" unless $?.success?
      end

      private

      def log = "#{folder}.log"

      def make_folder
        @folder = Dir.mktmpdir("pelton-lab-database-")
        FileUtils.chown(@user, nil, folder) if Process.uid.zero?
        owner = Process.pid
        at_exit { FileUtils.rm_rf([folder, log]) if Process.pid == owner }
      end

      def answers?(pid)
        600.times do
          TCPSocket.new(host, port).close
          return true
        rescue SystemCallError
          return false if ended?(pid)
          sleep 0.05
        end
        false
      end

      # Whether it is a zombie, which its parent has not waited for.
      def ended?(pid) = File.read("/proc/#{pid}/stat").match?(/\) Z /)
    end
  end
end
