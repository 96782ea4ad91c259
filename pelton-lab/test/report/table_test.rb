# frozen_string_literal: true

require "test_helper"
require "pelton/lab/report/table"

class LabTableTest < PeltonTest
  def test_words_to_the_left_and_numbers_to_the_right
    table = Pelton::Lab::Table.new("name", " size", "note")
    table.add("one", 1, "")
    table.add("seventeen", 17_000, "odd")

    assert_equal <<~TEXT.chomp, table.to_s
      name        size  note
      one            1
      seventeen  17000  odd
    TEXT
  end
end
