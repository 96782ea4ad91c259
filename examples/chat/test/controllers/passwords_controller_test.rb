# frozen_string_literal: true

require "test_helper"

class PasswordsControllerTest < ApplicationTest
  NEW = "another long sentence"

  def change(present: PASSWORD, password: NEW)
    patch("/password", user: {present_password: present, password: password})
  end

  def test_a_change_signs_all_other_devices_out
    user = sign_in
    in_another_browser { sign_in(user) }
    get "/password/edit"

    assert_response 200, "Present password"
    assert_equal [user.email], mails { change }.map(&:first)
    assert_redirected_to "/devices"
    assert_predicate self, :signed_in?
    refute in_another_browser { signed_in? }
    assert User.authenticate(user.email, NEW)
    assert_nil User.authenticate(user.email, PASSWORD)
  end

  def test_the_present_password_is_needed
    sign_in
    [{present: "wrong"}, {present: nil}, {present: ""}, {password: "short"}, {password: ""}].each do |wrong|
      change(**wrong)

      assert_response 422
    end
    assert User.authenticate("ann@example.com", PASSWORD)
  end

  def test_nobody_is_signed_in
    create_user
    change

    assert_redirected_to "/sign_in/new"
    assert User.authenticate("ann@example.com", PASSWORD)
  end

  def test_not_too_often
    sign_in
    11.times { change(present: "wrong") }

    assert_response 429
  end
end
