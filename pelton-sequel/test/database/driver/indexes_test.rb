# frozen_string_literal: true

require "test_helper"
require_relative "../support/record_databases"

class IndexesTest < PeltonTest
  include RecordDatabases

  class Person < Pelton::Record::Model
    self.table_name = :indexed_people
  end

  EVERYWHERE = ["UNIQUE INDEX people_both ON indexed_people (name, email)", "UNIQUE INDEX people_name ON indexed_people (name DESC)", "INDEX people_age ON indexed_people (age)"].freeze
  EXPRESSIONS = ["UNIQUE INDEX people_lower ON indexed_people (lower(email))", "UNIQUE INDEX people_mixed ON indexed_people (email, lower(name))",
    "UNIQUE INDEX people_some ON indexed_people (age) WHERE age > 90"].freeze

  def setup
    super
    @database = connect_database
    @database.create_table!(:indexed_people) do
      primary_key :id
      String :email, size: 50
      String :name, size: 50
      Integer :age
    end
    Person.send(:forget_table)
    statements.each { |sql| @database.run("CREATE #{sql}") }
  end

  def connect_database = connect

  def statements = EVERYWHERE + EXPRESSIONS

  def test_what_is_unique
    assert_equal({people_both: %i[name email], people_name: %i[name], people_age: %i[age]}, @database.indexes(:indexed_people).transform_values { |index| index[:columns] })
    assert_equal %i[id name], Person.unique_columns
  end

  def test_finds
    ann = Person.create!(name: "Ann", email: "ann@example.com", age: 20)

    assert_equal [ann, ann, ann, nil], [Person.find_by(name: "Ann"), Person.find_by(email: "ann@example.com"), Person.find_by_age(20), Person.find_by(name: "Bob")]
    assert_equal [ann, ann], Pelton.run { Pelton.map(%w[Ann Ann]) { |name| Person.find_by(name: name) } }
  end
end
