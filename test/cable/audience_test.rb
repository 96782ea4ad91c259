# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/cable"

class CableAudienceTest < PeltonTest
  Audience = Pelton::Cable::Audience

  def encoded(extended, position) = JSON.parse(Audience.new("i", extended).encode("1", "s", position))

  def test_clients_of_the_extended_protocol_get_positions
    expected = {"identifier" => "i", "message" => 1, "stream_id" => "s", "epoch" => "e", "offset" => 5}

    assert_equal expected, encoded(true, "e:5")
    assert_equal expected.slice("identifier", "message"), encoded(true, nil)
    assert_equal expected.slice("identifier", "message"), encoded(false, "e:5")
  end

  def test_an_envelope
    assert_equal({"identifier" => "\"\n\u2028", "message" => [1]},
      JSON.parse(Audience.envelope("\"\n\u2028", "[1]")))
  end

  def test_the_same_identifier_and_protocol_are_one_audience
    assert_equal 2, [["i", true], ["i", true], ["i", false]].map { |facts| Audience.new(*facts) }.uniq.size
  end
end
