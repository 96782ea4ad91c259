# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/memcached_styles"

# MemcachedStyles::Later tests every command. These are the commands whose block is not a callback.
class MemcachedLaterTest < PeltonTest
  include MemcachedStyles::Common

  def setup
    super
    with_memcached # outside of any reactor
  end

  def test_fetch_and_cas_are_tasks
    cache = client
    Pelton.run do
      operation = cache.later.fetch("k") { Pelton::Reactor.current.yield || "v" }
      refute_predicate operation, :done?
      assert_equal "v", operation.await
      assert_equal true, cache.later.cas("k") { |old| old + "2" }.await
      assert_equal "v2", cache.get("k")
    end
  end

  def test_without_a_reactor_they_are_done_at_once
    cache = client
    operation = cache.later.fetch("k") { "v" }

    assert_equal true, operation.done?
    assert_equal "v", operation.await
    assert_predicate cache.later.cas("k") { "w" }, :done?
    assert_equal "w", cache.get("k")
  end

  def test_errors_fail_the_operation
    cache = client
    assert_raises(IndexError) { cache.later.fetch("k") { raise IndexError }.await }
    Pelton.run { assert_raises(IndexError) { cache.later.cas("k") { raise IndexError }.await } }
  end

  def test_later_has_every_command_of_the_client
    commands =
      Pelton::Memcached::Client.public_instance_methods(false) + %i[fetch cas] - %i[later close inspect server servers]

    assert_equal commands.sort, Pelton::Memcached::Later.public_instance_methods(false).sort
  end
end
