# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebSettingsTest < PeltonTest
  def settings = @settings ||= Pelton::Web::Settings.new

  def test_defaults_and_values
    assert_equal Dir.pwd, settings.root
    assert_nil settings.base_url
    settings.base_url = "https://a.example"

    assert_equal "https://a.example", settings.base_url
  end

  def test_the_environment_is_rack_s_or_development
    before = ENV.delete("RACK_ENV")
    assert_equal "development", settings.environment
    ENV["RACK_ENV"] = "test"
    assert_equal "test", settings.environment
  ensure
    ENV["RACK_ENV"] = before
  end

  def test_a_wrong_value_is_refused
    assert_match(/settings.base_url must begin/,
      assert_raises(Pelton::Web::ConfigurationError) { settings.base_url = "a.example" }.message)
    assert_raises(Pelton::Web::ConfigurationError) { settings.root = nil }
  end

  def test_an_unknown_name_is_refused
    assert_raises(Pelton::Web::ConfigurationError) { settings.rot = "/" }
    assert_raises(Pelton::Web::ConfigurationError) { settings.rot }
    refute_respond_to settings, :rot
  end

  def test_a_booted_application_s_settings_are_frozen
    settings.freeze

    assert_equal Dir.pwd, settings.root
    assert_raises(Pelton::Web::ConfigurationError) { settings.root = "/" }
  end

  def test_a_setting_that_is_not_known_is_named
    error = assert_raises(Pelton::Web::ConfigurationError) { settings.trusted_proxy = [] }

    assert_includes error.message, "there is no setting trusted_proxy; did you mean trusted_proxies?"
    assert_includes assert_raises(Pelton::Web::ConfigurationError) { settings.xyzzy = 1 }.message,
      "there is no setting xyzzy (there are "
  end

  def test_the_defaults_of_a_booted_application_stay
    folder = settings.freeze.root
    Dir.chdir("/") do
      assert_equal folder, settings.root
      assert_equal "/", settings.dup.root
    end
  end

  def test_a_copy_is_of_its_own
    settings.root = "/a"
    copy = settings.dup
    copy.root = "/b"

    assert_equal "/a", settings.root
    assert_equal "/b", copy.root
  end
end
