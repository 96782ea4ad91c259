# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRateLimitTest < PeltonTest
  def test_the_store
    settings = Pelton::Web::Settings.new

    assert_respond_to settings.rate_limit_store, :incr
    assert_raises(Pelton::Web::ConfigurationError) { settings.rate_limit_store = {} }
  end
end
