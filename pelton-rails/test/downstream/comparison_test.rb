# frozen_string_literal: true

require "json"
require_relative "../support/active_record_program"

# The calls of support/comparison/calls, outside of a reactor and inside one, alone and in fifty fibers at once: all
# give the same answers, and leave the same rows.
class ComparisonTest < PeltonTest
  include ActiveRecordProgram

  self.deadline = 600

  FOLDER = File.expand_path("../support/comparison", __dir__)
  FIBERS = 50

  # Calls whose answer inside a reactor is another one, and why: a line => the reason.
  DIFFERENCES = {}.freeze

  on_each_database "a_program_alone" do |database|
    outside, inside = %w[outside inside].map { |place| runs(database, place, 1).first }

    assert_empty differences(outside, inside)
    assert_empty changed_rows(outside, inside)
  end

  on_each_database "fifty_fibers" do |database|
    outside = runs(database, "outside", 1).first
    inside = runs(database, "inside", FIBERS)

    assert_equal FIBERS, inside.size
    assert_empty inside.flat_map { |run| differences(outside, run) }.tally
    assert_empty inside.flat_map { |run| changed_rows(outside, run) }.tally
  end

  def test_there_are_more_than_five_hundred_calls
    assert_operator calls.values.sum(&:size), :>, 500
    assert_empty DIFFERENCES.keys - calls.values.flatten
  end

  private

  def calls
    @calls ||= Dir["#{FOLDER}/calls/*.rb"].sort.to_h do |file|
      [File.basename(file, ".rb"), File.readlines(file, chomp: true).grep(/\A[^#\s]/)]
    end
  end

  # @return [Array<Hash>] the answers and the rows of each run
  def runs(database, place, number)
    needs_gems(GEMS)
    Dir.mktmpdir do |folder|
      environment = GEMS.environment.merge("DATABASES" => JSON.generate(databases(database, folder)))
      JSON.parse(ruby_output("$0 = __FILE__\nload #{File.join(FOLDER, "program.rb").inspect}", place, number,
        env: environment, gems: true, deadline: 240))
    end
  end

  # Lines whose answers are different, but for those that are known to be.
  def differences(expected, found)
    calls.flat_map do |section, lines|
      lines.zip(expected["answers"].fetch(section), found["answers"].fetch(section)).reject do |line, before, after|
        before == after || DIFFERENCES.key?(line)
      end
    end
  end

  # [table, rows that are missing, rows that are there instead]
  def changed_rows(expected, found)
    expected["rows"].map { |table, rows| [table, rows - found["rows"].fetch(table), found["rows"].fetch(table) - rows] }
      .reject { |_, *rows| rows.all?(&:empty?) }
  end

  # The configuration of three databases: the second is a replica of the first, which is the same. Servers have fewer
  # connections than there are fibers. With SQLite, where all wait for one lock, a pool must have room for them and for
  # what its holder does on a second connection.
  def databases(database, folder)
    pools = (database == :sqlite) ? [FIBERS + 10] * 3 : [8, 3, 4]
    primary, replica, other = send(:"#{database}_databases", folder).values_at(0, 0, 1).zip(pools).map do |url, pool|
      {url: url, pool: pool, checkout_timeout: 60}
    end
    {primary: primary, replica: replica.merge(replica: true), other: other}
  end

  def sqlite_databases(folder)
    %w[primary other].map do |name|
      "sqlite3:#{folder}/#{name}.sqlite3?timeout=60000&default_transaction_mode=immediate"
    end
  end

  def postgresql_databases(_)
    PG.connect(**postgres_options).tap { |connection| make(connection) { |sql| connection.exec(sql) } }.close
    %w[comparison comparison_other].map { |name| "postgresql://postgres@127.0.0.1:#{postgres}/#{name}" }
  end

  def mariadb_databases(_)
    Trilogy.new(**mariadb_options).tap { |connection| make(connection) { |sql| connection.query(sql) } }.close
    %w[comparison comparison_other].map { |name| "trilogy://root@127.0.0.1:#{mariadb}/#{name}" }
  end

  def make(_)
    %w[comparison comparison_other].each do |name|
      yield("DROP DATABASE IF EXISTS #{name}") && yield("CREATE DATABASE #{name}")
    end
  end
end
