# frozen_string_literal: true

require_relative "helper"

class EventMachineProxyTest < EventMachineTest
  # Runs a client, a proxy, and a server that answers with `reply`. The proxy connects to the server with the handler
  # `backend`.
  def through_proxy(reply, backend, &client)
    server = serve(handler(receive_data: ->(_) { send_data(reply) && close_connection_after_writing }))
    proxy = serve(handler(receive_data: ->(data) { EM.connect("127.0.0.1", server, backend, self, data) }))
    EM.connect("127.0.0.1", proxy,
      handler(post_init: -> { send_data("request") }, receive_data: client, unbind: -> { EM.stop }))
  end

  def test_one_connection_sends_what_the_other_receives
    received = +""
    bytes = nil
    backend = Class.new(EM::Connection) do
      define_method(:initialize) { |client, request| (@client = client) && (@request = request) }
      define_method(:post_init) do
        EM.enable_proxy(self, @client)
        send_data(@request)
      end
      define_method(:unbind) do
        bytes = get_proxied_bytes
        @client.close_connection_after_writing
      end
    end
    em { through_proxy("r" * 500_000, backend) { |data| received << data } }

    assert_equal 500_000, received.bytesize
    assert_equal 500_000, bytes
  end

  def test_after_the_length_the_source_receives_its_data_itself
    log = []
    backend = Class.new(EM::Connection) do
      define_method(:initialize) { |client, request| (@client = client) && (@request = request) }
      define_method(:post_init) { EM.enable_proxy(self, @client, 0, 3) && nil || send_data(@request) }
      define_method(:proxy_completed) { log << :completed }
      define_method(:receive_data) { |data| log << data }
      define_method(:unbind) { @client.close_connection_after_writing }
    end
    em { through_proxy("abcdef", backend) { |data| log << [:client, data] } }

    assert_equal [:completed, "def", [:client, "abc"]], log
  end

  def test_a_slow_target_pauses_its_source
    most = 0
    received = 0
    em do
      sink = serve(handler(post_init: -> {
        pause &&
              EM.add_timer(0.03) { resume }
      }, receive_data: ->(data) { received += data.bytesize }))
      target = EM.connect("127.0.0.1", sink)
      port = serve(handler(post_init: -> { proxy_incoming_to(target, 100_000) }))
      EM.connect("127.0.0.1", port) { |client| client.send_data("x" * 20_000_000) }
      EM.tick_loop do
        most = [most, target.get_outbound_data_size].max
        EM.stop if received == 20_000_000
      end
    end

    assert_operator most, :<, 2_000_000
  end

  def test_proxy_target_unbound_is_called_unless_the_proxy_was_stopped
    log = []
    em do
      port = serve
      target = EM.connect("127.0.0.1", port)
      source = EM.connect("127.0.0.1", port, handler(proxy_target_unbound: -> { log << :gone && EM.stop }))
      other = EM.connect("127.0.0.1", port, handler(proxy_target_unbound: -> { log << :never }))
      source.proxy_incoming_to(target)
      other.proxy_incoming_to(target)
      other.stop_proxying
      assert_raises(RuntimeError) { source.proxy_incoming_to(target) }
      target.close_connection
    end

    assert_equal [:gone], log
  end

  # Records the bytes that the kernel moved.
  def watch_splices(source)
    log = []
    stream = source.instance_variable_get(:@em_transport).stream
    stream.define_singleton_method(:splice) { |*arguments| super(*arguments).tap { |bytes| log << bytes } }
    log
  end

  # Sends the data through a proxy.
  #
  # @return [Array(String, Integer, Array)] the received data, the number of proxied bytes, and the bytes of each splice
  def send_through(data, bufsize: 0, length: 0, tls: false)
    received, bytes, spliced = +"", nil, nil
    watch = method(:watch_splices)
    em do
      port = serve(handler(post_init: -> { start_tls if tls }, receive_data: ->(piece) { received << piece },
        unbind: -> { EM.stop }))
      target = EM.connect("127.0.0.1", port, handler(post_init: -> { start_tls if tls }))
      source = handler(
        post_init: -> { (spliced = watch.call(self)) && EM.enable_proxy(self, target, bufsize, length) },
        receive_data: ->(_) {},
        proxy_completed: -> { (bytes = get_proxied_bytes) && target.close_connection_after_writing },
        unbind: -> { (bytes ||= get_proxied_bytes) && target.close_connection_after_writing }
      )
      proxy = serve(source)
      EM.connect("127.0.0.1", proxy) { |client| client.send_data(data) && client.close_connection_after_writing }
    end
    [received, bytes, spliced.compact]
  end

  MUCH = Random.new(7).bytes(8_000_000)

  def test_bulk_data_is_moved_by_the_kernel
    received, bytes, spliced = send_through(MUCH, bufsize: 200_000)

    assert_equal MUCH.hash, received.b.hash
    assert_equal MUCH.bytesize, bytes
    assert_operator spliced.sum, :>, 0 if RUBY_PLATFORM.include?("linux")
  end

  def test_data_for_tls_is_copied
    received, bytes, spliced = send_through(MUCH, tls: true)

    assert_equal MUCH.hash, received.b.hash
    assert_equal MUCH.bytesize, bytes
    assert_empty spliced
  end

  def test_the_kernel_moves_no_more_than_was_asked_for
    received, bytes, = send_through(MUCH, length: 3_000_001)

    assert_equal MUCH.byteslice(0, 3_000_001).hash, received.b.hash
    assert_equal 3_000_001, bytes
  end

  def test_the_length_is_complete_while_the_source_stays_open
    received = nil
    em do
      target = EM.connect("127.0.0.1", serve(handler(receive_data: ->(_) {})))
      port = serve(handler(post_init: -> { EM.enable_proxy(self, target, 0, MUCH.bytesize) },
        proxy_completed: -> { (received = get_proxied_bytes) && EM.stop }))
      EM.connect("127.0.0.1", port) { |client| client.send_data(MUCH) }
    end

    assert_equal MUCH.bytesize, received
  end

  def test_proxy_target_unbound_is_called_amid_bulk_data
    log = []
    em do
      sink = serve(handler(receive_data: ->(_) { close_connection }))
      target = EM.connect("127.0.0.1", sink)
      port = serve(handler(post_init: -> {
        proxy_incoming_to(target,
          100_000)
      }, proxy_target_unbound: -> { log << :gone && EM.stop },
        receive_data: ->(_) {}))
      EM.connect("127.0.0.1", port) { |client| client.send_data(MUCH) }
    end

    assert_equal [:gone], log
  end
end
