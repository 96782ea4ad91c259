# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/tasks/list"
require "stringio"

class TaskListTest < PeltonTest
  def test_tasks_and_other_fibers_that_wait
    rows = Pelton.run do
      jobs = Queue.new
      Pelton.spawn(name: "worker", transient: true) { jobs.pop }
      Pelton.next_tick { jobs.pop }
      2.times { Pelton::Reactor.current.yield }
      Pelton.spawn {}
      Pelton.const_get(:TaskList).of(Pelton::Reactor.current).tap { jobs.close }
    end
    worker = rows.find { |row| row[:name] }

    assert_equal [["worker", :waiting, true], [nil, :running, false], [nil, :queued, false],
      [nil, :waiting, false]].sort_by(&:to_s),
      rows.map { |row| row.values_at(:name, :state, :transient) }.sort_by(&:to_s)
    assert_match(/list_test.rb:\d+\z/, worker[:origin])
    assert_match(/list_test.rb:\d+:in .*pop'\z/, worker[:backtrace].first)
    assert_equal [:waiting], rows.reject { |row| row[:origin] }.map { |row| row[:state] }
  end

  # The slowest ones first: whoever asks wants to know of them.
  def test_requests
    rows = Pelton.run do
      jobs = Queue.new
      fiber = nil
      Pelton.next_tick { (fiber = Fiber.current) && jobs.pop }
      2.times { Pelton::Reactor.current.yield }
      requests = [{name: "GET /socket", age: 900.0, state: :sending, fiber: nil},
        {name: "GET /new", age: 0.01, state: :running, fiber: nil},
        {name: "GET /old", age: 7.00049, state: :running, fiber: fiber}]
      Pelton.const_get(:TaskList).of(Pelton::Reactor.current, requests: requests).tap { jobs.close }
    end

    assert_equal [["GET /old", 7.0, :waiting], ["GET /new", 0.01, :running], ["GET /socket", 900.0, :sending]],
      rows.first(3).map { |row| row.values_at(:name, :age, :state) }
    assert_match(/list_test.rb:\d+:in .*pop'\z/, rows.first[:backtrace].first)
    assert_equal 1, rows.count { |row| row[:backtrace] == rows.first[:backtrace] }
    assert_match(%r{\Arequest "GET /old" waiting for 7 s\n    }, Pelton.const_get(:TaskList).text(rows))
  end

  def test_as_text
    rows = [
      {name: "a", state: :waiting, origin: "a.rb:1", transient: true, backtrace: ["a.rb:2:in `pop'", "a.rb:1"]},
      {"name" => nil, "state" => "waiting", "origin" => nil, "transient" => false, "backtrace" => ["b.rb:1"]}
    ]

    assert_equal <<~TEXT, Pelton.const_get(:TaskList).text(rows)
      task "a" waiting transient from a.rb:1
          a.rb:2:in `pop'
          a.rb:1

      fiber waiting
          b.rb:1
    TEXT
    assert_equal "no tasks\n", Pelton.const_get(:TaskList).text([])
  end

  def test_a_signal_writes_them_to_the_log
    log = StringIO.new
    Pelton.logger = log
    before = Signal.trap("TTIN", "DEFAULT")
    Pelton.run do
      Pelton.const_get(:TaskList).log_at("TTIN")
      Pelton.spawn(name: "sleeper", transient: true) { sleep }
      sleep 0
      Process.kill("TTIN", Process.pid)
      sleep 0.001 until log.string.include?("sleeper")
    end

    expected =
      /\Apelton: tasks of process #{Process.pid}\n.*task "sleeper" waiting for \S+ s transient from .*list_test/m
    assert_match expected, log.string
  ensure
    Signal.trap("TTIN", before)
    Pelton.logger = $stderr
  end
end
