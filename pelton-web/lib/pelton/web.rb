# frozen_string_literal: true

require "pelton"
require "pelton/http"
require "rack"

module Pelton
  # A web framework: routes, controllers, templates, sessions. Each request is a fiber, which may wait.
  module Web
  end
end

require_relative "web/error"
require_relative "web/settings"
require_relative "web/accept"
require_relative "web/problem"
require_relative "web/request"
require_relative "web/response"
require_relative "web/params"
require_relative "web/templates"
require_relative "web/stream"
require_relative "web/secrets"
require_relative "web/cache_control"
require_relative "web/cookies"
require_relative "web/session"
require_relative "web/flash"
require_relative "web/forgery"
require_relative "web/password"
require_relative "web/controller"
require_relative "web/deferral"
require_relative "web/rack_session"
require_relative "web/proxies"
require_relative "web/request_id"
require_relative "web/security_headers"
require_relative "web/hosts"
require_relative "web/rate_limit"
require_relative "web/body_limit"
require_relative "web/deadline"
require_relative "web/routes"
require_relative "web/error_page"
require_relative "web/slow_page"
require_relative "web/loading"
require_relative "web/reloading"
require_relative "web/application"
require_relative "web/fragments"
require_relative "web/fragments/pages"
require_relative "web/static"
