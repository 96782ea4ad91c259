# frozen_string_literal: true

require "test_helper"

class DevicesControllerTest < ApplicationTest
  def setup
    header "User-Agent", "first <browser>"
    @user = sign_in
    in_another_browser { sign_in(@user) }
  end

  def signed_in_elsewhere? = in_another_browser { signed_in? }

  def test_they_are_listed
    get "/devices"

    assert_response 200, "first &lt;browser&gt;", "(this device)", "127.0.0.1"
  end

  def test_one_is_signed_out
    delete "/devices/#{SignIn.exclude(device: "first <browser>").or(device: nil).first.id}"

    assert_redirected_to "/devices"
    assert_predicate self, :signed_in?
    refute_predicate self, :signed_in_elsewhere?
  end

  def test_this_one_is_signed_out
    delete "/devices/#{SignIn.first(device: "first <browser>").id}"

    assert_redirected_to "/"
    refute_predicate self, :signed_in?
    assert_predicate self, :signed_in_elsewhere?
  end

  def test_all_others_are_signed_out
    delete "/devices/others"

    assert_redirected_to "/devices"
    assert_predicate self, :signed_in?
    refute_predicate self, :signed_in_elsewhere?
  end

  def test_other_users_devices
    stranger, = SignIn.start(create_user("eve@example.com"))
    delete "/devices/#{stranger.id}"

    assert_response 404
    delete "/devices/others"

    assert SignIn[stranger.id]
  end
end
