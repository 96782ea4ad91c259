# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http"

class DeadlinesTest < PeltonTest
  def test_a_phase_has_its_own_time_and_no_more_than_all_have
    deadlines = Pelton::HTTP::Deadlines.new({timeout: 100, connect_timeout: 10, read_timeout: 1000, write_timeout: nil})

    assert_equal 10, deadlines.left(:connect_timeout)
    assert_in_delta 50, deadlines.left(:read_timeout), 50
    assert_in_delta 50, deadlines.left(:write_timeout), 50
  end

  def test_without_one_for_all
    deadlines = Pelton::HTTP::Deadlines.new({timeout: nil, connect_timeout: 10, read_timeout: nil})

    assert_equal 10, deadlines.left(:connect_timeout)
    assert_nil deadlines.left(:read_timeout)
  end

  def test_when_the_time_is_over
    assert_raises(Pelton::TimeoutError) { Pelton::HTTP::Deadlines.new({timeout: 0, read_timeout: 1}).left(:read_timeout) }
  end
end
