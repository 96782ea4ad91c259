# frozen_string_literal: true

require "test_helper"
require_relative "../support/blog"

class ConditionTest < PeltonTest
  include Blog

  Condition = Pelton::Record::Relation::Condition

  def test_the_column_of_a_comparison
    assert_nil Condition.column_of(Sequel.expr(name: 1)) # of any table
    assert_equal Sequel[:authors][:name], Condition.column_of(Sequel.expr(Sequel[:authors][:name] => 1))
    assert_equal Sequel[:authors][:name], Condition.column_of(Sequel.|({Sequel[:authors][:name] => 1}, {Sequel[:authors][:name] => nil}))
    assert_nil Condition.column_of(Sequel.lit("name = 1"))
  end

  def test_columns_are_those_of_the_table
    assert_equal Sequel.qualify(:authors, :name), Condition.qualified(Author.dataset, :name)
  end

  def test_an_unknown_association
    assert_match(/no association :nobody/, assert_raises(ArgumentError) { Condition.related(Author, :nobody) }.message)
  end

  def test_a_list_of_objects_of_a_column
    assert_equal [ann], Author.where(id: [ann]).to_a
    assert_equal [ann, bob], Author.where(id: [ann.id..ann.id, bob]).order(:id).to_a
    assert_equal [ann], Author.where(id: Set[ann.id]).to_a
  end
end
