# frozen_string_literal: true

require_relative "helper"

class EventMachineSettingsTest < EventMachineTest
  def test_settings_that_pelton_does_not_need_are_accepted
    assert_nil EM.epoll
    assert_nil EM.kqueue
    EM.epoll = EM.kqueue = true
    EM.heartbeat_interval = 1
    EM.set_quantum(10)
    EM.set_simultaneous_accept_count(5)

    assert_in_delta 1.0, EM.get_heartbeat_interval
    assert_equal 5, EM.get_simultaneous_accept_count
    assert_equal :extension, EM.library_type
    refute_predicate EM, :kqueue?
    assert_equal Pelton::Reactor.current.stats[:backend] == :epoll, EM.epoll?
  ensure
    EM.heartbeat_interval = 2
  end

  def test_the_descriptor_table_has_a_size
    before = EM.set_descriptor_table_size

    assert_equal Process.getrlimit(:NOFILE).first, before
    assert_equal before - 1, EM.set_descriptor_table_size(before - 1)
  ensure
    EM.set_descriptor_table_size(before)
  end

  def test_an_unknown_user_raises
    assert_raises(ArgumentError) { EM.set_effective_user("nobody-of-this-name") }
  end
end
