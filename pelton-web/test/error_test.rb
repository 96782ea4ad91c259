# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebErrorTest < PeltonTest
  def test_all_are_errors_of_pelton
    assert_operator Pelton::Web::ConfigurationError, :<, Pelton::Error
  end
end
