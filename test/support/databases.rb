# frozen_string_literal: true

require "fileutils"
require "open3"
require "tmpdir"
require_relative "servers"

# Real databases for tests, as Servers: on 127.0.0.1 and free ports, started once a run, with data that goes with it.
# Those that refuse to run as root run as the user that their package made.
module Databases
  class << self
    # A new folder that belongs to the user, and is removed when the tests are over.
    def folder(user)
      Dir.mktmpdir("pelton-test-").tap do |path|
        owner = Process.pid
        FileUtils.chown(user, nil, path) if Process.uid.zero?
        Minitest.after_run { FileUtils.rm_rf(path) if Process.pid == owner }
      end
    end

    # The command, run as that user when the tests run as root.
    def as(user, *command)
      return command unless Process.uid.zero?
      ["setpriv", "--reuid=#{user}", "--regid=#{user}", "--clear-groups", *command]
    end

    # The command of a PostgreSQL with a new folder.
    def postgres_command(port)
      data = folder("postgres").tap { |path| prepare_postgres(path) }
      postgres_in(data, port, "fsync=off", "max_connections=50")
    end

    # Makes the files of a PostgreSQL in a folder that is its user's.
    def prepare_postgres(data)
      prepare(*as("postgres", "#{postgres_programs}/initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync",
        "-E", "UTF8", "--locale=C"))
    end

    # The command of the PostgreSQL whose files are in the folder.
    def postgres_in(data, port, *settings)
      settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", *settings]
      as("postgres", "#{postgres_programs}/postgres", "-D", data, "-p", port.to_s,
        *settings.flat_map { |setting| ["-c", setting] })
    end

    # Makes the files of a MariaDB in a folder that is its user's.
    def prepare_mariadb(data)
      prepare("mariadb-install-db", *mariadb_folders(data), "--auth-root-authentication-method=normal",
        "--skip-name-resolve")
    end

    # The command of the MariaDB whose files are in the folder.
    def mariadb_in(data, port, *options)
      ["mariadbd", *mariadb_folders(data), "--port=#{port}", "--socket=#{data}/socket", "--bind-address=127.0.0.1",
        "--pid-file=#{data}/pid", "--skip-name-resolve", *options]
    end

    def redis_command(port)
      ["redis-server", "--port", port.to_s, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    end

    def prepare(*command)
      output, status = Open3.capture2e(*command, chdir: "/")
      raise "#{command.join(" ")}: #{output}" unless status.success?
    end

    def postgres_programs = Dir["/usr/lib/postgresql/*/bin"].max

    # A server that starts removes the temporary tables of all that have the same folder for them.
    def mariadb_folders(data)
      ["--no-defaults", "--datadir=#{data}", "--tmpdir=#{data}", *("--user=mysql" if Process.uid.zero?)]
    end

    # The database's own error means that its server does not answer yet.
    def until_answered(error)
      yield
    rescue error => failure
      raise Errno::ECONNREFUSED, failure.message
    end
  end

  # The port of a PostgreSQL with a database and a user called postgres.
  def postgres
    ready = ->(port) { Databases.until_answered(PG::Error) { PG.connect(**postgres_options(port)).close } }
    Servers.port("postgres", ready: ready) do |port|
      Databases.postgres_command(port)
    end
  end

  def postgres_options(port = postgres)
    {host: "127.0.0.1", port: port, user: "postgres", dbname: "postgres"}
  end

  # The port of a MariaDB with a database called test, and root without a password.
  def mariadb
    ready = ->(port) { Databases.until_answered(Trilogy::Error) { Trilogy.new(**mariadb_options(port)).close } }
    Servers.port("mariadb", ready: ready) do |port|
      folder = Databases.folder("mysql").tap { |path| Databases.prepare_mariadb(path) }
      Databases.mariadb_in(folder, port, "--innodb-flush-log-at-trx-commit=0")
    end
  end

  def mariadb_options(port = mariadb)
    {host: "127.0.0.1", port: port, username: "root", database: "test", ssl_mode: Trilogy::SSL_DISABLED}
  end

  # The port of a Redis that writes nothing to disk.
  def redis
    Servers.port("redis") { |port| Databases.redis_command(port) }
  end
end
