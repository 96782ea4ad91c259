# frozen_string_literal: true

require_relative "test_helper"
require_relative "support/http_peer"

class HTTPTest < PeltonTest
  include HttpPeer

  def test_those_who_want_to_know_of_the_end_are_told_in_reverse_order
    told = []
    app = lambda do |env|
      env["rack.response_finished"] << ->(*facts) { told << [:first, *facts[1..]] }
      env["rack.response_finished"] << ->(_env, *facts) { told << [:second, facts[0]] }
      env["rack.response_finished"] << ->(*) { raise "third" }
      [201, {"a" => "b"}, ["x"]]
    end
    serving(app) { peer.get("/") }

    assert_equal [[:second, 201], [:first, 201, {"a" => "b"}, nil]], told
    assert_equal ["third"], reported.map(&:message)
  end

  # Not even by what is no StandardError, nor by a log that cannot be written.
  def test_one_who_fails_keeps_nobody_from_being_told
    told = []
    app = lambda do |env|
      env["rack.response_finished"] << ->(*) { told << :finished } << ->(*) { raise NotImplementedError, "second" }
      env["async.close"].callback { raise NotImplementedError, "third" }.callback { told << :closed }
      [200, {}, ["x"]]
    end
    log = ->(*) { raise IOError, "first" }
    serving(app, log: log) { peer.get("/") }

    assert_equal %i[closed finished], told
    assert_equal %w[third first second], reported.map(&:message)
  end

  # As it stands behind a hijacked connection that speaks TLS.
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
