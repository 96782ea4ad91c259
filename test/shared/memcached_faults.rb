# frozen_string_literal: true

# A client of a server that sends wrong replies, disconnects or cannot be reached, in every style. In each case the
# operation gets the right error, and the next one a working connection.
module MemcachedFaults
  RIGHT = ->(peer) { peer.serve { |line| line.start_with?("mg") ? "VA 5\r\nright\r\n" : "HD\r\n" } }

  # Invalid replies to a get.
  LIES = {
    "another command's reply" => "HD\r\n", "not a protocol" => "HTTP/1.1 400 Bad Request\r\n\r\n",
    "a classic miss" => "END\r\n",
    "no length" => "VA\r\n", "a negative length" => "VA -1\r\nxx\r\n", "another key" => "VA 1 kother\r\nx\r\n",
    "an opaque" => "VA 1 O7\r\nx\r\n", "a length of letters" => "VA 0x1\r\nx\r\n",
    "an endless length" => "VA 99999999999999999999\r\n", "too large a value" => "VA #{1 << 40}\r\n",
    "a value that is too long" => "VA 1\r\nxy\r\n", "bare line feeds" => "VA 1\nx\n",
    "an endless line" => "VA 1 #{"f" * 5000}",
    "an endless word" => "x" * 100_000, "nothing but zeros" => "#{"\0" * 64}\r\n", "a command" => "mg k v\r\n",
    "an error of the protocol" => "ERROR\r\n", "an error of the client" => "CLIENT_ERROR bad command line format\r\n"
  }.freeze

  LIES.each do |name, bytes|
    test = name.tr(" '", "__")

    define_method(:"test_#{test}_ends_the_connection") do
      refuses(->(peer) { peer.command && peer.send(bytes) && peer.stall })
    end

    next if bytes.size > 1000
    define_method(:"test_#{test}_in_pieces_ends_the_connection") do
      refuses(->(peer) { peer.command && peer.send(*bytes.chars) && peer.stall })
    end
  end

  def test_a_reply_may_come_in_any_pieces
    reply = "VA 7\r\nEN\r\nxyz\r\n"
    (1...reply.size).each do |at|
      answer(->(peer) { peer.serve { |_| peer.send(reply[0...at], reply[at..]) && "" } }) do |cache|
        assert_equal "EN\r\nxyz", ask(cache, :get, "k")
      end
    end
    answer(->(peer) { peer.serve { |_| peer.send(*reply.chars) && "" } }) do |cache|
      assert_equal "EN\r\nxyz", ask(cache, :get, "k")
    end
  end

  # The reply is larger than the budget of one loop iteration. No further event follows its last bytes.
  def test_a_value_may_be_of_many_megabytes
    value = Random.bytes(9_000_000)
    answer(->(peer) { peer.serve { |_| "VA #{value.bytesize}\r\n#{value}\r\n" } }) do |cache|
      3.times { assert_equal value, ask(cache, :get, "k") }
    end
  end

  def test_a_server_error_fails_one_operation_alone
    answers = ["SERVER_ERROR out of memory storing object\r\n", "SERVER_ERROR \r\n", "VA 2\r\nok\r\n"]
    answer(->(peer) { peer.serve { |_| answers.shift } }) do |cache|
      error = assert_raises(Pelton::Memcached::ServerError) { ask(cache, :get, "k") }
      assert_match(/SERVER_ERROR out of memory storing object/, error.message)
      assert_raises(Pelton::Memcached::ServerError) { ask(cache, :get, "k") }
      assert_equal "ok", ask(cache, :get, "k")
    end
  end

  def test_a_protocol_error_carries_the_servers_reply
    error = refuses(->(peer) { peer.command && peer.send("CLIENT_ERROR bad data chunk\r\nERROR\r\n") && peer.stall })

    assert_match(/bad data chunk/, error.message)
  end

  def test_an_unrequested_reply_ends_the_connection
    answer(->(peer) { peer.command && peer.send("EN\r\nVA 5\r\nwrong\r\n") && peer.stall }, RIGHT) do |cache|
      assert_nil ask(cache, :get, "k")
      assert_equal "right", again { ask(cache, :get, "k") }
    end
  end

  # It comes when the next get is on its way already.
  def test_a_late_second_reply_is_not_the_next_ones
    [1, 2, 3].each do |first|
      server = lambda do |peer|
        lines = Array.new(first) { peer.command.tap { |line| peer.answer(line, "VA 1\r\n#{line.split[1]}\r\n") } }
        line = peer.command
        peer.answer(lines.last, "VA 1\r\n#{lines.last.split[1]}\r\n")
        peer.answer(line, "VA 1\r\n#{line.split[1]}\r\n")
      end
      answer(server, RIGHT) do |cache|
        first.times { |number| assert_equal number.to_s, ask(cache, :get, number.to_s) }
        assert_raises(Pelton::ProtocolError) { ask(cache, :get, "n") }
        assert_equal "right", again { ask(cache, :get, "k") }
      end
    end
  end

  # A restart, or an idle timeout of the server.
  def test_an_idle_connection_that_the_server_has_closed_is_not_used_again
    idle_then(:close) { |cache| assert_equal "right", ask(cache, :get, "k") }
  end

  {"a_reply" => "VA 5\r\nwrong\r\n", "the_beginning_of_a_reply" => "VA 5\r\nwr", "a_part_of_a_line" => "V",
   "a_value_without_its_end" => "VA 5\r\nwrong"}.each do |name, bytes|
    define_method(:"test_an_idle_connection_on_which_#{name}_has_come_is_not_used_again") do
      idle_then(:send, bytes) { |cache| assert_equal "right", ask(cache, :get, "k") }
    end
  end

  {"before_a_reply" => "", "in_a_line" => "VA 1", "in_a_value" => "VA 9\r\nhalf",
   "in_a_long_value" => "VA 90000\r\n#{"x" * 80_000}",
   "before_the_values_end" => "VA 4\r\nhalf\r"}.each do |place, bytes|
    define_method(:"test_the_end_#{place}_fails_it") do
      error = refuses(->(peer) { peer.command && peer.send(bytes) })

      assert_instance_of Pelton::ConnectionError, error
      assert_match(/closed the connection/, error.message)
      assert_predicate error, :retriable?
    end

    define_method(:"test_a_reset_#{place}_fails_it") do
      error = refuses(->(peer) { peer.command && peer.send(bytes) && sleep(0.01) && peer.reset })

      assert_instance_of Pelton::ConnectionError, error
    end
  end

  def test_a_connection_without_progress_fails_its_pending_operations
    error = refuses(->(peer) { peer.command && peer.send("VA 9\r\nhal") && peer.stall }, timeout: 0.3)

    assert_instance_of Pelton::TimeoutError, error
    assert_match(/no progress/, error.message)
  end

  def test_an_operation_that_times_out_is_abandoned_alone
    gate = Thread::Queue.new
    late = lambda do |peer|
      peer.command
      gate.pop
      peer.send("VA 4\r\nlate\r\n")
      peer.serve { |_| "VA 5\r\nright\r\n" }
    end
    answer(late) do |cache|
      assert_raises(Pelton::TimeoutError) { ask(cache, :get, "slow", timeout: 0.05) }
      assert_raises(Pelton::TimeoutError) { ask(cache, :get, "also-slow", timeout: 0.05) }
      gate << :go
      assert_equal "right", ask(cache, :get, "k")
    end
  end

  def test_a_cut_in_the_answer_to_the_first_question_is_retriable
    cut = ->(bytes) { ->(peer) { [peer.line, peer.line].all? && peer.send(bytes) } }
    answer(cut["M"], cut["MN"], cut["ERROR\r"], cut["MN\r\nVERSION 1."], RIGHT) do |cache|
      4.times do
        error = assert_raises(Pelton::ConnectionError) { ask(cache, :get, "k") }
        assert_predicate error, :retriable?
        assert_match(/closed the connection/, error.message)
      end
    end
  end

  # memcached before 1.6, and some proxies. They would read a meta set's value as commands.
  def test_a_server_without_meta_commands_is_sent_nothing_but_the_question
    lines = Thread::Queue.new
    commands = [[:set, "k", "flush_all"], [:set_multi, {"k" => "flush_all"}], [:get, "k"], [:version]]
    answer(->(peer) { peer.know_no_meta_commands { |line| lines << line } }, failure_limit: 10) do |cache|
      commands.each do |command|
        error = assert_raises(Pelton::ProtocolError) { ask(cache, *command) }
        assert_equal "memcached at #{cache.server} does not know meta commands: memcached 1.6.10 or later is needed",
          error.message
        refute_predicate error, :retriable?
      end
      assert_equal({"mn\r\n" => 4, "version\r\n" => 4, nil => 4}, Array.new(12) { lines.pop }.tally)
    end
  end

  def test_a_server_that_accepts_and_does_not_answer_times_out
    answer(->(peer) { peer.stall }, connect_timeout: 0.05) do |cache|
      assert_match(/does not answer/, assert_raises(Pelton::TimeoutError) { ask(cache, :get, "k") }.message)
    end
  end

  TRICKLE = lambda do |peer|
    peer.command
    peer.send("VA 100000000\r\n")
    sleep 0.005 while peer.send("x" * 10_000)
  end

  # Bytes that flow for others are no reply. (The client's own timeout counts from them.)
  def test_an_operation_times_out_while_other_bytes_flow
    answer(TRICKLE) do |cache|
      assert_raises(Pelton::TimeoutError) { ask(cache, :get, "k", timeout: 0.05) }
      assert_raises(Pelton::TimeoutError) { ask(cache, :get_multi, "k", "l", timeout: 0.05) }
      assert_raises(Pelton::TimeoutError) { ask(cache, :get, "l", timeout: 0.05) }
    end
  end

  # Waiting until there is capacity is a part of the operation.
  def test_an_operation_times_out_while_it_waits_for_capacity
    answer(TRICKLE, max_operations: 1) do |cache|
      2.times { assert_raises(Pelton::TimeoutError) { ask(cache, :get, "k", timeout: 0.05) } }
    end
  end

  def test_a_refused_connection_raises_each_time
    port = free_port
    within do
      cache = client("127.0.0.1:#{port}")
      2.times do
        error = assert_raises(Pelton::ConnectionError) { ask(cache, :get, "k") }
        assert_match(/refused/, error.message)
        assert_equal Errno::ECONNREFUSED::Errno, error.errno
      end
    end
  end

  def test_an_unknown_host_raises
    within { assert_raises(Pelton::ResolutionError) { ask(client("nothing.invalid:11211"), :get, "k") } }
  end

  def test_a_server_that_never_accepts_times_out
    listener = TCPServer.new("127.0.0.1", 0).tap { |server| server.listen(0) }
    address = listener.local_address
    full = Array.new(4) do
      Socket.new(:INET, :STREAM).tap { |socket| socket.connect_nonblock(address, exception: false) }
    end
    within do
      error = assert_raises(Pelton::TimeoutError) do
        ask(client("127.0.0.1:#{address.ip_port}", connect_timeout: 0.05), :get, "k")
      end
      assert_match(/connect/, error.message)
    end
  ensure
    [listener, *full].compact.each(&:close)
  end

  def test_the_next_operation_finds_a_server_that_came_back
    FaultProxy.start(with_memcached) do |proxy|
      within do
        cache = client("127.0.0.1:#{proxy.port}", failure_limit: 10)
        ask(cache, :set, "k", "v")
        proxy.down!
        proxy.cut!
        assert_raises(Pelton::ConnectionError) { 10.times { ask(cache, :get, "k") } }
        assert_raises(Pelton::ConnectionError) { ask(cache, :get, "k") }
        proxy.up!
        assert_equal "v", ask(cache, :get, "k")
      end
    end
  end

  def test_the_smallest_pieces_change_nothing
    FaultProxy.start(with_memcached) do |proxy|
      proxy.piece = 1
      within do
        cache = client("127.0.0.1:#{proxy.port}")
        ask(cache, :set, "k", "a\r\nb" * 50)

        assert_equal "a\r\nb" * 50, ask(cache, :get, "k")
      end
    end
  end

  private

  # Yields a client of a server that plays these scripts.
  def answer(*scripts, **options)
    with_lying_memcached(*scripts) { |address| within { yield client(address, **options) } }
  end

  # Yields a client whose connection was idle when the server did something to it.
  def idle_then(*action)
    idle = Thread::Queue.new
    done = Thread::Queue.new
    miss = "EN\r\n"
    script = lambda do |peer|
      peer.command && peer.send(miss)
      idle.pop
      peer.public_send(*action)
      done << true
      (action.first == :close) || peer.serve { |_| "VA 4\r\nlate\r\n" }
    end
    answer(script, RIGHT) do |cache|
      assert_nil ask(cache, :get, "k")
      idle << true
      done.pop
      sleep 0.002 # the loop looks now; where it cannot, since the thread is blocked, the next command does
      yield cache
    end
  end

  # The first connection's operation fails with an error of the connection, which is returned; the next one gets its own
  # reply.
  def refuses(script, **options)
    answer(script, RIGHT, **options) do |cache|
      error = assert_raises(Pelton::ConnectionError, Pelton::TimeoutError, Pelton::Memcached::ServerError) do
        ask(cache, :get, "k")
      end
      assert_equal "right", again { ask(cache, :get, "k") }
      error
    end
  end

  # The operation may fail because the old connection ends: then it is repeated once.
  def again
    yield
  rescue Pelton::ConnectionError, Pelton::TimeoutError
    yield
  end
end
