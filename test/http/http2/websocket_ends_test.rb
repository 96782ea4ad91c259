# frozen_string_literal: true

require_relative "../../support/http/http2_tunnel"

# How WebSockets over HTTP/2 end: by either side, with their connection, by the server's stop.
class Http2WebSocketEndsTest < PeltonTest
  include Http2Tunnels

  WebSocket = Pelton::HTTP::WebSocket

  def test_a_close_frame_is_answered_and_each_side_ends_its_stream
    codes = Queue.new
    app = ->(env) { WebSocket.accept(env) { |socket| socket.on_message { nil }.on_close { |*facts| codes << facts } } }
    sockets(app) do |client|
      socket = tunnel(client)
      socket.write(frame(:close, [1000, "bye"].pack("S>a*")))

      assert_equal 1000, close_code_of(socket)
      assert_nil socket.response.error
      assert_equal [1000, "bye"], codes.pop
      assert_equal "/alive", client.get("/alive").body
    end
    assert_equal 0, @server.attached
  end

  def test_the_clients_end_without_a_close_frame
    codes = Queue.new
    app = ->(env) { WebSocket.accept(env) { |socket| socket.on_message { nil }.on_close { |code, *| codes << code } } }
    sockets(app) do |client|
      tunnel(client).close

      assert_equal 1006, codes.pop
      assert_equal "/alive", client.get("/alive").body
    end
  end

  def test_a_reset_by_the_client
    codes = Queue.new
    app = ->(env) { WebSocket.accept(env) { |socket| socket.on_message { nil }.on_close { |code, *| codes << code } } }
    sockets(app) do |client|
      tunnel(client).reset

      assert_equal 1006, codes.pop
      assert_equal "/alive", client.get("/alive").body
    end
  end

  def test_the_connection_breaks
    codes = Queue.new
    app = ->(env) { WebSocket.accept(env) { |socket| socket.on_message { nil }.on_close { |code, *| codes << code } } }
    sockets(app) do |client|
      2.times { tunnel(client) }
      client.close

      assert_equal [1006, 1006], [codes.pop, codes.pop]
      eventually("no connection") { @server.stats[:connections].zero? }
    end
  end

  # Before the answer, after it, within a message, and while messages wait for the window.
  def test_a_client_that_leaves_at_each_moment
    leaving = {
      "by a reset" => ->(socket) { socket.reset },
      "by its end" => ->(socket) { socket.close },
      "by the connection's end" => ->(socket) { socket.client.close }
    }
    moments = {
      "at once" => ->(_socket) {},
      "after the answer" => lambda(&:status),
      "within a message" => ->(socket) { socket.tap(&:status).write(frame(:text, "abc").byteslice(0, 4)) },
      "while messages wait" => ->(socket) { socket.tap(&:status).client.receive_until(:data, stream: socket.id) }
    }
    app = lambda do |env|
      WebSocket.accept(env) do |socket|
        100.times { socket.write("x" * 50_000) }
      rescue Pelton::ConnectionError
        nil # a reset, which is the program's to see
      end
    end
    moments.each do |moment, prepare|
      leaving.each do |way, leave|
        sockets(app, client: {4 => 10_000}) do |client|
          socket = Http2Tunnel.new(client)
          prepare.call(socket)
          leave.call(socket)
          client.open_window(socket.id, 100 << 20).open_window(0, 100 << 20) if way == "by its end"
          eventually("the end: #{moment} #{way}") { @server.attached.zero? && @server.stats[:running].zero? }
        end
      end
    end
  end

  def test_an_abort_with_queued_messages_resets
    app = lambda do |env|
      WebSocket.accept(env) do |socket|
        20.times { socket.push(Pelton::HTTP::WebSocketMessage.new("x" * 50_000), 10 << 20) }
        socket.abort
      end
    end
    sockets(app, client: {4 => 1000}) do |client|
      assert_equal :cancel, tunnel(client).error
    end
  end

  def test_a_peer_that_takes_nothing_is_given_up
    app = lambda do |env|
      WebSocket.accept(env, write_timeout: 0.05) { |socket| loop { socket.write("x" * 100_000) } }
    end
    sockets(app, client: {4 => 1000}) do |client|
      assert_equal :cancel, tunnel(client).error
      assert_equal "/alive", client.get("/alive").body
    end
  end

  def test_a_client_that_answers_no_ping_is_given_up
    app = ->(env) { WebSocket.accept(env, ping: 0.05) { |socket| socket.on_message { nil } } }
    sockets(app) do |client|
      socket = tunnel(client)

      assert_equal [:ping, ""], next_frame(socket)
      assert_equal "", socket.read
    end
  end

  # ---- the server's stop ------------------------------------------------------------------------------------------

  def test_a_stop_closes_with_1001_and_then_the_connection
    sockets do |client|
      socket = tunnel(client)
      stopping = Pelton.spawn { @server.stop(timeout: 10) }

      assert_equal [:close, [1001, "the server stops"].pack("S>a*")], next_frame(socket)
      socket.write(frame(:close, [1001].pack("S>")), ended: true)
      client.end_of_connection
      client.close

      assert_equal socket.id, client.last_stream
      assert stopping.await
    end
  end

  def test_no_idle_timeout_while_a_socket_is_open
    sockets(idle_timeout: 0.05) do |client|
      socket = tunnel(client)
      other = http2
      other.receive_until(:goaway) # it was idle for as long

      socket.write(frame(:text, "here"))
      assert_equal [:text, "here"], next_frame(socket)
      socket.close
      client.receive_until(:goaway)
    end
  end
end
