# frozen_string_literal: true

require "test_helper"
require "trilogy"
require_relative "../../support/lookup_behaviours"

class MySQLLookupOnServerTest < PeltonTest
  include LookupBehaviours

  def address = mariadb_address

  def test_a_limit_ends_a_find
    check_a_limit_ends_a_find do |keep|
      @database.synchronize do
        @database.run("LOCK TABLES things WRITE")
        keep.call
      end
    end
  end
end
