# frozen_string_literal: true

require "test_helper"
require "pelton/lab/past"

class LabPastTest < PeltonTest
  def test_rows_beside_the_first
    past = Pelton::Lab::Past.new("An article", source: "2012", size: 100, pin: :same) do
      row "blocking", real: 2.0, user: 0.5, system: 1.0
      row "asynchronous", style: "callback", real: 3.0
    end

    assert_equal "An article", past.title
    assert_equal "2012", past.source
    assert_equal 100, past.size
    assert_equal :same, past.pin
    assert_equal [1.5, nil], past.rows.map(&:total)
    assert_equal [1.0, 1.5], past.rows.map { |row| past.ratio(row) }
  end
end
