# frozen_string_literal: true

require_relative "../helper"

class EventMachineSASLauthclientTest < EventMachineTest
  Server = Module.new do
    include EM::P::SASLauth

    def validate(user, password, *) = password == "#{user}'s"
  end

  def test_each_reply_settles_its_own_request
    log = []
    em do
      client = EM.connect("127.0.0.1", serve(Server), EM::P::SASLauthclient)
      client.validate?("a", "a's").callback { log << :a }.errback { log << :never }
      client.validate?("b", "a's", "imap", "realm").callback { log << :never }.errback { log << :b }
      client.validate?("c", "c's").callback { EM.stop.then { log << :c } }
    end

    assert_equal %i[a b c], log
  end

  def test_a_closed_connection_fails_pending_requests
    closing = handler(receive_data: ->(_) { close_connection })
    failed = 0
    em do
      client = EM.connect("127.0.0.1", serve(closing), EM::P::SASLauthclient)
      client.validate?("a", "b").errback { failed += 1 }
      client.validate?("a", "b").errback { EM.stop.then { failed += 1 } }
    end

    assert_equal 2, failed
  end

  def test_a_field_that_is_too_long_raises
    assert_raises(ArgumentError) { Class.new { include EM::P::SASLauthclient }.new.validate?("a" * 65_536, "") }
  end

  def test_a_field_may_have_65535_bytes
    log = []
    em do
      client = EM.connect("127.0.0.1", serve(Server), EM::P::SASLauthclient)
      user = "a" * 65_533
      client.validate?(user, "#{user}'s").callback { EM.stop.then { log << :proved } }
    end

    assert_equal [:proved], log
  end
end
