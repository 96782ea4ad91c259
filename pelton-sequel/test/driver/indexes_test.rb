# frozen_string_literal: true

require_relative "../support/sequel_databases"

class IndexesTest < PeltonTest
  include SequelDatabases

  def test_those_on_expressions_are_left_out
    database = connect
    database.create_table(:people) do
      primary_key :id
      String :email
      String :name
      Integer :age
    end
    ["UNIQUE INDEX both ON people (name, email)", "UNIQUE INDEX name ON people (name DESC)",
      "INDEX age ON people (age)", "UNIQUE INDEX lower ON people (lower(email))",
      "UNIQUE INDEX mixed ON people (email, lower(name))",
      "UNIQUE INDEX some ON people (age) WHERE age > 90"].each { |sql| database.run("CREATE #{sql}") }

    assert_equal({both: %i[name email], name: %i[name], age: %i[age]},
      database.indexes(:people).transform_values { |index| index[:columns] })
  end
end
