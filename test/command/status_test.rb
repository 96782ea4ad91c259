# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/control"
require "pelton/command/status"
require "stringio"

class StatusTest < PeltonTest
  ROW = {name: "a", state: :waiting, origin: "a.rb:1", transient: false, backtrace: ["a.rb:2"]}.freeze

  def test_the_counters_and_the_tasks_of_one_process
    durations = {"GET 200" => {"0.1" => 1, "+Inf" => 2, "sum" => 0.25}}
    assert_equal [0,
      <<~TEXT, ""], status(stats: {requests: 2, responses: {"200" => 1}, durations: durations}, tasks: [ROW])
        requests: 2
        responses:
          200: 1
        durations:
          GET 200: 2 in 0.25 s

        task "a" waiting from a.rb:1
            a.rb:2
      TEXT
  end

  def test_those_of_a_masters_workers
    assert_equal [0, <<~TEXT, ""], status(stats: {workers: [{index: 0}]}, tasks: {0 => [ROW], 1 => nil})
      workers:
        index: 0

      worker 0
      task "a" waiting from a.rb:1
          a.rb:2

      worker 1
      it does not answer
    TEXT
  end

  def test_where_nobody_answers
    code, output, errors = run_status("unix:///nowhere/socket")

    assert_equal 1, code
    assert_equal "", output
    assert_match(%r{\Apelton status: unix:///nowhere/socket: No such file}, errors)
    assert_equal 1, run_status("http://x").first
    assert_equal [1, ""], status(stats: {}, tasks: nil).values_at(0, 1).then { |code, text| [code, text.strip] }
  end

  def test_wrong_arguments
    [[], ["--no-such"], %w[a b]].each do |arguments|
      assert_match(/\Ausage: pelton status ADDRESS/, run_status(*arguments).last)
    end
    assert_equal 2, run_status.first
  end

  def test_help
    %w[-h --help].each do |flag|
      status, out, error = run_status(flag)

      assert_equal 0, status
      assert_equal "", error
      assert_match(/\Ausage: pelton status ADDRESS/, out)
    end
  end

  private

  def status(stats:, tasks:)
    control = Pelton::Control.new("tcp://127.0.0.1:0", stats: -> { stats }, metrics: -> { "" },
      tasks: tasks && -> { tasks })
    run_status(control.address)
  ensure
    control&.close
  end

  def run_status(*arguments)
    out, error = StringIO.new, StringIO.new
    [Pelton::Status.run(arguments, out: out, error: error), out.string, error.string]
  end
end
