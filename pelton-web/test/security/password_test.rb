# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebPasswordTest < PeltonTest
  Password = Pelton::Web::Password

  def test_a_password_is_right_or_wrong
    Pelton.run do
      digest = Password.digest("correct horse", cost: 4)

      assert_match(/\A\$2[aby]\$04\$/, digest)
      assert Password.right?("correct horse", digest)
      refute Password.right?("correct horsf", digest)
      refute_equal digest, Password.digest("correct horse", cost: 4)
    end
  end

  # The digest of nobody has the cost of all others: the work is the same, so nobody learns which users exist.
  def test_a_user_who_does_not_exist
    checked = []
    watch = Module.new { define_method(:==) { |other| checked << cost and super(other) } }
    require "bcrypt"
    Class.new(BCrypt::Password).then do |watched|
      watched.prepend(watch)
      Password.stub(:bcrypt, watched) do
        [nil, "", "no digest", "$2a$04$short"].each { |digest| refute Password.right?("x", digest) }
      end
    end

    assert_equal [Password::COST] * 4, checked
  end

  def test_what_cannot_be_a_password
    digest = Password.digest("a" * 72, cost: 4)
    ["", nil, 7, ["a"], "a" * 1025].each do |text|
      assert_raises(ArgumentError, text.inspect) { Password.digest(text, cost: 4) }
      refute Password.right?(text, digest), text.inspect
    end
  end

  # bcrypt itself would take all of these texts for the same.
  def test_all_bytes_of_a_long_password_count
    long = "é" * 36 + "horse"
    texts = ["a" * 72, "a" * 73, "a" * 74, "a" * 1024, "a\0b", "a\0c", "\0", long, long + "s", "\xff" * 80]
    digests = texts.to_h { |text| [text, Password.digest(text, cost: 4)] }
    texts.product(texts) do |text, other|
      assert_equal text == other, Password.right?(text, digests.fetch(other)), [text, other].inspect
    end
  end

  # Otherwise a hash that another site has lost would be the password of the same user here.
  def test_no_hash_of_a_long_password_is_the_password
    long = "a" * 100
    digest = Password.digest(long, cost: 4)
    %w[SHA256 SHA384 SHA512].each { |kind| refute Password.right?(OpenSSL::Digest.base64digest(kind, long), digest) }
  end

  # Digests of other programs and of earlier versions stay good.
  def test_short_passwords_are_bcrypt_s
    require "bcrypt"
    assert_operator BCrypt::Password.new(Password.digest("x" * 72, cost: 4)), :==, "x" * 72
    assert Password.right?("secret", BCrypt::Password.create("secret", cost: 4).to_s)
  end

  def test_another_cost
    Password.cost = 4

    assert_match(/\A\$2[aby]\$04\$/, Password.digest("x"))
    [3, 32, "4", nil].each { |cost| assert_raises(ArgumentError) { Password.cost = cost } }
    assert_equal 4, Password.cost
  ensure
    Password.cost = Password::COST
  end

  def test_the_loop_goes_on_meanwhile
    order = []
    Pelton.run do
      task = Pelton.spawn { order << Password.right?("x", nil) }
      Pelton.spawn { order << :other }.await
      task.await
    end

    assert_equal [:other, false], order
  end

  def test_the_same_text
    assert Password.same?("a", "a")
    [["a", "b"], ["a", "aa"], ["a", nil], ["", "a"]].each { |one, other| refute Password.same?(one, other) }
  end
end
