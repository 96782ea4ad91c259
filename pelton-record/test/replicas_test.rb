# frozen_string_literal: true

require "test_helper"
require_relative "support/record_databases"

class ReplicasTest < PeltonTest
  Replicas = Pelton::Record::Replicas

  def test_they_are_taken_in_turns
    replicas = Replicas.new(%w[postgres://a/x postgres://b/x], primary)

    assert_equal %w[a b a], Array.new(3) { replicas.take[:host] }
    assert_equal({read_only: 3}, replicas.settings(pool: 3, sticky: 2)[:server_sizes])
    assert_empty Replicas.new([], primary).settings(pool: 3, sticky: 2)
  end

  def test_one_that_failed_is_left_out_unless_all_have_failed
    replicas = Replicas.new(%w[postgres://a/x postgres://b/x], primary)
    replicas.take
    replicas.failed
    assert_equal %w[b b b], Array.new(3) { replicas.take[:host] }
    replicas.failed

    assert_equal %w[a b], Array.new(2) { replicas.take[:host] }.sort
  end

  def test_they_are_of_the_primary_s_kind
    assert_match(/must be postgres, too/, assert_raises(Pelton::Record::ConfigurationError) { Replicas.new(["mysql://b/x"], primary) }.message)
    assert_match(/SQLite has no replicas/, assert_raises(Pelton::Record::ConfigurationError) { Replicas.new(["sqlite://b.db"], primary) }.message)
  end

  private

  def primary = Pelton::Record::Address.new("postgres://primary/x")
end
