# frozen_string_literal: true

require "pelton"
require "pelton/http"
require "rack"

module Pelton
  # A web framework: routes, controllers, templates and sessions. Each request runs in a fiber, which may wait.
  module Web
  end
end

require_relative "web/error"
require_relative "web/settings"
require_relative "web/request/accept"
require_relative "web/request"
require_relative "web/request/params"
require_relative "web/response"
require_relative "web/response/cache_control"
require_relative "web/response/deferral"
require_relative "web/response/problem"
require_relative "web/stream"
require_relative "web/fragments"
require_relative "web/fragments/pages"
require_relative "web/security/forgery"
require_relative "web/security/hosts"
require_relative "web/security/password"
require_relative "web/security/rate_limit"
require_relative "web/security/secrets"
require_relative "web/security/security_headers"
require_relative "web/sessions/cookies"
require_relative "web/sessions/session"
require_relative "web/sessions/flash"
require_relative "web/routes"
require_relative "web/views/templates"
require_relative "web/controller"
require_relative "web/middleware/body_limit"
require_relative "web/middleware/deadline"
require_relative "web/middleware/error_page"
require_relative "web/middleware/proxies"
require_relative "web/middleware/rack_session"
require_relative "web/middleware/request_id"
require_relative "web/middleware/slow_page"
require_relative "web/middleware/static"
require_relative "web/loading"
require_relative "web/development/reloading"
require_relative "web/application"
