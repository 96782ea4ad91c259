# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../../rakelib/mutations/equivalents"

class EquivalentsTest < PeltonTest
  Mutant = Struct.new(:path, :before, :after)

  def test_they_are_known_by_their_lines
    with_file(%(- {file: a.rb, before: "b < c", after: "b <= c", reason: "they differ"}\n)) do |file|
      equivalents = Mutations::Equivalents.new(file)

      assert_includes equivalents, Mutant.new("a.rb", "b < c", "b <= c")
      refute_includes equivalents, Mutant.new("a.rb", "b < c", "b > c")
      refute_includes equivalents, Mutant.new("b.rb", "b < c", "b <= c")
    end
  end

  def test_each_has_a_reason_and_is_still_there
    Mutations::Equivalents.new.entries.each do |entry|
      assert_equal %w[file before after reason], entry.keys, entry.inspect
      refute_empty entry["reason"], entry.inspect
      text = File.read(File.join(ROOT, entry["file"])).split.join(" ")
      assert_includes text, entry["before"], "#{entry["file"]} has changed: leave this mutant out"
    end
  end
end
