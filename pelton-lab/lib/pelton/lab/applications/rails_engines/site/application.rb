# frozen_string_literal: true

# Alchemy, a content management system, in an application that brings its page's views. RAILTIE is what the
# application's Gemfile would bring for its server.
require_relative "../host"
require "alchemy_cms"
require ENV["RAILTIE"] if ENV["RAILTIE"]

Alchemy.config.user_class = "User"

class SiteApplication < Rails::Application
  Host.configure(self, __dir__)
  config.active_storage.service_configurations = {} # no page has a picture

  routes.append { mount Alchemy::Engine => "/" }
end

SiteApplication.initialize!
