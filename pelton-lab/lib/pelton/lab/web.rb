# frozen_string_literal: true

require_relative "../lab"
require_relative "web/load"
require_relative "web/programs"
require_relative "web/server"

module Pelton
  module Lab
    # Declares an experiment with web servers: it runs only when it is named, since their clients take long and must be
    # installed.
    # @yieldparam programs [WebPrograms] how the servers start
    def self.web_experiment(name, &description)
      experiment(name, caller_locations(1, 1).first.absolute_path) do
        only_when_named
        instance_exec(WebPrograms, &description)
      end
    end
  end
end
