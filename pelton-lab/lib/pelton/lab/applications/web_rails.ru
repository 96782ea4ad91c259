# frozen_string_literal: true

# The page on Rails, in one file, with the middleware and settings of a new application in production, and Rack's
# compression.
require "action_controller/railtie"
require "action_view/testing/resolvers"
require "rack/deflater"
require_relative "messages"

class Application < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.eager_load = true
  config.consider_all_requests_local = false
  config.secret_key_base = "0" * 64
  config.log_level = :fatal
  config.logger = Logger.new(nil)
  config.hosts.clear
  config.middleware.insert_before 0, Rack::Deflater
  routes.append { get "/messages", to: "room#index" }
end

class RoomController < ActionController::Base
  prepend_view_path ActionView::FixtureResolver.new(
    "room/_message.html.erb" => Messages::MESSAGE,
    "room/index.html.erb" => "<%== Messages::HEAD %><body><p>signed in as <%= @user %>" \
      "</p>\n<%= render partial: \"room/message\", collection: Messages::LIST, as: :message %></body></html>\n"
  )

  def index
    @user = cookies[:user] || "nobody"
  end
end

Application.initialize!
run Rails.application
