# frozen_string_literal: true

require "test_helper"
require_relative "fake_attempt"
require "pelton/lab"
require "pelton/lab/options"
require "pelton/lab/runner"

# With contenders in the test's own process; real ones run in trial_test.rb and test/integration/lab_test.rb.
class LabRunnerTest < PeltonTest
  # Runs an experiment of one race. @jobs are the trials' jobs.
  def comparisons(*arguments, size: 10, race: {}, &description)
    experiment = Pelton::Lab::Experiment.new("fakes", __FILE__) { race("race", size:, **race, &description) }
    attempt = FakeAttempt.new(experiment)
    Pelton::Lab::Runner.new(Pelton::Lab::Options.new(arguments), attempt:,
      progress: @progress || ->(*) {}).run([experiment]) { |comparison| @seen&.push(comparison) }
  ensure
    @jobs = attempt&.jobs
  end

  def test_only_right_answers_are_measured
    comparison = comparisons("--rounds", "2") do
      baseline("right") { |run| run.measure {} }
      contender("wrong") { |run| run.expect(4, 5, "the sum") }
      contender("wrong when timed") { |run| run.measure { run.expect(true, run.rehearsal?, "the rehearsal") } }
      contender("hanging") { [:hung, nil, "no end within 1 s: cut"] }
      contender("without a library") { [:unavailable, nil, "no such library"] }
      contender("without its gem", gem: "pelton-has-no-such-gem") { raise "it must not run" }
    end.first

    assert_equal :measured, comparison["right"].status, "the rehearsal does not count"
    assert_equal 2, comparison["right"].rounds, "the rehearsal does not count"
    assert_equal :refused, comparison["wrong"].status
    assert_equal "wrong: the sum should be 4, is 5", comparison["wrong"].reason
    assert_equal :refused, comparison["wrong when timed"].status
    assert_equal "wrong: the rehearsal should be true, is false", comparison["wrong when timed"].reason
    assert_equal :refused, comparison["hanging"].status
    assert_equal "no end within 1 s: cut", comparison["hanging"].reason
    assert_equal %i[skipped skipped], [comparison["without a library"].status, comparison["without its gem"].status]
    assert_equal 1, @jobs.count { |job| job[:contender] == "hanging" }, "who was refused does not run again"
  end

  def sizes(*arguments, **options)
    comparisons(*arguments, **options) do
      contender("all") { |run| run.measure {} }
      contender("small", at_most: 5) { |run| run.measure {} }
    end
    @jobs.reject { |job| job[:rehearsal] }.map { |job| job[:size] }.uniq.sort
  end

  def test_sizes
    assert_equal [5, 10], sizes
    assert_equal [20], sizes("--size", "20"), "a size that was asked for is everybody's"
    assert_equal [5, 10], sizes("--size", "20", race: {fixed: true})
    assert_equal [500], sizes("--full", race: {full: 500})
  end

  def test_the_rehearsal_is_small
    comparisons(race: {rehearsal: 3}) { contender("one") { |run| run.measure {} } }

    assert_equal [3, true], @jobs.first.values_at(:size, :rehearsal)
  end

  def test_a_contender_is_rehearsed_once
    comparisons(size: {free: 5}, race: {latency: [0, 0], rounds: 1}) { contender("one") { |run| run.measure {} } }

    assert_equal [true, false, false], @jobs.map { |job| job[:rehearsal] }
  end

  def test_one_takes_anothers_place_where_that_is_not_installed
    names = lambda do |gem|
      comparisons("--rounds", "1") do
        baseline("wanted", gem:) { |run| run.measure {} }
        baseline("its place", instead_of: "wanted") { |run| run.measure {} }
      end.first.then { |comparison| comparison.reference.name }
    end

    assert_equal "wanted", names.call("minitest")
    assert_equal "its place", names.call("pelton-has-no-such-gem")
  end

  def test_contenders_that_take_part
    names = lambda do |*arguments|
      comparisons(*arguments, "--rounds", "1") do
        contender("one") { |run| run.measure {} }
        contender("a peer", gem: "minitest") { |run| run.measure {} }
        contender("on request", extra: true) { |run| run.measure {} }
      end.first.results.map(&:name)
    end

    assert_equal ["one", "a peer"], names.call
    assert_equal ["one", "a peer", "on request"], names.call("--peers")
    assert_equal %w[one], names.call("--no-peers")
  end

  def test_left_out_contenders_are_named_unless_an_option_chose_them
    left_out = lambda do |*arguments|
      comparisons(*arguments, "--rounds", "1") do
        contender("one") { |run| run.measure {} }
        contender("on request", extra: true) { |run| run.measure {} }
        contender("not here", extra: true, gem: "pelton-has-no-such-gem") { |run| run.measure {} }
      end.first.left_out
    end

    assert_equal ["on request"], left_out.call
    assert_equal [], left_out.call("--peers")
    assert_equal [], left_out.call("--no-peers")
  end

  def test_some_take_part_in_the_first_rounds_only
    rounds = lambda do |*arguments|
      comparison = comparisons(*arguments, race: {rounds: 4}) do
        contender("all") { |run| run.measure {} }
        contender("some", rounds: 2) { |run| run.measure {} }
      end.first
      comparison.results.map(&:rounds)
    end

    assert_equal [4, 2], rounds.call
    assert_equal %w[all all], @jobs.last(2).map { |job| job[:contender] }, "the last two rounds"
    assert_equal [4, 4], rounds.call("--full")
    assert_equal [3, 3], rounds.call("--rounds", "3")
  end

  def test_rounds_are_interleaved_in_an_order_that_the_seed_decides
    orders = Array.new(2) do
      comparisons("--seed", "7", race: {rounds: 4}) do
        %w[a b c].each { |name| contender(name) { |run| run.measure {} } }
      end
      @jobs.map { |job| job[:contender] }.each_slice(3).map(&:join)
    end

    assert_equal "abc", orders[0].first, "the rehearsal"
    assert_equal [%w[a b c]], orders[0].map { |round| round.chars.sort }.uniq
    assert_equal 5, orders[0].size
    assert_operator orders[0].uniq.size, :>, 1
    assert_equal orders[0], orders[1]
  end

  # A server that counts a fixed number, whatever is done.
  Counting = Struct.new(:step) do
    def counters = {hits: @hits = (@hits || 0) + step}

    def port = 7

    def version = "counting by #{step}"
  end

  def counted(step)
    comparisons(size: 5, race: {rehearsal: 5}) do
      server { Counting.new(step) }
      counts { |size| {hits: size} }
      contender("any") { |run| run.measure { run.expect("127.0.0.1:7", run.address) } }
    end.first
  end

  def test_the_servers_counts_must_be_right
    comparison = counted(5)
    assert_equal :measured, comparison["any"].status
    assert_equal "counting by 5", comparison.server
    assert_equal "wrong: the server counted: hits is 4, should be 5", counted(4)["any"].reason
  end

  def test_a_server_that_counts_for_others_too_is_not_asked
    comparison = comparisons do
      server { Struct.new(:counters, :host, :port, :version).new(nil, "::1", 8, "shared") }
      counts { |size| {hits: size} }
      contender("any") { |run| run.measure { run.expect("::1:8", run.address) } }
    end.first

    assert_equal :measured, comparison["any"].status
  end

  def test_the_server_gets_the_option
    asked = []
    comparisons("--server", "cache:11211", "--rounds", "1") do
      server do |processes, core, address|
        asked << [processes.class, core, address]
        Counting.new(1)
      end
      contender("any") { |run| run.measure {} }
    end

    assert_equal [[Pelton::Lab::Processes, nil, "cache:11211"]], asked
  end

  def test_a_race_without_its_server_is_skipped
    comparison = comparisons do
      server { raise Pelton::Lab::Unavailable, "the server is not installed" }
      contender("any") { raise "it must not run" }
      target 97, "any", of: "any", at_most: 1, metric: :real, unit: "s"
    end.first

    assert_equal "the server is not installed", comparison.skipped
    assert_equal ["not measured"], comparison.checks.map(&:verdict)
  end

  def test_one_comparison_for_each_pinning_and_latency
    comparisons = comparisons(size: {free: 1}, race: {latency: [0, 5]}) { contender("any") { |run| run.measure {} } }

    assert_equal [[:free, 0], [:free, 5]], comparisons.map { |comparison| [comparison.pin, comparison.latency] }
  end

  def test_latencies_that_were_asked_for_go_to_races_that_are_run_at_some
    description = proc { contender("any") { |run| run.measure {} } }

    assert_equal [1.5, 20], comparisons("--latency", "1.5,20", race: {latency: [0]}, &description).map(&:latency)
    assert_equal [nil], comparisons("--latency", "1.5,20", &description).map(&:latency)
  end

  def test_a_high_latency_reduces_the_size_of_those_that_wait_for_each_answer
    comparisons("--latency", "0,100,1000", "--size", "50", size: 10, race: {latency: [0], rounds: 1}) do
      contender("one by one", at_most: 20, round_trips: 1) { |run| run.measure {} }
      contender("all at once") { |run| run.measure {} }
    end
    done = @jobs.reject { |job| job[:rehearsal] }.group_by { |job| job[:contender] }.transform_values do |jobs|
      jobs.map { |job| job[:size] }
    end

    assert_equal({"one by one" => [50, 2, 1], "all at once" => [50, 50, 50]}, done)
  end

  def test_a_latency_puts_the_proxy_before_the_server
    listener = TCPServer.new("127.0.0.1", 0)
    server = Struct.new(:port, :version).new(listener.addr[1], "one")
    comparison = comparisons("--rounds", "1", race: {latency: [10]}) do
      server { server }
      contender("any") { |run| run.measure {} }
    end.first

    refute_equal listener.addr[1], @jobs.first[:port]
    assert_match(/--to 127\.0\.0\.1:#{listener.addr[1]} --delay 0\.005/, comparison.commands["latency_proxy"])
  ensure
    listener.close
  end

  def test_each_comparison_is_yielded_when_it_is_over
    @seen = []

    assert_equal comparisons(size: {free: 1, same: 1}) { contender("any") { |run| run.measure {} } }, @seen
    assert_equal 2, @seen.size
  end

  def test_progress_goes_from_nothing_to_nearly_all
    calls = []
    @progress = ->(text, share) { calls << [text, share] }
    comparisons(race: {rounds: 3, latency: [0, 0]}) { contender("any") { |run| run.measure {} } }

    assert_equal 7, calls.size
    assert_equal ["fakes: race, not pinned, 0 ms, rehearsal: any", 0.0], calls.first
    assert_equal ["fakes: race, not pinned, 0 ms, round 3 of 3: any", 0.875], calls.last
    assert_equal calls.map(&:last).sort, calls.map(&:last)
  end

  def test_it_can_be_pinned
    skip "no taskset" if Pelton::Lab::Pinning.unavailable(:same)
    comparison = comparisons("--pin", "same") { contender("any") { |run| run.measure {} } }.first

    assert_equal :same, comparison.pin
    assert_equal :measured, comparison["any"].status
    assert_equal [Pelton::Lab::Pinning.allowed.last], @jobs.map { |job| job[:core] }.uniq
  end
end
