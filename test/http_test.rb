# frozen_string_literal: true

require_relative "support/http/peer"

class HTTPTest < PeltonTest
  include HttpPeer

  def test_response_finished_callbacks_are_called_in_reverse_order
    calls = []
    app = lambda do |env|
      env["rack.response_finished"] << ->(*facts) { calls << [:first, *facts[1..]] }
      env["rack.response_finished"] << ->(_env, *facts) { calls << [:second, facts[0]] }
      env["rack.response_finished"] << ->(*) { raise "third" }
      [201, {"a" => "b"}, ["x"]]
    end
    serving(app) { peer.get("/") }

    assert_equal [[:second, 201], [:first, 201, {"a" => "b"}, nil]], calls
    assert_equal ["third"], reported.map(&:message)
  end

  # The others are called even after an exception that is no StandardError, and after an error of the log.
  def test_a_callback_that_fails_keeps_no_other_from_being_called
    calls = []
    app = lambda do |env|
      env["rack.response_finished"] << ->(*) { calls << :finished } << ->(*) { raise NotImplementedError, "second" }
      env["async.close"].callback { raise NotImplementedError, "third" }.callback { calls << :closed }
      [200, {}, ["x"]]
    end
    log = ->(*) { raise IOError, "first" }
    serving(app, log: log) { peer.get("/") }

    assert_equal %i[closed finished], calls
    assert_equal %w[third second first], reported.map(&:message)
  end

  # A hijacked connection that speaks TLS has such a bridge behind it.
  def test_a_bridge_whose_one_side_has_left
    Pelton.run do
      ours, theirs = UNIXSocket.pair
      stream = Pelton::Stream.for_fd(ours.tap { |io| io.autoclose = false }.fileno)
      theirs.close
      Pelton::HTTP.__send__(:bridge, stream).tap { |io| io.write("x") }.close
      sleep 0.002 until stream.closed?
    end
    assert_empty reported
  end
end
