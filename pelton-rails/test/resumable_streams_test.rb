# frozen_string_literal: true

require "test_helper"
require "pelton"
require "pelton/rails/resumable_streams"

# What needs no Rails; the rest is in downstream/resumable_streams_test.rb.
class RailsResumableStreamsTargetTest < PeltonTest
  Name = Struct.new(:param_key)
  Record = Struct.new(:to_key) do
    def model_name = Name.new("message")
  end

  # Keys of two columns must not run together: 1, 23 and 12, 3 are two records.
  def test_each_record_has_an_element_of_its_own
    assert_equal %w[message_7_content message_1_23_content message_12_3_content],
      [[7], [1, 23], [12, 3]].map { |key| Pelton::Rails::ResumableStreams.target(Record.new(key), :content) }
  end
end
