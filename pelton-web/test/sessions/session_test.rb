# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebSessionTest < PeltonTest
  SECRETS = Pelton::Web::Secrets.new(["s" * 32])
  DAY = 86_400

  def session(token = nil, secrets: SECRETS, lifetime: DAY)
    Pelton::Web::Session.new(token, secrets: secrets, lifetime: lifetime)
  end

  # @return [String] the token of a session with these values
  def token(values = {user: 7, cart: [{id: 1}]}, **options) = session(**options).update(values).commit

  def test_values_come_back
    values = {"user" => 7, "name" => "é", "on" => true, "none" => nil, "rate" => 1.5, "cart" => [{"id" => 1}]}

    assert_equal values, session(token(values)).to_h
  end

  def test_this_request_reads_what_the_next_one_will
    one = session
    one[:cart] = {items: [{id: :first}]}

    assert_equal({"items" => [{"id" => "first"}]}, one["cart"])
    assert_equal one[:cart], session(one.commit)[:cart]
  end

  def test_what_was_not_asked_for_is_not_loaded
    one = session(token)

    refute_predicate one, :loaded?
    assert_equal false, one.commit
  end

  def test_what_was_only_read_is_not_sent
    one = session(token)

    assert_equal 7, one[:user]
    assert_equal [{"id" => 1}], one[:cart]
    assert_equal 1, one.dig(:cart, 0, "id")
    assert_nil one[:other]
    assert_equal false, one.commit
    assert_equal false, session.tap { |empty| empty[:user] }.commit
  end

  def test_what_was_set_to_what_it_was_is_not_sent
    one = session(token)
    one[:user] = 7
    one[:cart] << {"id" => 2}
    one[:cart].pop

    assert_equal false, one.commit
  end

  def test_a_change_deep_inside_is_sent
    one = session(token)
    one[:cart].first["id"] = 5
    text = one.commit

    assert_equal 5, session(text).dig(:cart, 0, "id")
    assert_equal false, one.commit, "twice"
  end

  def test_a_string_is_not_changed_in_place
    one = session(token({name: "Ada"}))

    assert_raises(FrozenError) { one[:name] << "!" }
  end

  def test_an_emptied_session_is_deleted
    assert_nil session(token).clear.commit
    assert_nil(session(token).tap { |one| one.keys.each { |key| one.delete(key) } }.commit)
    assert_equal false, session.clear.commit
  end

  def test_what_json_cannot_say
    [Object.new, Time.now, 1..2, Float::NAN, [Float::INFINITY], {a: Object}, "\xff", "\xff".b, 1r].each do |value|
      assert_raises(ArgumentError, value.inspect) { session[:a] = value }
    end
  end

  # Tampered, truncated, by another secret, expired, or made up.
  def test_what_is_no_session_is_an_empty_one
    text = token
    bad = [text.chop, text.succ, text.reverse, text[0, 40], "", "%%%", "\xff",
      token(secrets: Pelton::Web::Secrets.new(["t" * 32])), token(lifetime: -1),
      SECRETS.encrypt("{\"a\":1}", purpose: "cookie session", expires_at: Time.now + DAY)]
    bad.each do |one|
      loaded = session(one)

      assert_empty loaded.to_h, one.inspect
      assert_nil loaded.commit, "the client forgets it"
    end
  end

  def test_a_session_is_renewed_when_half_of_its_time_is_over
    late = token(lifetime: (DAY / 2) - 10)
    one = session(late)
    one[:user]
    renewed = one.commit

    assert_operator SECRETS.decrypt(renewed, purpose: "session").expires_at, :>, Time.now.to_i + DAY - 100
  end

  def test_a_session_of_an_old_secret_is_encrypted_by_the_new_one
    both = Pelton::Web::Secrets.new(["n" * 32, "s" * 32])
    one = session(token, secrets: both)

    assert_equal 7, one[:user]
    assert_equal 7, session(one.commit, secrets: Pelton::Web::Secrets.new(["n" * 32]))[:user]
  end

  def test_fetch
    one = session(token)

    assert_equal 7, one.fetch(:user)
    assert_equal 1, one.fetch(:other, 1)
    assert_equal "x", one.fetch(:other) { |key| "x" }
    assert_raises(KeyError) { one.fetch(:other) }
  end

  def test_logs_show_no_values
    one = session(token({name: "Ada"}))
    one[:name]

    assert_equal "#<Pelton::Web::Session name>", one.inspect
  end
end
