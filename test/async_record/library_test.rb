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

    assert_equal [true, true, false], [sequel.takes_block?(:all), sequel.takes_block?(:find, 1), sequel.takes_block?(:"record.save")]
    assert_equal [false, true], [active_record.takes_block?(:all), active_record.takes_block?(:"record.save")]
    assert_equal [true, false], [active_record.takes_block?(:find), active_record.takes_block?(:find, 1)]
  end

  def test_the_outcome_of_a_dataset_is_its_records_and_anything_else_is_as_it_is
    database = Sequel.mock(fetch: [{id: 1}])

    assert_equal [{id: 1}], Library.outcome(database[:users])
    assert_equal [[1, 2], nil], [Library.outcome([1, 2]), Library.outcome(nil)]
  end

  def test_the_library_that_is_loaded
    assert_equal :sequel, Library.only.name
  end
end
