# frozen_string_literal: true

require "test_helper"
require "pelton/active_record/lease_sweeps"

class LeaseSweepsTest < PeltonTest
  # As Active Record's, which looks at all contexts whenever it gets a new one.
  class Map
    def initialize = @map = {}

    def [](context) = @map[context]

    def []=(context, value)
      @map.select! { |one, _| one.alive? }
      @map[context] = value
    end

    def size = @map.size

    prepend Pelton::ActiveRecord::LeaseSweeps
  end

  # Counts how often it is looked at.
  Context = Struct.new(:looks, :alive) do
    def alive? = (looks << self) && alive

    def hash = object_id

    def eql?(other) = equal?(other)
  end

  def setup
    @map = Map.new
    @looks = []
  end

  def contexts(count, alive) = Array.new(count) { Context.new(@looks, alive).tap { |context| @map[context] = :lease } }

  def test_new_contexts_do_not_look_at_all_others
    made = contexts(2_000, true)

    assert_operator @looks.size, :<=, 2 * made.size
    assert_equal [:lease], made.map { |context| @map[context] }.uniq
  end

  def test_ended_contexts_are_forgotten
    contexts(10_000, false)

    assert_operator @map.size, :<=, 64
  end

  def test_contexts_that_live_are_kept_beside_ended_ones
    living = contexts(500, true)
    contexts(5_000, false)

    assert_equal [:lease], living.map { |context| @map[context] }.uniq
    assert_operator @map.size, :<=, 2 * living.size + 64
  end
end
