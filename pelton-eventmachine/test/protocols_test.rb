# frozen_string_literal: true

require_relative "helper"

class EventMachineProtocolsTest < EventMachineTest
  def test_they_have_a_short_name
    assert_same EM::Protocols, EM::P
  end

  def test_each_is_loaded_when_its_constant_is_used
    names = EM::P.constants.grep_v(/Transport/)

    assert_operator names.size, :>=, 16
    names.each { |name| assert_kind_of Module, EM::P.const_get(name), name }
  end

  def test_other_gems_may_add_protocols
    EM::P.const_set(:OfAnotherGem, Module.new)

    assert_kind_of Module, EM::Protocols::OfAnotherGem
  ensure
    EM::P.__send__(:remove_const, :OfAnotherGem)
  end
end
