# frozen_string_literal: true

require_relative "support/blog"

class IgnoredColumnsTest < PeltonTest
  include Blog

  def setup
    super
    @ignoring = model(:Ignoring) do
      self.table_name = "authors"
      self.ignored_columns = ["age", :height]
    end
    Author.create!(name: "Ann", age: 20)
  end

  def test_objects_do_not_have_them
    one = @ignoring.first

    assert_equal %i[age height], @ignoring.ignored_columns
    refute_includes @ignoring.column_names, "age"
    refute_includes one.attributes, "age"
    refute_respond_to one, :age
    refute one.has_attribute?(:age)
    refute_includes @ignoring.find(one.id).attributes, "age"
    refute_includes one.reload.attributes, "age"
    assert_raises(ArgumentError) { @ignoring.new(age: 5) }
    assert_raises(NoMethodError) { @ignoring.find_by_age(20) }
  end

  def test_objects_do_not_write_them
    one = @ignoring.create!(name: "Bob")

    refute_includes one.attributes, "age"
    @ignoring.first.update!(name: "Anna")

    assert_equal [["Anna", 20], ["Bob", nil]], Author.order(:id).pluck(:name, :age)
  end

  def test_the_column_may_be_dropped_meanwhile
    @ignoring.first
    Author.db.alter_table(:authors) { drop_column :height }

    assert_equal "Ann", @ignoring.first.name
    assert_equal "Bob", @ignoring.create!(name: "Bob").reload.name
  end

  def test_classes_below_ignore_them_too
    below = Class.new(@ignoring) { def self.name = "IgnoringBelow" }

    refute_includes below.first.attributes, "age"
    assert_includes Author.first.attributes, "age"
  end
end
