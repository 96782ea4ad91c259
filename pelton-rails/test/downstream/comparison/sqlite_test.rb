# frozen_string_literal: true

require_relative "../../support/comparison/comparisons"

class ComparisonOnSQLiteTest < PeltonTest
  include Comparisons

  def test_there_are_more_than_five_hundred_calls
    assert_operator calls.values.sum(&:size), :>, 500
    assert_empty DIFFERENCES.keys - calls.values.flatten
  end

  private

  def databases(folder)
    %w[primary other].map do |name|
      "sqlite3:#{folder}/#{name}.sqlite3?timeout=60000&default_transaction_mode=immediate"
    end
  end

  # All wait for one lock: a pool must have room for all fibers and for what its holder does on a second connection.
  def pools = [FIBERS + 10] * 3
end
