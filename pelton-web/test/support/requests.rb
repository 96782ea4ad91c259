# frozen_string_literal: true

require "test_helper"
require "rack/lint"
require "rack/mock_request"
require "pelton/web"
require_relative "../../../test/support/http/servers"

# Requests to an application in the same process, through Rack::Lint, as a browser sends them from the site's own pages.
module WebRequests
  include HttpServers

  BROWSER = {"HTTP_SEC_FETCH_SITE" => "same-origin"}.freeze

  # @param options [Hash] of Rack::MockRequest.env_for: `input:`, `params:` and entries of the env; nil leaves one out
  # @return [Rack::MockResponse]
  def request(app, verb, path, **options)
    env = BROWSER.merge(options.select { |name, _| name.is_a?(String) }).compact
    Rack::MockRequest.new(Rack::Lint.new(app)).request(verb, path,
      env.merge(options.reject { |name, _| name.is_a?(String) }))
  end

  # Serves an application by Pelton, on a reactor of this thread.
  #
  # @yieldparam url [String]
  # @yieldparam server [Pelton::HTTP::Server]
  def with_server(app)
    serving_here(app) { |port, server| yield "http://127.0.0.1:#{port}", server }
  end
end

# A test wants to see the program's errors, in whatever environment.
Pelton::Web::Application.settings.raise_errors = true
