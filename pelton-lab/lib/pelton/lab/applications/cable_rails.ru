# frozen_string_literal: true

# The same as cable.ru, by Rails' Action Cable. RAILTIE is what the application's Gemfile would bring for its server,
# ADAPTER that of cable.yml, DATABASE the database of QueryChannel, whose subscription takes one query. FASTLANE is for
# Action Cable's next version.
require "action_controller/railtie"
require "active_record/railtie" if ENV["DATABASE"]
require "action_cable/engine"
require ENV["RAILTIE"] if ENV["RAILTIE"]

ENV["DATABASE_URL"] = "#{ENV["DATABASE"]}?pool=#{ENV.fetch("POOL")}" if ENV["DATABASE"]

class CableApplication < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.enable_reloading = false
  config.eager_load = true
  config.secret_key_base = "0" * 64
  config.logger = ActiveSupport::TaggedLogging.new(ActiveSupport::Logger.new(File::NULL))
  config.log_level = :info
  config.action_cable.cable = {"adapter" => ENV.fetch("ADAPTER", "async"), "url" => ENV["REDIS"]}.compact
  config.action_cable.mount_path = "/cable"
  config.action_cable.disable_request_forgery_protection = true # no browser that could say where it comes from

  routes.append do
    get "/up", to: ->(_) { [200, {"content-type" => "text/plain"}, ["up"]] }
    post "/broadcast", to: (lambda do |env|
      Integer(env["QUERY_STRING"]).times { |number|
        ActionCable.server.broadcast("lab", {n: number, at: Process.clock_gettime(Process::CLOCK_MONOTONIC)})
      }
      [201, {"content-type" => "text/plain"}, ["sent"]]
    end)
  end
end

CableApplication.initialize!
ActionCable.server.config.fastlane_broadcasts_enabled = true if ENV["FASTLANE"]

module ApplicationCable
  class Connection < ActionCable::Connection::Base; end
end

class LabChannel < ActionCable::Channel::Base
  def subscribed = stream_from("lab")
end

if ENV["DATABASE"]
  class User < ActiveRecord::Base; end

  class QueryChannel < ActionCable::Channel::Base
    def subscribed = stream_from("user_#{User.find(params[:user]).id}")
  end
end

run Rails.application
