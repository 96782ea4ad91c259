# frozen_string_literal: true

# Wrong replies and failures in the middle of a fan-out, in every style. (MemcachedFaults has those for one command.)
module MemcachedFanOutFaults
  KEYS = %w[a b c].freeze

  # Invalid replies to a get of three keys.
  LIES = {
    "another commands reply in the middle" => "EN\r\nHD\r\nEN\r\n",
    "a reply too many" => "EN\r\nEN\r\nEN\r\nVA 5\r\nwrong\r\n",
    "a classic end" => "VA 1\r\nx\r\nEND\r\n", "an error of the protocol" => "EN\r\nERROR\r\nEN\r\n",
    "a value that is too long" => "VA 1\r\nxy\r\nEN\r\nEN\r\n", "a statistic" => "STAT a 1\r\nEND\r\n"
  }.freeze

  LIES.each do |name, bytes|
    define_method(:"test_#{name.tr(" ", "_")}_ends_the_connection_of_many") do
      lie = ->(peer) { peer.commands(3) && peer.send(bytes) && peer.stall }
      answer(lie, MemcachedFaults::RIGHT) do |cache|
        begin
          ask(cache, :get_multi, KEYS)
        rescue Pelton::ConnectionError, Pelton::Memcached::ServerError
          nil # the additional reply comes after the end of the fan-out
        end
        assert_equal "right", again { ask(cache, :get, "k") }
      end
    end
  end

  def test_a_connection_that_ends_in_the_middle_fails_the_fan_out
    ["EN\r\n", "VA 2\r\nx", "VA 90000\r\n#{"x" * 80_000}"].each do |bytes|
      answer(->(peer) { peer.commands(3) && peer.send(bytes) }, MemcachedFaults::RIGHT) do |cache|
        assert_match(/closed the connection/,
          assert_raises(Pelton::ConnectionError) { ask(cache, :get_multi, KEYS) }.message)
        assert_equal "right", again { ask(cache, :get, "k") }
      end
    end
  end

  def test_a_server_error_in_the_middle_is_raised_and_the_connection_stays
    answers = ["VA 1\r\n1\r\n", "SERVER_ERROR out of memory\r\n", "SERVER_ERROR another\r\n", "HD\r\n", "HD\r\n",
      "NS\r\n", "VA 2\r\nok\r\n"]
    answer(->(peer) { peer.serve { |_| answers.shift } }) do |cache|
      error = assert_raises(Pelton::Memcached::ServerError) { ask(cache, :get_multi, KEYS) }

      assert_match(/out of memory/, error.message, "the first one")
      assert_equal 2, ask(cache, :set_multi, KEYS.to_h { |key| [key, "v"] })
      assert_equal "ok", ask(cache, :get, "k")
    end
  end

  # Each later key would get the value of its neighbour.
  def test_a_reply_too_many_or_too_few_shifts_no_value
    keys = %w[a b c d e f]
    {twice: keys[0..-2], lost: keys[0..-2]}.each do |fault, places|
      places.each do |place|
        server = lambda do |peer|
          while (line = peer.command)
            times = (line.split[1] == place) ? {twice: 2, lost: 0}.fetch(fault) : 1
            times.times { peer.answer(line, "VA 1\r\n#{line.split[1]}\r\n") }
          end
        end
        answer(server) do |cache|
          assert_raises(Pelton::ProtocolError, "#{place} #{fault}") { ask(cache, :get_multi, keys) }
        end
      end
    end
  end

  def test_a_fan_out_that_times_out_is_abandoned_alone
    gate = Thread::Queue.new
    late = lambda do |peer|
      peer.command
      peer.send("VA 1\r\n1\r\n")
      gate.pop
      second, = peer.commands(2)
      peer.answer(second, "VA 4\r\nlate\r\n")
      peer.send(:"EN\r\n")
      peer.serve { |_| "VA 5\r\nright\r\n" }
    end
    answer(late) do |cache|
      assert_raises(Pelton::TimeoutError) { ask(cache, :get_multi, KEYS, timeout: 0.05) }
      gate << :go
      assert_equal "right", ask(cache, :get, "k")
    end
  end

  def test_a_count_that_is_not_a_number_ends_the_connection
    ["VA 2\r\nab\r\n", "VA 0\r\n\r\n", "VA 3\r\n1 2\r\n", "VA 20\r\n18446744073709551616\r\n", "VA 2\r\n-1\r\n",
      "HD\r\n"].each do |bytes|
      answer(->(peer) { peer.command && peer.send(bytes) && peer.stall }, MemcachedFaults::RIGHT) do |cache|
        assert_raises(Pelton::ProtocolError, bytes) { ask(cache, :incr, "n") }
        assert_equal "right", again { ask(cache, :get, "k") }
      end
    end
  end

  def test_a_count_may_be_padded_and_as_large_as_64_bits
    answers = ["VA 5\r\n7    \r\n", "VA 20\r\n18446744073709551615\r\n"]
    answer(->(peer) { peer.serve { |_| answers.shift } }) do |cache|
      assert_equal 7, ask(cache, :incr, "n")
      assert_equal 2**64 - 1, ask(cache, :incr, "n")
    end
  end

  def test_statistics_of_any_kind_of_line
    lines = "STAT pid 1\r\nSTAT empty \r\nSTAT items:1:number 2\r\nSTAT version 1.6 beta\r\nEND\r\n"
    answer(->(peer) { peer.serve { |_| lines } }) do |cache|
      assert_equal [{"pid" => "1", "empty" => "", "items:1:number" => "2", "version" => "1.6 beta"}],
        ask(cache, :stats).values
    end
  end

  def test_a_forbidden_flush_all_raises
    answers = ["CLIENT_ERROR flush_all not allowed\r\n", "VA 2\r\nok\r\n"]
    answer(->(peer) { peer.serve { |_| answers.shift } }) do |cache|
      assert_match(/not allowed/, assert_raises(Pelton::Memcached::ServerError) { ask(cache, :flush_all) }.message)
      assert_equal "ok", ask(cache, :get, "k")
    end
  end

  def test_a_fan_out_to_an_absent_server
    port = free_port
    within do
      cache = client("127.0.0.1:#{port}")
      {get_multi: [KEYS], set_multi: [{"a" => "1"}], delete_multi: [KEYS], stats: [], flush_all: [],
       versions: []}.each do |command, arguments|
        assert_raises(Pelton::ConnectionError, command) { ask(cache, command, *arguments) }
      end
    end
  end
end
