# frozen_string_literal: true

require "test_helper"
require "pelton/cable"

class CableIdentityTest < PeltonTest
  Row = Struct.new(:pk)
  User = Struct.new(:id)
  Global = Struct.new(:to_gid_param)

  class Connection < Pelton::Cable::Connection
    identified_by :user, :device
  end

  Identity = Pelton::Cable::Identity

  def test_texts
    values = {a: "ann", b: :ann, c: 7, d: nil, e: true, f: Row.new(7), g: User.new([1, 2]), h: Global.new("gid")}

    assert_equal({"a" => "ann", "b" => "ann", "c" => "7", "d" => nil, "e" => "true", "f" => "CableIdentityTest::Row:7",
      "g" => "CableIdentityTest::User:[1, 2]", "h" => "CableIdentityTest::Global:gid"},
      Identity.texts(values))
    assert_match(/not by Object/, assert_raises(ArgumentError) { Identity.texts({user: Object.new}) }.message)
  end

  def test_two_connections_of_one_client
    assert_equal Identity.of(connection(User.new(1))), Identity.of(connection(User.new(1)))
    refute_equal Identity.of(connection(User.new(1))), Identity.of(connection(User.new(2)))
    refute_equal Identity.of(connection("ann", "phone")), Identity.of(connection("ann"))
    assert_nil Identity.of(connection(Object.new))
  end

  def test_match
    assert Identity.match?({"user" => "7"}, connection(7))
    assert Identity.match?({}, connection(7))
    refute Identity.match?({"user" => "7", "device" => "phone"}, connection(7))
    refute Identity.match?({"class" => "x"}, connection(7)), "no identifier"
    refute Identity.match?({"user" => "x"}, connection(Object.new))
  end

  private

  def connection(user, device = nil)
    Connection.allocate.tap do |one|
      one.user = user
      one.device = device
    end
  end
end
