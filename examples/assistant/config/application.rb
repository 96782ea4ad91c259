# frozen_string_literal: true

require_relative "boot"
require "rails"
%w[active_record active_job action_controller action_view].each { |part| require "#{part}/railtie" }
Bundler.require(*Rails.groups)
%w[propshaft solid_queue turbo-rails ruby_llm pelton/faraday].each { |feature| require feature }
RubyLLM.config.use_new_acts_as = true # it warns otherwise, used or not

module Assistant
  class Application < Rails::Application
    config.load_defaults 8.0
    config.eager_load = Rails.env.production?
    config.cache_classes = Rails.env.production?
    config.active_job.queue_adapter = :solid_queue
    config.solid_queue.connects_to = {database: {writing: :queue}}
    config.solid_queue.logger = ActiveSupport::TaggedLogging.new(Logger.new($stdout, level: :warn))
    config.secret_key_base = ENV.fetch("SECRET_KEY_BASE") { Rails.env.production? ? nil : "only for development" }
    config.hosts.clear
    config.logger = ActiveSupport::TaggedLogging.new(Logger.new($stdout))
    config.log_level = ENV.fetch("LOG_LEVEL", "info")
  end
end
