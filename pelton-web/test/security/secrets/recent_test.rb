# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebSecretsRecentTest < PeltonTest
  def setup
    @recent = Pelton::Web::Secrets::Recent.new(2)
    @asked = []
  end

  def fetch(token, purpose = "p") = @recent.fetch(token, purpose) { (@asked << token) && "message of #{token}" }

  def test_a_message_is_asked_for_once
    assert_equal ["message of a"] * 2, Array.new(2) { fetch(+"a") }
    assert_equal ["a"], @asked
  end

  def test_what_is_not_authentic_is_not_kept
    2.times { assert_nil @recent.fetch("a", "p") { @asked << "a" and nil } }

    assert_equal %w[a a], @asked
    assert_equal 0, @recent.size
  end

  def test_another_purpose_asks_again
    fetch("a")

    assert_nil(@recent.fetch("a", "q") {})
    assert_equal "message of a", fetch("a")
    assert_equal ["a"], @asked
  end

  def test_what_is_used_stays_and_the_rest_goes
    8.times { |number| %w[used].push(number.to_s).each { |token| fetch(token) } }

    assert_equal 1, @asked.count("used")
    assert_operator @recent.size, :<=, 4
    fetch("0")

    assert_equal 2, @asked.count("0")
  end

  def test_a_token_that_no_cookie_can_hold_is_not_kept
    fetch("a" * 4097)

    assert_equal 0, @recent.size
    assert_equal "#<Pelton::Web::Secrets::Recent 0>", @recent.inspect
  end
end
