# frozen_string_literal: true

require "rack/handler"
require "pelton/http/rack_handler"

module Rack
  module Handler
    # `rackup -s pelton` with Rack 2, and `rails server -u pelton` with Rails 7.0. From Rack 3 on the gem rackup has the
    # handlers.
    module Pelton
      extend ::Pelton::HTTP::RackHandler
    end

    register :pelton, "Rack::Handler::Pelton"
  end
end
