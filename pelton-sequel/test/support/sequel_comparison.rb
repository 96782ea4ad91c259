# frozen_string_literal: true

# Compares how Sequel's integration specs end on Pelton's drivers, outside a reactor and inside one, with how they end
# on Sequel's own adapter for the same database: `rake sequel:specs`. Exits with 1 when a reactor makes a difference, or
# a spec fails here alone.
#
#   ruby sequel_comparison.rb FOLDER [sqlite|sqlite_file|postgres|mariadb]...     FOLDER: Sequel's repository

require "json"
require "minitest" # the tests' databases
require "open3"
require "pg"
require "rbconfig"
require "trilogy"
require_relative "own_server"
require_relative "../../../test/support/guard"

# How one database's specs end, in three ways.
class SequelComparison
  PROGRAM = File.expand_path("sequel_specs.rb", __dir__)
  WAYS = %w[sequel outside inside].freeze
  LIBRARIES = %w[lib pelton-sequel/lib].map { |folder| "-I#{File.expand_path("../../../#{folder}", __dir__)}" }.freeze
  LIMIT = 600 # seconds
  # Sequel's own extensions, which Pelton::Sequel uses, change what some specs expect: the specs know these variables.
  EXTENSIONS = {postgres: {"SEQUEL_PG_AUTO_PARAMETERIZE" => "1"}}.freeze

  # @param kind [Symbol] sqlite, sqlite_file, postgres or mariadb
  # @param specs [String] Sequel's repository
  def initialize(kind, specs)
    @kind = kind
    @files = Dir["#{specs}/spec/integration/*_test.rb"].sort
    raise "there are no specs in #{specs}" if @files.empty?
  end

  # @return [Hash{String => Hash{String => Array}}] by the way and the spec: how it ended, and its message
  def outcomes
    Dir.mktmpdir("pelton-sequel-") do |folder|
      server = own_server("#{folder}/data") if %i[postgres mariadb].include?(@kind)
      WAYS.to_h { |way| [way, run(way, address(way, server, folder))] }
    ensure
      server&.stop
    end
  end

  private

  def own_server(folder)
    FileUtils.chmod(0o755, File.dirname(folder))
    FileUtils.mkdir(folder)
    FileUtils.chown(OwnServer.user(@kind), nil, folder) if Process.uid.zero?
    OwnServer.new(@kind, folder: folder)
  end

  def address(way, server, folder)
    own = way == "sequel"
    case @kind
    when :sqlite then own ? "sqlite:/" : "sqlite::memory:"
    when :sqlite_file then "sqlite://#{folder}/#{way}.db"
    else
      statement = "CREATE DATABASE specs_#{way}"
      server.connect.then { |session| (@kind == :postgres) ? session.exec(statement) : session.query(statement) }
      server.address.sub(%r{/\w+\z}, "/specs_#{way}").sub("mysql:", own ? "trilogy:" : "mysql:")
    end
  end

  def run(way, address)
    output, errors, status = Open3.capture3({"MT_NO_PLUGINS" => "1", **EXTENSIONS.fetch(@kind, {})}, "timeout",
      LIMIT.to_s, RbConfig.ruby, "-W0",
      *LIBRARIES, PROGRAM, way, address, *@files)
    raise "#{@kind}, #{way}: #{status}\n#{errors[-3000..] || errors}" unless status.success?
    JSON.parse(output)
  end
end

Guard.start
specs, *kinds = ARGV.slice!(0..)
kinds = %w[sqlite sqlite_file postgres mariadb] if kinds.empty?
bad = kinds.select do |kind|
  outcomes = SequelComparison.new(kind.to_sym, specs).outcomes
  names = outcomes.values.flat_map(&:keys).uniq
  how = ->(way, name) { outcomes[way][name]&.first || "absent" }
  puts kind,
    *outcomes.map { |way, all|
      format("  %-8s %s", way,
        all.values.map(&:first).tally.sort.map { |result, count| "#{count} #{result}" }.join(", "))
    }
  by_reactor = names.reject { |name| how["inside", name] == how["outside", name] }
  here = names.select { |name| how["outside", name] == "failed" && how["sequel", name] != "failed" }
  others = names.reject { |name| how["outside", name] == how["sequel", name] } - here
  {"differ in a reactor" => by_reactor, "fail on Pelton alone" => here,
   "end otherwise than with Sequel's adapter" => others}.each do |title, found|
    puts "  #{found.size} #{title}"
    found.each do |name|
      puts "    #{name}: #{SequelComparison::WAYS.map { |way| "#{way} #{how[way, name]}" }.join(", ")}",
        *outcomes.values.filter_map { |all| all.dig(name, 1) }.uniq.map { |text| text.gsub(/^/, "      ") }
    end
  end
  by_reactor.any? || here.any?
end
exit(bad.empty?)
