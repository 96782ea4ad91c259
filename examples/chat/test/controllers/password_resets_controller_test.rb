# frozen_string_literal: true

require "test_helper"

class PasswordResetsControllerTest < ApplicationTest
  NEW = "another long sentence"

  def ask(email = "ann@example.com") = post("/password_resets", password_reset: {email: email})

  def choose(token, password = NEW) = patch("/password_resets/#{token}", user: {password: password})

  def test_a_link_comes_by_mail_and_is_good_once
    user = create_user
    in_another_browser { sign_in(user) }
    header "Host", "evil.example"
    address, _, text = mails { ask(" ANN@example.com") }.first

    assert_equal "ann@example.com", address
    link = text[%r{^http\S+}]

    assert_operator link, :start_with?, app.settings.base_url
    header "Host", "localhost"
    get link.delete_prefix(app.settings.base_url)

    assert_response 200, "New password"
    assert_equal "no-referrer", response["referrer-policy"]
    assert_equal "no-store", response["cache-control"]
    token = link[%r{resets/([^/]+)/}, 1]
    choose(token, "short")

    assert_response 422, "too short"
    assert_equal 1, mails { choose(token) }.size
    assert_redirected_to "/sign_in/new"
    assert User.authenticate(user.email, NEW)
    refute in_another_browser { signed_in? }
    choose(token, "yet another sentence")

    assert_redirected_to "/password_resets/new"
    assert User.authenticate(user.email, NEW)
  end

  def test_the_answer_is_the_same_for_nobody
    create_user
    answers = %w[ann@example.com bob@example.com].map do |email|
      mails { ask(email) }
      follow_redirect!
      response.body
    end

    assert_equal 1, answers.uniq.size
    assert_empty mails { ask("bob@example.com") }
  end

  def test_links_that_are_not_good
    user = create_user
    token = PasswordReset.token(user)
    changed = token.dup.tap { |text| text[20] = (text[20] == "a") ? "b" : "a" }
    old = Time.stub(:now, Time.now - PasswordReset::LIFETIME - 1) { PasswordReset.token(user) }
    ["x", changed, old].each do |wrong|
      choose(wrong)

      assert_redirected_to "/password_resets/new"
    end
    user.update(email: "new@example.com")
    choose(token)

    assert_redirected_to "/password_resets/new"
    assert User.authenticate("new@example.com", PASSWORD)
  end

  def test_not_too_often
    6.times { ask }

    assert_response 429
  end
end
