# frozen_string_literal: true

require_relative "test_helper"
require "pelton"

class AddressTest < PeltonTest
  def test_tcp_and_tls
    assert_equal ["127.0.0.1", 80, nil, false], facts("tcp://127.0.0.1:80")
    assert_equal ["::1", 443, nil, true], facts("ssl://[::1]:443")
    assert_equal ["localhost", 0, nil, false], facts("tcp://localhost:0/")
    assert_equal 65_535, Pelton::Address.new("tcp://localhost:65535").port
  end

  def test_unix
    assert_equal [nil, nil, "/tmp/a b", false], facts("unix:///tmp/a b")
    assert_equal [nil, nil, "relative", false], facts("unix://relative")
  end

  def test_strings_that_are_no_address
    ["127.0.0.1:80", "tcp://127.0.0.1", "tcp://127.0.0.1:65536", "tcp://::1:80", "tcp://a b", "udp://127.0.0.1:80",
      "unix://", ""].each do |text|
      error = assert_raises(ArgumentError, text) { Pelton::Address.new(text) }
      assert_includes error.message, text
    end
  end

  def test_messages_show_no_password
    {"tcp://ann:s3cret@127.0.0.1:80" => "tcp://ann:...@127.0.0.1:80", "ann:s3c@ret@127.0.0.1:80" => "...@127.0.0.1:80",
     "pg://s3cret@h" => "...@h", "pg://ann:s3cret" => "pg://ann:...",
     "pg://h/d?password=s3cret" => "pg://h/d?...", "pg://ann:s3?cr@h" => "pg://ann:...@h",
     "pg://h:5432/d" => "pg://h:5432/d", "pg://h:1,i:2/d" => "pg://h:1,i:2/d", "tcp://[::1]:80" => "tcp://[::1]:80",
     "pg:ann:s3cret@h/d" => "...@h/d"}.each { |text, shown| assert_equal shown, Pelton::Address.without_secrets(text) }
    assert_includes assert_raises(ArgumentError) { Pelton::Address.new("tcp://ann:s3cret@127.0.0.1:80") }.message,
      "tcp://ann:...@127.0.0.1:80"
  end

  def test_for_the_system
    assert_equal ["::1", 80], Pelton::Address.new("tcp://[::1]:80").to_addrinfo.ip_unpack
    assert_equal "/tmp/s", Pelton::Address.new("unix:///tmp/s").to_addrinfo.unix_path
    assert_raises(Pelton::ResolutionError) { Pelton::Address.new("tcp://no such name.invalid:1").to_addrinfo }
  end

  def test_localhost_is_where_most_look_for_it
    both = [Addrinfo.tcp("::1", 5), Addrinfo.tcp("127.0.0.1", 5)]
    Addrinfo.stub(:getaddrinfo, both) do
      assert_equal ["127.0.0.1", "::1"],
        %w[localhost other].map { |name| Pelton::Address.new("tcp://#{name}:5").to_addrinfo.ip_address }
    end
    Addrinfo.stub(:getaddrinfo, both.first(1)) do
      assert_equal "::1", Pelton::Address.resolve("localhost", 5).ip_address
    end
  end

  private

  def facts(text)
    address = Pelton::Address.new(text)
    [address.host, address.port, address.path, address.tls?]
  end
end
