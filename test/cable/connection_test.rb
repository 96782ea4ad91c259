# frozen_string_literal: true

require "test_helper"
require "support/cable_client"

class CableConnectionTest < PeltonTest
  include CableClient

  LOG = [] # standard:disable Style/MutableConstant

  class Base < Pelton::Cable::Connection
    identified_by :user, :token
  end

  class Connection < Base
    identified_by :device

    def connect
      self.user = cookies["user"]
      self.device = request.params["device"]
      transmit({"hello" => user})
    end

    def disconnect
      env
    rescue Pelton::Error => error
      LOG << [user, device, error.message]
    end
  end

  def test_who_it_is_and_that_it_forgets_the_request
    serving(connection: Connection) do |url, cable|
      client = Client.new("#{url}?device=phone", headers: {"cookie" => "user=ann"})
      assert_equal({"hello" => "ann"}, client.receive)
      assert_equal({"type" => "welcome"}, client.receive)
      client.socket.close
      eventually { LOG.any? }

      assert_equal ["ann", "phone"], LOG.first.first(2)
      assert_match(/only connect has the request/, LOG.first.last)
      assert_equal %i[user token device], Connection.identifiers
      assert_equal [], Pelton::Cable::Connection.identifiers
    end
  end

  def test_an_error_of_connect_ends_it
    failing = Class.new(Pelton::Cable::Connection) { define_method(:connect) { raise "no database" } }
    serving(connection: failing) do |url, cable|
      reports = Pelton::Test.unrescued do
        client = Client.new(url)
        assert_nil client.receive
        assert_equal 1011, client.socket.close_code
      end

      assert_equal ["no database"], reports.map(&:message)
      assert_equal 0, cable.stats[:connections]
    end
  end
end
