# frozen_string_literal: true

require "test_helper"

class SignInTest < ApplicationTest
  def setup
    @sign_in, @token = SignIn.start(create_user, device: "browser", address: "192.0.2.1")
  end

  def age(seconds) = SignIn.where(id: @sign_in.id).update(rotated_at: Time.now - seconds)

  # @return [Array(Integer, String), Array(Integer, nil), nil]
  def resume(token = @token) = SignIn.resume(@sign_in.id, token)&.then { |sign_in, new_token| [sign_in.id, new_token] }

  # It was checked before another request changed it.
  def test_no_device_for_an_old_password
    user, same = User.first, User.first
    user.change_password("another long sentence")

    assert_nil SignIn.start(same)
    assert_equal 0, SignIn.count
  end

  def test_the_token_is_not_in_the_database
    refute_includes @sign_in.reload.values.values, @token
    assert_equal [@sign_in.id, nil], resume
  end

  def test_the_digests_are_not_shown
    [@sign_in.to_json, @sign_in.inspect].each do |text|
      refute_includes text, "digest"
      refute_includes text, @sign_in.token_digest
      assert_includes text, "192.0.2.1"
    end
  end

  def test_a_wrong_token_ends_the_sign_in
    ["wrong", nil, "", @sign_in.token_digest].each do |token|
      setup_again

      assert_nil resume(token)
      assert_nil SignIn[@sign_in.id]
    end
    assert_nil SignIn.resume(0, @token)
  end

  def test_the_token_is_replaced_each_hour
    age(SignIn::ROTATION + 1)
    _, new = resume

    refute_equal @token, new
    assert_equal [@sign_in.id, nil], resume(new)
    assert_equal [@sign_in.id, nil], resume, "a request that was on its way"
  end

  def test_one_of_several_requests_replaces_it
    age(SignIn::ROTATION + 1)
    first, second = Array.new(2) { SignIn[@sign_in.id] }

    assert first.rotate_if_due
    assert_nil second.rotate_if_due
  end

  def test_a_new_token_that_was_lost_on_its_way
    age(SignIn::ROTATION + 1)
    resume
    age(SignIn::GRACE + 1)
    _, new = resume

    assert_equal [@sign_in.id, nil], resume(new)
  end

  # The device has the new token, so the old one must be a copy.
  def test_a_copied_token_ends_the_sign_in
    age(SignIn::ROTATION + 1)
    _, new = resume
    age(SignIn::GRACE + 1)
    resume(new)

    assert_nil resume
    assert_nil resume(new)
  end

  def test_it_ends_by_itself
    age(SignIn::LIFETIME + 1)

    assert_nil resume
    @sign_in, @token = SignIn.start(User.first, remembered: true)
    age(SignIn::LIFETIME + 1)

    assert resume
    age(SignIn::REMEMBERED + 1)

    assert_nil resume
  end

  def test_cleaning
    kept, = SignIn.start(User.first, remembered: true)
    [@sign_in, kept].each { |one| SignIn.where(id: one.id).update(rotated_at: Time.now - SignIn::LIFETIME - 1) }
    SignIn.clean

    assert_equal [kept.id], SignIn.select_map(:id)
  end

  def test_what_a_client_says_of_itself
    sign_in, = SignIn.start(User.first, device: "\xff\0#{"x" * 300}".b, address: nil)

    assert_equal "??#{"x" * 198}", sign_in.reload.device
  end

  private

  def setup_again
    @sign_in, @token = SignIn.start(User.first)
  end
end
