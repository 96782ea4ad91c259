# frozen_string_literal: true

# The application of benchmark/rails_cable.rb: a channel that streams one broadcasting, a path that broadcasts, and one that says what the process has spent.

ENV["RAILS_ENV"] = "production"
require "rails"
require "action_controller/railtie"
require "action_cable/engine"

class CableBenchmark < Rails::Application
  config.load_defaults 7.2
  config.root = __dir__
  config.eager_load = false
  config.secret_key_base = "0" * 64
  config.logger = Logger.new(File::NULL)
  config.hosts.clear
  config.active_support.isolation_level = defined?(Pelton) ? :fiber : :thread
  config.action_cable.disable_request_forgery_protection = true
  config.action_cable.cable = {"adapter" => "async"}
  config.action_cable.mount_path = "/cable"
  routes.append do
    get "broadcast", to: ->(env) do
      first, count, size = Rack::Utils.parse_query(env["QUERY_STRING"]).values_at("first", "count", "size").map(&:to_i)
      count.times { |number| ActionCable.server.broadcast("room", {number: first + number, text: "x" * size}) }
      [200, {}, ["broadcast"]]
    end
    get "spent", to: ->(_) { [200, {}, [Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID).to_s]] }
  end
end

class RoomChannel < ActionCable::Channel::Base
  def subscribed = stream_from("room")
end

Rails.application.initialize!
run Rails.application
