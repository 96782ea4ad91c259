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

  def test_a_timeout_is_matched_by_either_rescue
    raise Pelton::TimeoutError, "late"
  rescue Timeout::Error => error
    refute_kind_of Pelton::ConnectionError, error, "a retry of connections must not catch deadlines"
    assert_raises(Pelton::Error) { raise error }
  end

  def test_other_errors_are_no_timeouts
    refute_operator Timeout::Error, :===, Pelton::ConnectionError.new
    assert_operator Timeout::Error, :===, Timeout::Error.new
    refute_operator Class.new(Timeout::Error), :===, Pelton::TimeoutError.new, "a subclass of it is not asked"
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
