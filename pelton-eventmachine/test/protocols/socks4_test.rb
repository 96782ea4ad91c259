# frozen_string_literal: true

require_relative "../helper"

class EventMachineSocks4Test < EventMachineTest
  class Client < EM::P::Socks4
    class << self
      attr_accessor :log
    end

    def post_init
      self.class.log << :post_init
      send_data("hello")
    end

    def receive_data(data)
      self.class.log << data
      EM.stop if data.end_with?("bye")
    end

    def unbind
      self.class.log << :unbind
      EM.stop
    end
  end

  def setup
    Client.log = []
    @received = received = "".b
    @proxy = ->(*answers) do
      handler(receive_data: lambda do |data|
        received << data
        answers.shift&.each { |answer| send_data(answer) }
      end)
    end
  end

  def test_post_init_is_called_when_the_proxy_has_connected
    em { EM.connect("127.0.0.1", serve(@proxy.call(["\0Z", "\0" * 6], ["bye"])), Client, "10.1.2.3", 80) }

    assert_equal "\4\1\0P\x0a\1\2\3\0hello".b, @received
    assert_equal [:post_init, "bye"], Client.log - [:unbind]
  end

  def test_bytes_after_the_proxys_reply_belong_to_the_handler
    em { EM.connect("127.0.0.1", serve(@proxy.call(["\0Z#{"\0" * 6}bye"])), Client, "10.1.2.3", "80") }

    assert_equal [:post_init, "bye"], Client.log - [:unbind]
  end

  def test_the_client_resolves_names
    em { EM.connect("127.0.0.1", serve(@proxy.call(["\0Z#{"\0" * 6}bye"])), Client, "localhost", 80) }

    assert_equal "\4\1\0P\x7f\0\0\1\0".b, @received.byteslice(0, 9)
  end

  def test_a_refusal_closes_the_connection
    em { EM.connect("127.0.0.1", serve(@proxy.call(["\0[#{"\0" * 6}"])), Client, "10.1.2.3", 80) }

    assert_equal [:unbind], Client.log
  end

  def test_an_ipv6_address_closes_the_connection
    em { EM.connect("127.0.0.1", serve(@proxy.call), Client, "::1", 80) }

    assert_equal [:unbind], Client.log
    assert_empty @received
  end
end
