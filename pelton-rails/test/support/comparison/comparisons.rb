# frozen_string_literal: true

require "json"
require_relative "../active_record_program"

# The calls of calls/, outside of a reactor and inside one, alone and in fifty fibers at once: all give the same
# answers, and leave the same rows. A class that includes this says where: `databases(folder)` returns the addresses of
# two empty databases.
module Comparisons
  include ActiveRecordProgram

  FIBERS = 50

  # Calls whose answer inside a reactor is another one, and why: a line => the reason.
  DIFFERENCES = {}.freeze

  def self.included(test)
    ActiveRecordProgram.included(test)
    test.deadline = 300
  end

  def test_a_program_alone
    outside, inside = %w[outside inside].map { |place| runs(place, 1).first }

    assert_empty differences(outside, inside)
    assert_empty changed_rows(outside, inside)
  end

  def test_fifty_fibers
    outside = runs("outside", 1).first
    inside = runs("inside", FIBERS)

    assert_equal FIBERS, inside.size
    assert_empty inside.flat_map { |run| differences(outside, run) }.tally
    assert_empty inside.flat_map { |run| changed_rows(outside, run) }.tally
  end

  private

  def calls
    @calls ||= Dir["#{__dir__}/calls/*.rb"].sort.to_h do |file|
      [File.basename(file, ".rb"), File.readlines(file, chomp: true).grep(/\A[^#\s]/)]
    end
  end

  # @return [Array<Hash>] the answers and the rows of each run
  def runs(place, number)
    needs_gems(GEMS)
    Dir.mktmpdir do |folder|
      environment = GEMS.environment.merge("DATABASES" => JSON.generate(configuration(folder)))
      JSON.parse(ruby_output("$0 = __FILE__\nload #{File.join(__dir__, "program.rb").inspect}", place, number,
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

  # The configuration of three databases: the second is a replica of the first, which is the same.
  def configuration(folder)
    primary, replica, other = databases(folder).values_at(0, 0, 1).zip(pools).map do |url, pool|
      {url: url, pool: pool, checkout_timeout: 60}
    end
    {primary: primary, replica: replica.merge(replica: true), other: other}
  end

  # Fewer connections than there are fibers.
  def pools = [8, 3, 4]

  # Makes two databases, and closes the connection.
  #
  # @param run [Symbol] the connection's method that runs a statement
  # @return [Array<String>] their names
  def make(connection, run)
    %w[comparison comparison_other].each do |name|
      ["DROP DATABASE IF EXISTS", "CREATE DATABASE"].each { |start| connection.public_send(run, "#{start} #{name}") }
    end
  ensure
    connection.close
  end
end
