# frozen_string_literal: true

# The databases of the benchmarks of Pelton::Record: a file of SQLite's always, PostgreSQL and MariaDB where they are installed.

require "tmpdir"
$LOAD_PATH.unshift(*%w[pelton-record pelton-lab].map { |gem| File.expand_path("../../#{gem}/lib", __dir__) })
require "pelton/record"
require "pelton/lab"
require "pelton/lab/processes"
require "pelton/lab/database_server"

module RecordDatabases
  # Yields the name and the address of each database, as Pelton::Record takes it.
  #
  # @param only [String, nil] the name of the only one: sqlite, postgres or mariadb
  def self.each(only = nil)
    yield "sqlite", "sqlite://#{folder}/app.db" if [nil, "sqlite"].include?(only)
    server("postgres", only) { |port| yield "postgres", answering("postgres://postgres@127.0.0.1:#{port}/postgres") }
    server("mariadb", only) { |port| yield "mariadb", answering("trilogy://root@127.0.0.1:#{port}/test") }
  end

  # A folder that is removed at the end.
  def self.folder
    @folder ||= Dir.mktmpdir("pelton-benchmark-").tap { |path| at_exit { FileUtils.rm_rf(path) } }
  end

  def self.server(name, only)
    return unless [nil, name].include?(only)
    processes = Pelton::Lab::Processes.new
    yield Pelton::Lab::DatabaseServer.public_send(name, processes, nil).port
  rescue Pelton::Lab::Unavailable => error
    puts "#{name}: #{error.message}"
  ensure
    processes&.stop_all
  end

  # The address, when its server lets users in.
  def self.answering(address)
    100.times do
      Sequel.connect(address, keep_reference: false, &:test_connection)
      break
    rescue Sequel::DatabaseConnectionError
      sleep 0.1
    end
    address
  end
  private_class_method :server, :answering
end
