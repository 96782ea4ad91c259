# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../../rakelib/mutations/sample"

class SampleTest < PeltonTest
  Source = Struct.new(:path, :size, :text) do
    def changes = Mutations::RubyChanges.of(text)
  end

  LINES = "def a\n#{(1..50).map { |number| "  b(#{number}) if c < #{number}\n" }.join}end\n"
  SOURCES = [Source.new("long.rb", 80, LINES), Source.new("short.rb", 20, LINES)].freeze

  def test_long_files_have_more
    assert_equal({"long.rb" => 8, "short.rb" => 2}, mutants(seed: 1).map(&:path).tally)
  end

  def test_the_same_seed_makes_the_same
    assert_equal mutants(seed: 1).map(&:to_s), mutants(seed: 1).map(&:to_s)
    refute_equal mutants(seed: 1).map(&:to_s), mutants(seed: 2).map(&:to_s)
  end

  def test_their_lines_differ
    mutants = mutants(seed: 1, count: 40)

    assert_equal 40, mutants.uniq { |mutant| [mutant.path, mutant.line] }.size
  end

  def test_kinds_are_alike
    kinds = mutants(seed: 1, count: 60).map { |mutant| mutant.change.kind }.tally

    assert_equal %i[bound call condition literal], kinds.keys.sort
    assert_operator kinds.values.min, :>=, 5, "there are three times as many conditions and twice as many literals"
  end

  def test_what_a_file_lacks_the_next_has
    sources = [Source.new("few.rb", 50, "a if b\n"), Source.new("many.rb", 50, LINES)]

    assert_equal({"few.rb" => 1, "many.rb" => 9}, mutants(seed: 1, sources: sources).map(&:path).tally)
  end

  def test_at_least_six_hundred
    assert_equal 600, Mutations::Sample.new([Source.new("a.rb", 100, LINES * 30)], seed: 1).mutants.size
  end

  private

  def mutants(seed:, count: 10, sources: SOURCES) = Mutations::Sample.new(sources, seed: seed, count: count).mutants
end
