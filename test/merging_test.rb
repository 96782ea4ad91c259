# frozen_string_literal: true

require_relative "test_helper"
require "pelton/merging"

# Finds of fibers that call them in the same iteration of the loop. How queries fail is in merging/batch_test.rb.
class MergingTest < PeltonTest
  # Sends its keys to a log.
  class Batch < Pelton::Merging::Batch
    def initialize(model, key, queries)
      super(model, key)
      @queries = queries
    end

    private

    def rows(keys) = @queries.push(keys) && keys.to_h { |key| [key, "row #{key}"] }

    def answer(key, rows) = rows[key]

    def unavailable = []
  end

  def setup
    @queries = []
    @merging = Pelton::Merging.new(:merging_test) { |model, _, key| Batch.new(model, key, @queries) }
  end

  def find(key, model: :model, place: :id)
    @merging.possible? ? @merging.find(model, place, key) { "alone #{key}" } : "apart #{key}"
  end

  def together(*finds)
    Pelton.run { finds.map { |key, options| Pelton.spawn { find(key, **options.to_h) } }.map(&:await) }
  end

  def test_a_find_that_nobody_joins_is_made_alone
    assert_equal ["alone 1"], together(1)
    assert_empty @queries
  end

  def test_finds_share_a_query_of_each_key_once
    assert_equal ["row 1", "row 2", "row 1"], together(1, 2, 1)
    assert_equal [[1, 2]], @queries
  end

  def test_finds_at_other_places_and_of_other_models_do_not
    assert_equal ["alone 1", "alone 1", "alone 1"], together(1, [1, {place: :email}], [1, {model: :other}])
    assert_empty @queries
  end

  def test_finds_in_other_iterations_do_not
    Pelton.run { 2.times { assert_equal "alone 1", find(1) } }
  end

  def test_without_merging
    answers = Pelton.run do
      [1, 2].map { |key| Pelton.spawn { @merging.without { @merging.without { find(key) } && find(key) } } }
        .map(&:await)
    end

    assert_equal ["apart 1", "apart 2"], answers
    assert_equal ["row 1", "row 2"], together(1, 2)
  end

  def test_outside_a_reactor_none_is_possible
    refute_predicate @merging, :possible?
  end

  def test_a_child_after_a_fork_begins_anew
    together(1, 2)
    reader, writer = IO.pipe
    Process.wait(fork { writer.write(together(1, 2).inspect) && exit!(0) })
    writer.close

    assert_equal '["row 1", "row 2"]', reader.read
  end
end
