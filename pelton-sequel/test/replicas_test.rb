# frozen_string_literal: true

require_relative "support/sequel_databases"

class ReplicasTest < PeltonTest
  Replicas = Pelton::Sequel::Replicas

  def test_they_are_taken_in_turns
    replicas = Replicas.new(%w[postgres://a/x postgres://b/x], primary)

    assert_equal [0, 1, 0], Array.new(3) { replicas.choose }
    assert_equal "a", replicas.take[:host]
    assert_equal "postgres://b/x", replicas.name(1)
    assert_equal({read_only: 3}, replicas.settings(pool: 3, sticky: 2)[:server_sizes])
    assert_empty Replicas.new([], primary).settings(pool: 3, sticky: 2)
  end

  def test_a_certain_one
    replicas = Replicas.new(%w[postgres://a/x postgres://b/x], primary)
    replicas.choose

    assert_equal %w[b a], [replicas.at(1) { replicas.take[:host] }, replicas.take[:host]]
  end

  def test_one_that_failed_is_left_out_unless_all_have_failed
    replicas = Replicas.new(%w[postgres://a/x postgres://b/x], primary)
    replicas.failed(0)
    assert_equal [1, 1, 1], Array.new(3) { replicas.choose }
    assert_equal true, replicas.any_up?
    replicas.failed(1)

    assert_equal [0, 1], Array.new(2) { replicas.choose }
    assert_equal false, replicas.any_up?
    replicas.answered(1)
    assert_equal [1, 1], Array.new(2) { replicas.choose }
    assert_equal true, replicas.any_up?
  end

  # The others go on elsewhere meanwhile.
  def test_one_fiber_tries_it_again
    replicas = Replicas.new(%w[postgres://a/x postgres://b/x], primary)
    replicas.failed(0)
    replicas.instance_variable_get(:@down)[0] = Pelton::Clock.now - 1

    assert_equal [0, 1, 1, 1], Array.new(4) { replicas.choose }
  end

  def test_they_are_of_the_primary_s_kind
    assert_match(/must be postgres, too/,
      assert_raises(Pelton::Sequel::ConfigurationError) { Replicas.new(["mysql://b/x"], primary) }.message)
    assert_match(/SQLite has no replicas/,
      assert_raises(Pelton::Sequel::ConfigurationError) { Replicas.new(["sqlite://b.db"], primary) }.message)
  end

  private

  def primary = Pelton::Sequel::Address.new("postgres://primary/x")
end
