# frozen_string_literal: true

# em-http-request's specs are served by mongrel, which newer Rubies cannot build: WEBrick serves them as well.
require "rack"
require "webrick"

module Rack
  module Handler
    remove_const(:Mongrel) if autoload?(:Mongrel) || const_defined?(:Mongrel, false)

    class Mongrel
      def self.run(app, options = {})
        WEBrick.run(app, **options, Logger: ::WEBrick::Log.new(::File::NULL), AccessLog: [])
      end
    end
  end
end
