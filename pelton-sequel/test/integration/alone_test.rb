# frozen_string_literal: true

require "pg"
require "test_helper"
require "trilogy"
require_relative "../support/alone"

class AlonePostgresTest < PeltonTest
  include Alone

  self.deadline = 60

  def options = {adapter: :postgres, host: "127.0.0.1", port: postgres, user: "postgres", database: "postgres"}

  def test_prepared_statements
    assert_equal "[1, 2, 2]\n1\n", program(<<~RUBY)
      DB.extension(:pelton_prepared)
      p [1, 2, 2].map { |id| DB[:artists].where(id: id).get(:id) }
      p DB.synchronize { |connection|
        connection.async_exec("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%artists%'")
          .getvalue(0, 0).to_i
      }
    RUBY
  end
end

class AloneMariaDBTest < PeltonTest
  include Alone

  self.deadline = 60

  def options = {adapter: :trilogy, host: "127.0.0.1", port: mariadb, user: "root", database: "test"}
end
