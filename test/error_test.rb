# frozen_string_literal: true

require_relative "test_helper"
require "pelton"

class ErrorTest < PeltonTest
  CLASSES = Pelton.constants.map { |name| Pelton.const_get(name) }
    .select { |value| value.is_a?(Class) && value <= Exception }

  def test_one_tree_but_for_cancelled
    assert_equal [Pelton::Cancelled], CLASSES.reject { |error| error <= Pelton::Error }
    refute_operator Pelton::Cancelled, :<, StandardError, "rescue => error must not keep a task alive"
  end

  # A retry of connections must not catch deadlines; and Ruby's Timeout::Error means what it says, in the whole process.
  def test_a_timeout_is_an_error_of_its_own
    refute_operator Pelton::TimeoutError, :<, Pelton::ConnectionError
    refute_operator Timeout::Error, :===, Pelton::TimeoutError.new
    refute_includes Timeout::Error.singleton_class.ancestors.map(&:name).join, "Pelton"
  end

  def test_retriable_errors
    {ConnectionError: true, TimeoutError: true, ResolutionError: true, OverloadError: true, Error: false,
     ProtocolError: false, ClosedError: false, LimitError: false, NotRunningError: false}.each do |name, answer|
      assert_equal answer, Pelton.const_get(name).new.retriable?, name
    end
  end

  def test_a_failed_system_call_keeps_its_number
    error = assert_raises(Pelton::ConnectionError) { Pelton.connect("127.0.0.1", free_port) }
    assert_equal Errno::ECONNREFUSED::Errno, error.errno
    assert_includes error.message, "refused"
  end
end
