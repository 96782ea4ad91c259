# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/sequel"
require "pelton/async_record"

class AsyncRecordLibraryTest < PeltonTest
  # The constant is private.
  Library = Pelton::AsyncRecord.class_eval("Library", __FILE__, __LINE__)

  def test_a_model_is_known_by_its_library
    model = Class.new(Sequel::Model)

    assert_equal :sequel, Library.of(model).name
    refute Library.named(:active_record).model?(model)
  end

  def test_which_blocks_the_libraries_take_themselves
    sequel, active_record = Library.named(:sequel), Library.named(:active_record)

    assert_equal true, sequel.takes_block?(:all)
    assert_equal true, sequel.takes_block?(:find, 1)
    assert_equal false, sequel.takes_block?(:"record.save")
    assert_equal false, active_record.takes_block?(:all)
    assert_equal true, active_record.takes_block?(:"record.save")
    assert_equal true, active_record.takes_block?(:find)
    assert_equal false, active_record.takes_block?(:find, 1)
  end

  def test_the_outcome_of_a_dataset_is_its_records_and_anything_else_is_as_it_is
    database = Sequel.mock(fetch: [{id: 1}], keep_reference: false)

    assert_equal [{id: 1}], Library.outcome(database[:users])
    assert_equal [1, 2], Library.outcome([1, 2])
    assert_nil Library.outcome(nil)
  end

  def test_the_library_that_is_loaded
    assert_equal :sequel, Library.only.name
  end
end
