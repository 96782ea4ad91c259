# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/sequel"
require "pelton/async_record"

class AsyncRecordLaterTest < PeltonTest
  def setup
    super
    @database = Pelton::Sequel.connect("sqlite::memory:")
    @database.create_table(:users) do
      primary_key :id
      Integer :age
    end
    @model = Class.new(Sequel::Model(@database[:users])) { extend Pelton::AsyncRecord }
    3.times { |number| @model.create(age: 20 + number) }
  end

  def teardown
    Pelton::Sequel.disconnect(@database)
    super
  end

  def test_a_model_a_dataset_and_a_record_give_deferrables
    Pelton.run do
      operations = [@model.later.first(id: 2), @model.where(age: 21).later.count, @model.later.create(age: 30),
        @model.first.later.update(age: 40)]

      assert(operations.all?(Pelton::Deferrable))
      assert_equal [2, 1, 4, 1], operations.map(&:await).map { |value| value.is_a?(Integer) ? value : value.id }
    end
  end

  def test_a_dataset_s_value_is_its_records
    Pelton.run { assert_equal [[2, 3]], [@model.later.where(age: 21..22).await].map { |users| users.map(&:id) } }
  end

  def test_a_failure_is_the_library_s_error
    Pelton.run { assert_raises(Sequel::NoMatchingRow) { @model.later.with_pk!(99).await } }
  end

  def test_it_responds_to_what_the_model_has
    assert_respond_to @model.later, :with_pk!
    refute_respond_to @model.later, :nonsense
  end

  def test_an_unknown_method_is_an_error_at_once
    error = assert_raises(NoMethodError) { @model.later.nonsense }

    assert_match(/\Anonsense is no method of what later was called for/, error.message)
  end
end
