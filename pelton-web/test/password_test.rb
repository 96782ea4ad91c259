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
    ["", nil, 7, ["a"], "a" * 73, "a\0b"].each do |text|
      assert_raises(ArgumentError, text.inspect) { Password.digest(text, cost: 4) }
      refute Password.right?(text, digest), text.inspect
    end
    assert Password.right?("a" * 72, digest)
    assert Password.right?("é" * 36, Password.digest("é" * 36, cost: 4))
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
