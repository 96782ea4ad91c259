# frozen_string_literal: true

require "pg"
require "trilogy"
require "test_helper"
require_relative "../../support/keyset_behaviours"

class SequelKeysetOnPostgresTest < PeltonTest
  include KeysetBehaviours

  def address = postgres_address
end

class SequelKeysetOnMariaDBTest < PeltonTest
  include KeysetBehaviours

  def address = mariadb_address
end
