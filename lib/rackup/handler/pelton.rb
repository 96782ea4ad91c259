# frozen_string_literal: true

require "rackup/handler"
require "pelton/http/rack_handler"

module Rackup
  module Handler
    # `rackup -s pelton` and `rails server -u pelton`.
    module Pelton
      extend ::Pelton::HTTP::RackHandler
    end

    register :pelton, Pelton
  end
end
