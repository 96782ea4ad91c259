# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/lying_memcached"
require "pelton/memcached"

# Which reply is whose; more of it is in shared/memcached_faults.rb.
class MemcachedReplyTest < PeltonTest
  include LyingMemcached

  RIGHT = ->(peer) { peer.serve { "VA 5\r\nright\r\n" } }

  # The server may have read a value as commands, and answer those as well.
  {[:get, "k"] => "CLIENT_ERROR bad data chunk\r\n", [:incr, "k"] => "ERROR\r\n"}.each do |call, reply|
    define_method(:"test_after_an_error_of_#{call.first}_no_reply_is_anyones") do
      wrong = ->(peer) { peer.command && peer.send(reply) && peer.serve { "VA 5\r\nwrong\r\n" } }
      with_lying_memcached(wrong, RIGHT) do |address|
        cache = Pelton::Memcached::Client.new(address)

        assert_raises(Pelton::ProtocolError, Pelton::Memcached::ServerError) { cache.public_send(*call) }
        assert_equal "right", cache.get("k")
      end
    end
  end

  # One of a counter is the server's answer to it alone.
  def test_after_a_counter_that_is_none_the_connection_stays
    answers = ["CLIENT_ERROR cannot increment or decrement non-numeric value\r\n", "VA 4\r\nsame\r\n"]
    with_lying_memcached(->(peer) { peer.serve { answers.shift } }) do |address|
      cache = Pelton::Memcached::Client.new(address)

      assert_raises(Pelton::Memcached::ServerError) { cache.incr("k") }
      assert_equal "same", cache.get("k")
    end
  end
end
