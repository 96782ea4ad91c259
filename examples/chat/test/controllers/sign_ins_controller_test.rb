# frozen_string_literal: true

require "test_helper"

class SignInsControllerTest < ApplicationTest
  def test_who_has_no_account_finds_the_way_to_one
    get "/sign_in/new"

    assert_response 200, "href=\"/sign_up/new\""
  end

  def try(email: "ann@example.com", password: PASSWORD, **more)
    post("/sign_in", sign_in: {email: email, password: password, **more})
  end

  def test_in_and_out
    sign_in

    assert_predicate self, :signed_in?
    delete "/sign_in"

    assert_redirected_to "/"
    refute_predicate self, :signed_in?
    assert_equal 0, SignIn.count
  end

  # A copied cookie is worthless after the sign-out.
  def test_a_copied_cookie_after_the_sign_out
    sign_in
    copy = response["set-cookie"]
    delete "/sign_in"
    clear_cookies
    Array(copy).each { |line| set_cookie(line) }

    refute_predicate self, :signed_in?
  end

  def test_the_answer_is_the_same_for_a_wrong_password_and_for_nobody
    create_user
    pages = [["ann@example.com", "wrong"], ["bob@example.com", PASSWORD]].map do |email, password|
      try(email: email, password: password)

      assert_response 422, "The address or the password is wrong."
      response.body.sub(email, "")
    end

    assert_equal 1, pages.uniq.size
    refute_predicate self, :signed_in?
  end

  def test_back_to_where_the_user_wanted_to_go
    get "/devices?a=1"

    assert_redirected_to "/sign_in/new"
    sign_in

    assert_redirected_to "/devices?a=1"
  end

  # For browsers, "//evil.example" is another host.
  def test_back_to_this_host_only
    ["//evil.example/devices", "/devices?#{"a" * 1000}"].each do |address|
      get "/devices"
      get address
    end
    sign_in

    assert_redirected_to "/devices"
  end

  def test_nothing_remains_of_the_session_before
    get "/devices"
    sign_in
    delete "/sign_in"
    sign_in(User.first)

    assert_redirected_to "/"
  end

  def test_programs_get_401
    header "Accept", "application/json"
    get "/devices"

    assert_response 401, "Sign in first."
    assert_equal "application/problem+json", response["content-type"]
  end

  def test_the_cookie
    sign_in
    cookie = Array(response["set-cookie"]).grep(/\Asign_in=/).first

    assert_match(/; httponly; samesite=lax\z/, cookie)
    refute_match(/max-age/i, cookie)
    sign_in(User.first, remember: "1")

    assert_includes Array(response["set-cookie"]).grep(/\Asign_in=/).first, "; max-age=#{SignIn::REMEMBERED};"
    post "/sign_in", {sign_in: {email: User.first.email, password: PASSWORD}}, "rack.url_scheme" => "https",
      "HTTPS" => "on"

    assert_match(/\A__Host-sign_in=.*; secure; httponly/, Array(response["set-cookie"]).grep(/sign_in=/).last)
  end

  def test_a_page_with_a_user_is_in_no_shared_cache
    sign_in
    get "/"

    assert_match(/private/, response["cache-control"])
    assert_match(/cookie/i, response["vary"])
  end

  def test_a_token_that_was_replaced_reaches_the_browser
    sign_in
    SignIn.dataset.update(rotated_at: Time.now - SignIn::ROTATION - 1)
    2.times { assert_predicate self, :signed_in? }
    SignIn.dataset.update(rotated_at: Time.now - SignIn::GRACE - 1)
    2.times { assert_predicate self, :signed_in? }
  end

  def test_cookies_that_nobody_has_made
    sign_in
    ["x", "", "1", "a" * 5000].each do |value|
      clear_cookies
      set_cookie "sign_in=#{value}"

      refute_predicate self, :signed_in?
    end
    assert_equal 1, SignIn.count
  end

  def test_not_too_often_from_one_address
    create_user
    10.times { |number| try(email: "#{number}@example.com") }
    try

    assert_response 429, "Try again later"
    refute_predicate self, :signed_in?
  end

  # Also for an unknown account, so that the response reveals nothing.
  def test_not_too_often_for_one_account
    create_user
    %w[ann@example.com nobody@example.com].each do |email|
      statuses = Array.new(21) do |number|
        post "/sign_in", {sign_in: {email: email.upcase, password: "wrong"}}, "REMOTE_ADDR" => "192.0.2.#{number}"
        response.status
      end

      assert_equal [422] * 20 + [429], statuses
    end
  end

  # The check takes a while.
  def test_a_password_that_is_changed_while_it_is_checked
    user = create_user
    right = Pelton::Web::Password.method(:right?)
    change = ->(*arguments) { right.call(*arguments).tap { User[user.id].change_password("another long sentence") } }
    Pelton::Web::Password.stub(:right?, change) { try }

    assert_response 422
    assert_equal 0, SignIn.count
  end

  def test_what_is_no_form
    ["/sign_in", "/sign_in?sign_in=x", "/sign_in?sign_in[email][]=x"].each do |path|
      post path

      assert_response 422
    end
  end
end
