# frozen_string_literal: true

require "test_helper"
require "pelton/cable"

class CableSignedStreamsTest < PeltonTest
  KEY = "k" * 32

  def signed = Pelton::Cable::SignedStreams.new(KEY)

  def test_a_name_that_was_signed
    ["room:7", "Ünïcode", "a" * 1000, "--"].each { |name| assert_equal name, signed.verify(signed.sign(name)) }
    assert_nil Pelton::Cable::SignedStreams.new("x" * 32).verify(signed.sign("room:7"))
  end

  # Made by ActiveSupport::MessageVerifier.new("k" * 32, digest: "SHA256", serializer: JSON).generate("room:7"), as
  # turbo-rails does.
  def test_turbo_s_form
    name = "InJvb206NyI=--%s" % OpenSSL::HMAC.hexdigest("SHA256", KEY, "InJvb206NyI=")

    assert_equal name, signed.sign("room:7")
    assert_equal "room:7", signed.verify(name)
  end

  def test_names_that_are_not_signed
    good = signed.sign("room:7")
    changed = good.each_char.with_index.map do |character, index|
      good.dup.tap { |text| text[index] = (character == "A") ? "B" : "A" }
    end
    forged = ["{}", "[\"a\"]", "no JSON", "7"].map do |json|
      [json].pack("m0").then { |data| "#{data}--#{OpenSSL::HMAC.hexdigest("SHA256", KEY, data)}" }
    end

    [*changed, *forged, nil, 7, "", "--", good.upcase, good[..-2], good + "a", "#{good}\0", "x" * 5000,
      "\xff--#{"0" * 64}"].each { |name| assert_nil signed.verify(name), name.inspect }
  end

  def test_a_short_key
    assert_match(/use 32 or more/, assert_raises(ArgumentError) { Pelton::Cable::SignedStreams.new("short") }.message)
    refute_includes signed.inspect, KEY
  end
end
