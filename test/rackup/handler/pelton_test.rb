# frozen_string_literal: true

require_relative "../../test_helper"
require "rackup"

class RackupHandlerPeltonTest < PeltonTest
  def test_rackup_finds_it
    handler = Rackup::Handler.get("pelton")

    assert_equal "Rackup::Handler::Pelton", handler.name
    assert_includes handler.valid_options.keys, "Port=PORT"
  end
end
