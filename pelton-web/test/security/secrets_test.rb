# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebSecretsTest < PeltonTest
  OLD, NEW = "o" * 32, "n" * 64

  def setup
    @secrets = Pelton::Web::Secrets.new([NEW])
  end

  def test_a_text_comes_back
    token = @secrets.encrypt("grün", purpose: "p")

    assert_match(/\A[\w-]+\z/, token)
    assert_equal ["grün", nil, false], @secrets.decrypt(token, purpose: "p").to_a
    assert_equal "", @secrets.decrypt(@secrets.encrypt("", purpose: "p"), purpose: "p").text
    assert_equal "grün", @secrets.verify(@secrets.sign("grün", purpose: "p"), purpose: "p").text
  end

  def test_no_two_tokens_are_alike
    assert_equal 100, Array.new(100) { @secrets.encrypt("a", purpose: "p") }.uniq.size
  end

  def test_what_is_for_one_purpose_is_not_for_another
    assert_nil @secrets.decrypt(@secrets.encrypt("a", purpose: "p"), purpose: "q")
    assert_nil @secrets.verify(@secrets.sign("a", purpose: "p"), purpose: "q")
    assert_nil @secrets.decrypt(@secrets.sign("a", purpose: "p"), purpose: "p")
    assert_nil @secrets.verify(@secrets.encrypt("a", purpose: "p"), purpose: "p")
  end

  def test_each_change_of_a_byte_is_noticed
    {encrypt: :decrypt, sign: :verify}.each do |write, read|
      bytes = @secrets.public_send(write, "a secret", purpose: "p").tr("-_", "+/").then do |text|
        text.ljust((text.size + 3) / 4 * 4, "=").unpack1("m0")
      end
      bytes.bytesize.times do |index|
        changed = bytes.dup.tap { |copy| copy.setbyte(index, copy.getbyte(index) ^ 1) }

        assert_nil @secrets.public_send(read, [changed].pack("m0").tr("+/", "-_").delete("="), purpose: "p")
      end
    end
  end

  def test_each_cut_is_noticed
    {encrypt: :decrypt, sign: :verify}.each do |write, read|
      token = @secrets.public_send(write, "a secret", purpose: "p")
      token.size.times { |size| assert_nil @secrets.public_send(read, token[0, size], purpose: "p") }

      assert_nil @secrets.public_send(read, "#{token}AAAA", purpose: "p")
    end
  end

  def test_what_clients_make_up
    [nil, 7, "", "=", "%", "\0", "\xff", "a" * 10_000, "é" * 80, "A" * 69, "A" * 70, "A" * 71].each do |token|
      assert_nil @secrets.decrypt(token, purpose: "p")
      assert_nil @secrets.verify(token, purpose: "p")
    end
  end

  def test_it_expires
    past, future = Time.now.to_i, Time.now + 100

    assert_nil @secrets.decrypt(@secrets.encrypt("a", purpose: "p", expires_at: past), purpose: "p")
    assert_nil @secrets.verify(@secrets.sign("a", purpose: "p", expires_at: past), purpose: "p")
    assert_equal future.to_i,
      @secrets.decrypt(@secrets.encrypt("a", purpose: "p", expires_at: future), purpose: "p").expires_at
  end

  def test_the_first_secret_writes_and_all_read
    old = Pelton::Web::Secrets.new([OLD])
    both = Pelton::Web::Secrets.new([NEW, OLD])

    assert_equal ["a", nil, true], both.decrypt(old.encrypt("a", purpose: "p"), purpose: "p").to_a
    assert_equal ["a", nil, true], both.verify(old.sign("a", purpose: "p"), purpose: "p").to_a
    assert_equal ["a", nil, false], @secrets.decrypt(both.encrypt("a", purpose: "p"), purpose: "p").to_a
    assert_nil @secrets.decrypt(old.encrypt("a", purpose: "p"), purpose: "p")
  end

  # A token that was decrypted before is as good as one that was not.
  def test_what_was_decrypted_before
    token = @secrets.encrypt("a", purpose: "p", expires_at: Time.now + 100)
    same = Array.new(2) { @secrets.decrypt(token.dup, purpose: "p") }

    assert_same(*same)
    assert_predicate same.first, :frozen?
    assert_predicate same.first.text, :frozen?
    assert_nil @secrets.decrypt(token, purpose: "q")
    assert_equal "a", @secrets.decrypt(token, purpose: "p").text
    letters = [*"A".."Z", *"a".."z", *"0".."9", "-", "_"]
    token.size.times do |index|
      assert_nil @secrets.decrypt(token.dup.tap { |changed|
        changed[index] = letters[letters.index(token[index]) - 32]
      },
        purpose: "p")
    end
    assert_nil Pelton::Web::Secrets.new([OLD]).decrypt(token, purpose: "p"), "the secret is another one"
  end

  def test_it_expires_also_when_it_was_decrypted_before
    token = @secrets.encrypt("a", purpose: "p", expires_at: 1_000_001)
    texts = [1_000_000, 1_000_001].map do |now|
      Process.stub(:clock_gettime, now) { @secrets.decrypt(token, purpose: "p")&.text }
    end

    assert_equal ["a", nil], texts
  end

  def test_secrets_are_long
    [[], ["short"], [nil], [NEW, "x" * 31]].each do |texts|
      assert_raises(Pelton::Web::ConfigurationError) { Pelton::Web::Secrets.new(texts) }
    end
  end

  def test_a_setting_that_is_too_short_is_refused_and_not_shown
    error = assert_raises(Pelton::Web::ConfigurationError) { Pelton::Web::Settings.new.secrets = ["too short"] }

    assert_includes error.message, "32 bytes or more"
    refute_includes error.message, "too short"
  end

  def test_logs_do_not_show_them
    refute_includes @secrets.inspect, "@"
  end

  def test_the_default
    before = ENV.delete("SECRET_KEY_BASE")
    settings = Pelton::Web::Settings.new

    assert_equal 128, settings.secrets.first.size
    settings.environment = "production"

    assert_raises(Pelton::Web::ConfigurationError) { settings.secrets }
    ENV["SECRET_KEY_BASE"] = NEW

    assert_equal [NEW], settings.secrets
  ensure
    ENV["SECRET_KEY_BASE"] = before
  end
end
