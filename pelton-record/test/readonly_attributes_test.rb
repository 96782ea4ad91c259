# frozen_string_literal: true

require "test_helper"
require_relative "support/blog"

class ReadonlyAttributesTest < PeltonTest
  include Blog

  def setup
    super
    @keeping = model(:Keeping) do
      self.table_name = "authors"
      alias_attribute :mail, :email
      attr_readonly :email
    end
    @one = @keeping.create!(name: "Ann", email: "ann@example.com")
  end

  def test_a_new_object_sets_it
    assert_equal "ann@example.com", @one.reload.email
    assert_equal "x", @keeping.new(email: "y").tap { |one| one.email = "x" }.email
  end

  def test_a_row_keeps_it
    [-> { @one.email = "x" }, -> { @one[:email] = "x" }, -> { @one.mail = "x" }, -> { @one.update(email: "x") }, -> { @one.assign_attributes(email: "x") },
      -> { @one.update_columns(email: "x") }, -> { @one.update_column(:mail, "x") }, -> { @one.update_attribute(:email, "x") }].each do |change|
      error = assert_raises(Pelton::Record::ReadOnly) { change.call }

      assert_match(/is set when the row is made/, error.message)
    end
    @one.update!(name: "Anna")

    assert_equal [%w[Anna ann@example.com], [:email]], [@one.reload.values_at(:name, :email), @keeping.readonly_attributes]
  end

  def test_classes_below_have_theirs_besides
    below = Class.new(@keeping) do
      def self.name = "KeepingBelow"
      attr_readonly :age
    end
    one = below.find(@one.id)

    assert_raises(Pelton::Record::ReadOnly) { one.email = "x" }
    assert_raises(Pelton::Record::ReadOnly) { one.age = 1 }
    @one.update!(age: 5)

    assert_equal [[:email], %i[email age]], [@keeping.readonly_attributes, below.readonly_attributes]
  end
end
