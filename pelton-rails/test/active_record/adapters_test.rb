# frozen_string_literal: true

require "test_helper"
require "pelton/active_record/adapters"

class AdaptersTest < PeltonTest
  def test_adapters_that_park_are_not_named
    assert_equal %w[mysql2 sqlite3], Pelton::ActiveRecord::ADAPTERS.keys
  end

  def test_a_sentence_says_what_to_do
    assert(Pelton::ActiveRecord::ADAPTERS.each_value.all? { |sentence| sentence.match?(/: (take|keep) /) })
  end
end
