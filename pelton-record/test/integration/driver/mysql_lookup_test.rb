# frozen_string_literal: true

require "test_helper"
require "trilogy"
require_relative "../../support/lookup_behaviours"

class MySQLLookupOnServerTest < PeltonTest
  include LookupBehaviours

  def address = mariadb_address

  def test_a_limit_ends_a_find
    lookup = things
    lookup.find(@id)
    Pelton.run do
      blocker = Pelton.spawn { @database.synchronize { @database.run("LOCK TABLES things WRITE") || sleep(600) } }
      sleep 0.05
      assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.1) { lookup.find(@id) } }
      blocker.cancel
    end

    assert_equal "x", lookup.find(@id)[:short]
  end
end
