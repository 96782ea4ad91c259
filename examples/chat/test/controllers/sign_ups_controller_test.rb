# frozen_string_literal: true

require "test_helper"

class SignUpsControllerTest < ApplicationTest
  def sign_up(name: "Ann", email: "ann@example.com", password: PASSWORD)
    post("/sign_up", user: {name: name, email: email, password: password})
  end

  def test_a_new_user_is_signed_in
    get "/sign_up/new"

    assert_response 200, "minlength=\"12\""
    sign_up

    assert_redirected_to "/"
    assert_predicate self, :signed_in?
    assert_equal ["ann@example.com"], User.select_map(:email)
  end

  def test_what_is_wrong_is_shown_and_the_password_is_not
    sign_up(password: "short")

    assert_response 422, "too short", "ann@example.com"
    refute_includes response.body, "value=\"short\""
    assert_equal 0, User.count
  end

  def test_an_address_that_is_taken
    create_user
    sign_up(name: "Another", email: "ANN@example.com")

    assert_response 422, "taken"
    assert_equal 1, User.count
  end

  def test_a_name_that_is_taken
    create_user
    sign_up(name: " ann ", email: "another@example.com")

    assert_response 422, "is taken: add something, as in &quot;Ann Smith (Sales)&quot;", "another@example.com",
      "aria-describedby=\"user_name_error\""
    assert_equal 1, User.count
  end

  def test_other_attributes_are_not_taken
    post "/sign_up", user: {name: "Ann", email: "ann@example.com", password: PASSWORD, id: 77, password_digest: "x"}

    refute_equal 77, User.first.id
    assert User.authenticate("ann@example.com", PASSWORD)
  end

  def test_the_first_user_is_told_to_be_the_administrator
    get "/sign_in/new"

    assert_response 200, "the first user is the administrator"
    get "/sign_up/new"

    assert_response 200, "you will be the administrator"
    sign_up
    follow_redirect! while response.redirect?

    assert_includes response.body, "You are the administrator."
    get "/sign_up/new"

    refute_includes response.body, "you will be"
    get "/sign_in/new"

    refute_includes response.body, "the first user"
  end

  def test_a_form_of_another_site_is_refused
    header "Sec-Fetch-Site", "cross-site"
    sign_up

    assert_response 403
    assert_equal 0, User.count
  end

  def test_not_too_often
    11.times { sign_up(password: "short") }

    assert_response 429
  end
end
