# frozen_string_literal: true

# The application of Soak::Jobs: texts that jobs receive of an upstream, in a PostgreSQL, and pages that follow them.
require "bundler/setup"
require "logger"
require "rails"
require "active_record/railtie"
require "active_job/railtie"
require "action_controller/railtie"
require "solid_queue"
require "pg"
Bundler.require

class SoakApplication < Rails::Application
  config.root = __dir__
  config.eager_load = false
  config.logger = Logger.new($stderr)
  config.log_level = :warn
  config.active_job.queue_adapter = :solid_queue
end
SoakApplication.initialize!
SolidQueue.process_heartbeat_interval = 1.second
SolidQueue.process_alive_threshold = 10.seconds

class SoakMessage < ActiveRecord::Base
  resumable_stream :content
end

# A run that has come to its end.
class SoakEnd < ActiveRecord::Base; end

# Receives "<number>:0 <number>:1 ..." and is tried again until it has all of it.
class SoakJob < ActiveJob::Base
  retry_on StandardError, wait: 1, attempts: 1000
  pelton_timeout 20

  def perform(message)
    written = message.content_stream.write do |out|
      client = Pelton::HTTP::Client.new(ENV.fetch("UPSTREAM"), read_timeout: 3)
      ended = false
      client.get("/#{message.id}", stream: true).each_event do |event|
        (event.type == "end") ? ended = true : out << event.data
      end
      raise IOError, "the stream broke off" unless ended
    end
    SoakEnd.create!(message_id: message.id) if written
  end
end

class SoakMessagesController < ActionController::Base
  def show = follow_stream(SoakMessage.find(params[:id]), :content, turbo: false, every: 1)
end

SoakApplication.routes.draw { get "/:id", to: "soak_messages#show" }
