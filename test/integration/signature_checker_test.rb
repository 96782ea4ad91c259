# frozen_string_literal: true

require "json"
require "tmpdir"
require_relative "../test_helper"
require_relative "../support/signature_checker"
require_relative "../../rakelib/types/report"

class SignatureCheckerTest < PeltonTest
  FILE = File.expand_path("../support/signature_checker", __dir__)
  # Where the rbs is that comes with Ruby.
  RBS = <<~RUBY
    spec = Gem::Specification.find_all_by_name("rbs").max_by(&:version)
    puts spec.full_require_paths if spec
  RUBY

  def test_a_call_as_declared_is_compared_and_right
    found = check("stall.new(1.5, [])")

    assert_includes found["compared"], "Pelton::Watchdog::Stall#initialize"
    assert_empty found["wrong"]
  end

  def test_an_argument_of_another_class_is_wrong
    found = check("stall.new(1, [])")

    assert_match(/\APelton::Watchdog::Stall#initialize: argument 1 is a Integer, but declared is /,
      found["wrong"].keys.first)
  end

  def test_a_result_of_another_class_is_wrong
    found = check("stall.new(1.5, []).to_s", before: "stall.class_eval { def to_s = :text }")

    assert_match(/\APelton::Watchdog::Stall#to_s: it returns :text, but /, found["wrong"].keys.first)
  end

  def test_a_method_is_compared_that_another_library_s_module_is_before
    found = check("stall.new(1.5, []).to_s", before: <<~RUBY)
      stall.class_eval { def to_s = :text }
      stall.prepend(Before = Module.new { def to_s = super })
    RUBY

    assert_match(/\APelton::Watchdog::Stall#to_s: it returns :text, but /, found["wrong"].keys.first)
  end

  def test_a_call_that_raises_is_not_compared
    found = check("stall.new(1.5, [], 1, 2) rescue ArgumentError")

    refute_includes found["compared"], "Pelton::Watchdog::Stall#initialize"
    assert_empty found["wrong"]
  end

  # From the first class of pelton-rails on, with those that are loaded later; also in a fork, and when TERM ends it.
  def test_a_program_that_a_test_starts
    ended = nil
    ENV["TYPES_PROGRAMS"] = "-r#{FILE}/programs"
    found = findings do |variables|
      *, ended = run_ruby(<<~RUBY, env: variables, gems: true)
        require "pelton/active_record/lock_queue"
        queue = Pelton::ActiveRecord::LockQueue.of("file")
        Process.wait(fork { queue.any? })
        require "pelton/rails/resumable_streams"
        Record = Struct.new(:model_name, :to_key)
        Pelton::Rails::ResumableStreams.target(Record.new(Struct.new(:param_key).new("text"), [1]), :content)
        Process.kill("TERM", Process.pid) && sleep
      RUBY
    end
    compared = found.map { |one| one["compared"] }

    assert_equal Signal.list["TERM"], ended.termsig
    {"ActiveRecord::LockQueue.of" => 2, "ActiveRecord::LockQueue#any?" => 1,
     "Rails::ResumableStreams.target" => 1}.each do |name, count|
      assert_equal count, compared.count { |one| one.include?("Pelton::#{name}") }, name
    end
  ensure
    ENV.delete("TYPES_PROGRAMS")
  end

  def test_the_report
    wrong = "Pelton::Stall#seconds: it returns a Integer, but declared is () -> Float"
    found = {"declared" => %w[a b], "wrapped" => %w[a b], "compared" => %w[a], "wrong" => {wrong => "x.rb:1"}}

    refute_predicate report(found, calls: {}, least: 1), :true?, "a wrong call"
    assert_predicate report(found, calls: {wrong[0, 30] => "a reason"}, least: 1), :true?, "with an exception"
    refute_predicate report(found, calls: {wrong[0, 30] => "a reason"}, least: 2), :true?, "too few were compared"
    refute_predicate report(found.merge("wrong" => {}), calls: {"x" => ""}, least: 1), :true?, "a needless exception"
    assert_includes report(found, calls: {}, least: 1).lines, "  in x.rb:1"
    assert_includes report(found, calls: {}, least: 1, all: /[b-z]/).lines, "no call reaches b"
    assert_predicate report(found.merge("wrong" => {}), calls: {}, least: 1, all: /a/), :true?
  end

  private

  # What the checker writes about a program.
  def check(program, before: "")
    found = findings do |variables|
      ruby_output(<<~RUBY, env: variables, gems: true)
        require "pelton"
        require #{FILE.inspect}
        stall = Pelton::Watchdog::Stall
        #{before}
        SignatureChecker.start
        SignatureChecker.current.install
        #{program}
      RUBY
    end
    found.first
  end

  # What the processes write that the block starts with these variables.
  def findings
    paths = ruby_output(RBS, gems: true, env: {"RUBYOPT" => nil, "BUNDLE_GEMFILE" => nil}).lines(chomp: true)
    skip "the gem rbs is missing" if paths.empty?
    Dir.mktmpdir do |folder|
      yield "TYPES_RBS" => paths.join(File::PATH_SEPARATOR), "TYPES_FOLDER" => folder
      Dir["#{folder}/*.json"].map { |file| JSON.parse(File.read(file)) }
    end
  end

  def report(found, calls:, least:, **options)
    Dir.mktmpdir do |folder|
      File.write("#{folder}/1.json", JSON.generate(found))
      TypesReport.new(folder, {"calls" => calls, "least" => least}, **options)
    end
  end
end
