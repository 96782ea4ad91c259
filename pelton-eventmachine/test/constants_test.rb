# frozen_string_literal: true

require_relative "helper"

class EventMachineConstantsTest < EventMachineTest
  def test_errors_have_eventmachines_classes
    assert_operator EM::ConnectionError, :<, RuntimeError
    assert_operator EM::FileNotFoundException, :<, Exception
    assert_same Errno::ECONNREFUSED, EM::ERRNOS[Errno::ECONNREFUSED::Errno]
    assert_same Errno::EAGAIN, EM::ERRNOS[Errno::EAGAIN::Errno]
    assert_equal "1.2.7", EM::VERSION
  end
end
