# frozen_string_literal: true

# em-http-request's specs use the server mongrel, which cannot be built for newer Rubies. WEBrick replaces it, and
# behaves as mongrel in the points that the specs depend on.
require "rack"
require "webrick"

module Rack
  module Handler
    remove_const(:Mongrel) if autoload?(:Mongrel) || const_defined?(:Mongrel, false)

    class Mongrel < WEBrick
      # WEBrick's requests have no CONTENT_LENGTH when it is 0.
      module WithContentLength
        def meta_vars = super.merge("CONTENT_LENGTH" => self["content-length"]).compact
      end

      def self.run(app, options = {})
        server =
          ::WEBrick::HTTPServer.new(BindAddress: options[:Host], Port: options[:Port],
            Logger: ::WEBrick::Log.new(::File::NULL), AccessLog: [])
        server.mount("/", self, app)
        server.start
      end

      def service(request, response)
        response.request_uri = nil # or WEBrick rewrites Location
        response.keep_alive = false
        super(request.extend(WithContentLength), response)
      end
    end
  end
end
