# frozen_string_literal: true

require_relative "helper"

class EventMachineConnectionTest < EventMachineTest
  class Keywords < EM::Connection
    attr_reader :all

    def initialize(one, key:)
      @all = [one, key]
    end
  end

  def test_arguments_and_keywords_reach_initialize
    all = nil
    em do
      EM.connect("127.0.0.1", serve, Keywords, 1, key: 2) { |connection| all = connection.all }
      EM.stop
    end

    assert_equal [1, 2], all
  end

  def test_wrong_arguments_raise
    em do
      port = serve
      error = assert_raises(ArgumentError) { EM.connect("127.0.0.1", port, Keywords) }
      assert_match(/wrong number of arguments for .*Keywords#initialize \(0 for 2\)/, error.message)
      assert_raises(ArgumentError) { EM.connect("127.0.0.1", port, String) }
      EM.stop
    end
  end

  def test_default_callbacks_do_nothing
    connection = EM::Connection.allocate

    assert_nil connection.post_init
    assert_nil connection.connection_completed
    assert_nil connection.unbind
    assert_nil connection.ssl_handshake_completed
    assert_output(/>>>3/) { connection.receive_data("abc") }
  end

  def test_error_is_false_without_an_error
    em do
      EM.connect("127.0.0.1", serve, handler(connection_completed: -> { error? ? raise : EM.stop }))
    end
  end
end
