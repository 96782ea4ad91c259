# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../../rakelib/mutations/results"

class MutationResultsTest < PeltonTest
  def test_another_run_has_them
    with_file("") do |file|
      results = Mutations::Results.new(file)
      results["a"] = "room"
      results["b"] = "survived"

      assert_equal %w[room survived], Mutations::Results.new(file).then { |later| [later["a"], later["b"]] }
      assert_equal ["room", nil], Mutations::Results.new(file, again: true).then { |later| [later["a"], later["b"]] }
    end
  end

  def test_the_last_one_counts
    with_file("") do |file|
      results = Mutations::Results.new(file)
      results["a"] = "survived"
      results["a"] = "named"

      assert_equal "named", Mutations::Results.new(file)["a"]
    end
  end
end
