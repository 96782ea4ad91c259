# frozen_string_literal: true

require "test_helper"
require "json"
require "minitest/mock"
require "pelton/lab/command"
require "stringio"
require "tmpdir"

class LabCommandTest < PeltonTest
  # Status, output and errors of a command line.
  def lab(*arguments)
    out = StringIO.new
    error = StringIO.new
    [Pelton::Lab::Command.run(arguments, out:, error:), out.string, error.string]
  end

  def test_help_lists_the_experiments
    status, out, = lab("--help")

    assert_equal 0, status
    assert_match(/^usage: pelton lab/, out)
    assert_match(/^  memcached /, out)
    assert_match(/^  transfer /, out)
  end

  def test_lists_the_experiments
    status, out, = lab("--list")

    assert_equal 0, status
    assert_equal Pelton::Lab.shipped.keys, out.scan(/^  (\w+) /).flatten
  end

  def test_without_a_name_those_that_must_be_named_are_not_run
    Dir.mktmpdir do |folder|
      files = {"usual" => "", "special" => "only_when_named"}.to_h do |name, line|
        File.write(path = File.join(folder, "#{name}.rb"), <<~RUBY)
          Pelton::Lab.experiment(#{name.inspect}) do
            #{line}
            race("race of #{name}", size: 1, rounds: 1) { contender("c") { |run| run.measure {} } }
          end
        RUBY
        [name, path]
      end
      Pelton::Lab.stub(:shipped, files) do
        assert_match(/usual: race of usual/, lab.then { |_, out, _| refute_match(/race of special/, out) && out })
        assert_match(/race of special/, lab("special")[1])
      end
    end
  end

  def test_only_the_races_that_are_asked_for
    Dir.mktmpdir do |folder|
      races = %w[one another].map do |name|
        "race(#{name.inspect}, size: 1, rounds: 1) { contender(\"c\") { |run| run.measure {} } }"
      end
      File.write(path = File.join(folder, "mine.rb"), "Pelton::Lab.experiment(\"mine\") { #{races.join("; ")} }")

      assert_equal ["another"], lab(path, "--race", "other")[1].scan(/^mine: (\w+)/).flatten
      assert_match(/no race of mine has "third" in its name/, lab(path, "--race", "third").last)
    end
  end

  def test_an_unfinished_report_leaves_the_old_file
    Dir.mktmpdir do |folder|
      File.write(old = File.join(folder, "old.html"), "last week's")
      lab("no_such_experiment", "--html", old, "--json", none = File.join(folder, "none.json"))

      assert_equal "last week's", File.read(old)
      refute_path_exists none
    end
  end

  def test_an_unknown_experiment_is_refused_with_those_there_are
    status, _, error = lab("no_such_experiment")

    assert_equal 2, status
    assert_match(/no experiment "no_such_experiment".*memcached, .*transfer/, error)
  end

  def test_latencies_for_nothing_are_refused
    assert_match(/--latency is for races .* none here/, lab("waiting", "--latency", "1").last)
  end

  def test_a_bad_option_is_refused
    assert_equal 2, lab("--rounds", "none").first
  end

  def test_a_report_that_cannot_be_written_is_refused_at_once
    status, out, error = lab("waiting", "--json", "/nowhere/at/all.json")

    assert_equal 2, status
    assert_equal "", out
    assert_match(%r{/nowhere/at/all\.json}, error)
  end

  def test_runs_a_file_and_writes_both_reports
    Dir.mktmpdir do |folder|
      File.write(mine = File.join(folder, "mine.rb"), <<~RUBY)
        Pelton::Lab.experiment("mine") do
          about "sums"
          race("sums", size: 10, rounds: 1) do
            baseline("right") { |run| run.measure { run.expect(4, 2 + 2) } }
            contender("wrong") { |run| run.measure { run.expect(5, 2 + 2) } }
            contender("absent", gem: "pelton-has-no-such-gem") { |run| run.measure {} }
            target 1, "wrong / right", of: "wrong", at_most: 1
          end
        end
      RUBY
      status, out, = lab(mine, "--json", json = File.join(folder, "out.json"), "--html",
        html = File.join(folder, "out.html"), "--check")

      assert_equal 1, status, "no target was measured"
      assert_match(/^  mine +sums$/, out)
      assert_match(/^mine: sums \(not pinned; 10 operations; 1 round\)$/, out)
      assert_match(/^  refused: wrong: wrong: an answer should be 5, is 4$/, out)
      assert_match(/^  skipped: absent: the gem pelton-has-no-such-gem is not installed/, out)
      assert_match(/ 1  wrong .*not measured/, out)
      assert_equal %w[right wrong absent],
        JSON.parse(File.read(json))["contenders"].map { |contender| contender["name"] }
      assert_match(%r{<h3>sums</h3>.*an answer should be 5}m, File.read(html))
      assert_match(/^report: #{html}$/, out)
    end
  end

  def test_status_one_when_a_target_is_missed_and_that_is_asked_for
    Dir.mktmpdir do |folder|
      File.write(path = File.join(folder, "mine.rb"), <<~RUBY)
        Pelton::Lab.experiment("mine") do
          race("limits", size: 1, rounds: 3) do
            metric :points, "points"
            contender("one") { |run| run.measure { run.record(:points, 5) } }
            target 1, "kept", of: "one", at_most: 5, unit: "points"
            target 2, "not kept", of: "one", at_most: 4, unit: "points"
          end
        end
      RUBY

      assert_equal [1, ["pelton lab: 1 of 2 targets missed\n"]],
        lab(path, "--check").values_at(0, 2).then { |code, said| [code, said.lines.grep(/targets/)] }
      assert_equal [0, ["pelton lab: 2 of 2 targets not certain\n"]],
        lab(path, "--check", "--rounds", "1").values_at(0, 2).then { |code, said| [code, said.lines.grep(/targets/)] }
      assert_equal 0, lab(path).first
    end
  end

  def test_status_one_when_nothing_could_be_measured
    Dir.mktmpdir do |folder|
      File.write(path = File.join(folder, "mine.rb"), <<~RUBY)
        Pelton::Lab.experiment("mine") { race("none", size: 1) { contender("broken") { raise "broken" } } }
      RUBY

      assert_equal 1, lab(path).first
    end
  end
end
