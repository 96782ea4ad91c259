# frozen_string_literal: true

# What `rails server` loads before it looks for the server; the rest is loaded by config.ru.
require "logger" # Rails 7.0 relies on others for it
require "bundler/setup"
require "rails"
require "active_record/railtie"
require "active_storage/engine"
require "action_controller/railtie"
Bundler.require

class ResponsesApplication < Rails::Application
  config.root = File.expand_path("..", __dir__)
  config.load_defaults Rails::VERSION::STRING[/\d+\.\d+/].to_f
  config.eager_load = true
  config.logger = Logger.new(nil)
  config.public_file_server.enabled = true
  config.active_storage.service = :local
  config.active_storage.variant_processor = :mini_magick
  config.active_storage.track_variants = false
  config.active_job.queue_adapter = :inline
  config.session_store :cookie_store, key: "_responses"
end
