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
    assert_nil deadlines.till(:read_timeout)
  end

  def test_when_the_time_is_over
    deadlines = Pelton::HTTP::Deadlines.new({timeout: 0, read_timeout: 1})
    %i[left till].each { |method| assert_raises(Pelton::TimeoutError) { deadlines.public_send(method, :read_timeout) } }

    assert_match(/the request did not finish/, deadlines.over(:read_timeout).message)
    assert_match(/read_timeout: too short/, Pelton::HTTP::Deadlines.new({read_timeout: 1}).over(:read_timeout).message)
  end
end
