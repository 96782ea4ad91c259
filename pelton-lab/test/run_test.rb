# frozen_string_literal: true

require "test_helper"
require_relative "fake_server"
require "pelton/lab/run"

class LabRunTest < PeltonTest
  def setup
    @run = Pelton::Lab::Run.new(size: 10, port: 11_211)
  end

  def test_measures_the_block_and_returns_its_value
    assert_equal :value, @run.measure { :value }
    assert_operator @run.measurement.real, :>, 0
    assert_equal 10, @run.measurement.operations
  end

  def test_operations_may_be_more_than_the_size
    @run.measure(3 * @run.size) {}

    assert_equal 30, @run.measurement.operations
  end

  def test_says_when_measuring_begins
    events = []
    run = Pelton::Lab::Run.new(size: 1, on_start: -> { events << :start })
    run.measure { events << :work }

    assert_equal %i[start work], events
  end

  def test_measures_a_server_that_works_for_it
    server = FakeServer.new

    assert_same FakeServer::DONE, @run.measure_server(server) { FakeServer::DONE }
    measured = @run.measurement

    assert_equal 0.5, measured.user
    assert_equal 0.25, measured.system
    assert_equal 2.0, measured.real
    assert_equal 500, measured.operations
    assert_equal 20_480, measured.rss_kb
    @run.record(:later, 1)

    assert_equal 10, measured[:grown_mb]
    assert_equal 1, measured[:later]
    assert_raises(ArgumentError) { @run.measure_server(server) { FakeServer::DONE } }
  end

  def test_measures_a_server_in_as_many_rounds_as_the_lab_asks_for
    rounds = [true, true, nil].each
    measured = []
    run =
      Pelton::Lab::Run.new(size: 1, next_round: -> { rounds.next },
        on_round: ->(measurement) { measured << measurement.parts[:records].dup })
    run.measure_server(FakeServer.new) do
      run.record(:round, measured.size)
      FakeServer::DONE
    end

    assert_equal [{round: 0, grown_mb: 10.0}, {round: 1, grown_mb: 10.0}], measured
    assert_equal 500, run.measurement.operations
  end

  def test_measures_once
    @run.measure {}

    assert_raises(ArgumentError) { @run.measure {} }
  end

  def test_records_join_the_measurement_even_when_they_come_later
    @run.measure { @run.record(:during, 1) }
    @run.record("after", 2)

    assert_equal 1, @run.measurement[:during]
    assert_equal 2, @run.measurement[:after]
  end

  def test_an_equal_answer_is_right
    @run.expect("value", +"value")

    assert_nil @run.wrong_answer
  end

  def test_another_is_wrong_and_stays_so_when_it_is_swallowed
    error = assert_raises(Pelton::Lab::Run::WrongAnswer) { @run.expect("value", nil, "key1") }

    assert_equal 'key1 should be "value", is nil', error.message
    assert_equal error.message, @run.wrong_answer
  end

  def test_the_first_wrong_answer_is_kept
    2.times { |n| assert_raises(Pelton::Lab::Run::WrongAnswer) { @run.wrong("number #{n}") } }

    assert_equal "number 0", @run.wrong_answer
  end

  def test_where_the_server_is
    assert_equal "127.0.0.1:11211", @run.address
  end

  def test_memory
    skip "the system does not tell" unless File.exist?("/proc/self/status")

    assert_operator @run.rss_kb, :>, 1_000
    @run.measure {}
    assert_operator @run.measurement.rss_kb, :>=, @run.rss_kb / 2
  end

  def test_points_are_measured_in_chains_that_make_up_the_size
    run = Pelton::Lab::Run.new(size: 10)
    calls = []
    run.measure { [1, 5, 100].each { |number| run.point(number) { |times| calls << times } } }

    assert_equal [10, 2, 1], calls
    assert_equal %i[1 5 100], run.measurement.records.keys
    assert_equal run[5], run.measurement[:"5"]
    assert_operator run[5], :>, 0
  end
end
