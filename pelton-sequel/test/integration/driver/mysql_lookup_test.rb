# frozen_string_literal: true

require "test_helper"
require "trilogy"
require_relative "../../support/lookup_behaviours"

class MySQLLookupOnServerTest < PeltonTest
  include LookupBehaviours

  def address = mariadb_address

  def test_a_limit_ends_a_find
    check_a_limit_ends_a_find { @database.synchronize { @database.run("LOCK TABLES things WRITE") || sleep(600) } }
  end
end
