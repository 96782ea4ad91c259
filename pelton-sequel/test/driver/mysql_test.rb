# frozen_string_literal: true

require "test_helper"
require "pelton/sequel"
require "pelton/sequel/driver/mysql"

# What needs no server; the rest is in integration/servers_test.rb.
class MySQLDriverTest < PeltonTest
  def test_strings_are_quoted_without_a_connection
    database = Sequel.mock(host: "mysql", keep_reference: false)
    Pelton::Sequel::MySQLDriver.new("x").prepare(database)

    assert_equal "'it''s \\\\'", database.literal("it's \\")
  end

  def test_a_connection_that_the_server_has_closed_is_not_used_again
    load_client
    driver = Pelton::Sequel::MySQLDriver.new("x")
    connection = Object.new
    connection.define_singleton_method(:ping) { @closed ? raise(EOFError, "the server has closed it") : @closed = true }

    assert_equal [true, false], Array.new(2) { driver.usable?(connection) }
  end

  # trilogy fails over errors that have an `errno` of nil, and replaces them.
  def test_a_limit_that_passes_while_it_connects
    load_client
    deaf = Socket.new(:INET, :STREAM)
    deaf.bind(Addrinfo.tcp("127.0.0.1", 0))
    deaf.listen(0)
    port = deaf.local_address.ip_port
    # It is full
    queue = Array.new(4) do
      Socket.new(:INET, :STREAM).tap { |one| one.connect_nonblock(Addrinfo.tcp("127.0.0.1", port), exception: false) }
    end
    Pelton.run do
      error = assert_raises(Pelton::Sequel::ConnectionError) do
        Pelton::Sequel.connect("mysql://root@127.0.0.1:#{port}/test", timeout: 0.05)
      end

      assert_match(/no connection within 0.05 s/, error.message)
      assert_raises(Pelton::TimeoutError) do
        Pelton.timeout(0.05) { Pelton::Sequel.connect("mysql://root@127.0.0.1:#{port}/test") }
      end
    end
  ensure
    [*queue, deaf].compact.each(&:close)
  end

  private

  def load_client
    require "trilogy"
  rescue LoadError
    skip "the gem trilogy is not installed"
  end
end
