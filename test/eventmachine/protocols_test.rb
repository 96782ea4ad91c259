# frozen_string_literal: true

require_relative "helper"

class EventMachineProtocolsTest < EventMachineTest
  def test_they_have_a_short_name
    assert_same EM::Protocols, EM::P
  end
end
