# frozen_string_literal: true

# An application with connections and channels of all kinds, for cable_test.rb.
require "logger"
require "bundler/setup"
require "rails"
require "active_record/railtie"
require "active_job/railtie"
require "action_controller/railtie"
require "action_cable/engine"
Bundler.require
require "turbo-rails" if ENV["TURBO"]
require "solid_cable" if ENV["CABLE"] == "solid_cable"

class CableApplication < Rails::Application
  config.root = __dir__
  config.load_defaults Rails::VERSION::STRING[/\d+\.\d+/].to_f
  config.eager_load = ENV["RELOAD"].nil?
  config.cache_classes = ENV["RELOAD"].nil?
  config.logger = ActiveSupport::TaggedLogging.new(Logger.new("rails.log"))
  config.action_cable.allowed_request_origins = ["http://other.example"]
  config.action_cable.log_tags = [:cable, ->(request) { "for #{request.params["user"]}" }]
  config.pelton.cable = ENV["OFF"].nil?
  config.pelton.cable_callbacks = ENV.fetch("CALLBACKS", 20).to_i
  config.pelton.cable_limits = {timeout: Float(ENV["TIMEOUT"])} if ENV["TIMEOUT"]
end

ENV["DATABASE_URL"] ||= "sqlite3:#{__dir__}/cable.sqlite3?timeout=2000&pool=10"
Rails.application.config.middleware.use(Class.new do
  def initialize(app)
    @app = app
  end

  def call(env)
    status, headers, body = @app.call(env)
    [status, headers, Rack::BodyProxy.new(body) { NOTES << "closed: the body of #{env["PATH_INFO"]}" }]
  end
end)
Rails.application.initialize!

if ENV["CABLE"] == "solid_cable"
  ActiveRecord::Schema.verbose = false
  File.open("schema.lock", "w") do |lock| # of the workers, one makes the table
    lock.flock(File::LOCK_EX)
    made = ActiveRecord::Base.connection.table_exists?(:solid_cable_messages)
    unless made
      load File.join(Gem.loaded_specs["solid_cable"].full_gem_path,
        "lib/generators/solid_cable/install/templates/db/cable_schema.rb")
    end
  end
end

Pelton::PubSub.keep(/news|list/) if ENV["CABLE"] == "pelton"

# What happened, in order.
NOTES = [] # standard:disable Style/MutableConstant
%w[broadcast perform_action transmit transmit_subscription_confirmation transmit_subscription_rejection].each do |name|
  ActiveSupport::Notifications.subscribe("#{name}.action_cable") do |*, payload|
    sent = " #{payload[:via]} to #{payload[:sockets]}" if payload[:sockets]
    NOTES << "#{name} #{payload[:channel_class] || payload[:broadcasting]}#{sent}"
  end
end

class PagesController < ActionController::Base
  def broadcast
    ActionCable.server.broadcast(params[:on], params[:json] ? JSON.parse(params[:json]) : params[:text])
    head :no_content
  end

  def disconnect
    ActionCable.server.remote_connections.where(user: params[:user]).disconnect
    head :no_content
  end

  def restart
    ActionCable.server.restart
    head :no_content
  end

  def turbo
    cookies["user"] = "ann"
    position = Pelton::Rails::Cable.position("list")
    Turbo::StreamsChannel.broadcast_append_to("list", target: "list", html: "<li>since the render, </li>")
    render locals: {position: position}, inline: <<~HTML
      <!doctype html><link rel="icon" href="data:,"><script type="module" src="/script.js"></script>
      <%= turbo_stream_from "list", data: {position: position} %><ul id="list"></ul>
    HTML
  end

  def append
    Turbo::StreamsChannel.broadcast_append_to("list", target: "list", html: "<li>#{params[:text]}</li>")
    head :no_content
  end

  def facts
    render json: {notes: NOTES, connections: ActionCable.server.connections.map(&:user),
                  statistics: ActionCable.server.open_connections_statistics, process: Process.pid,
                  stats: Pelton::Metrics.stats.select { |name, _| name.start_with?("cable_") },
                  threads: Thread.list.size, running: CountingChannel.most}
  end
end

module ApplicationCable
  class Connection < ActionCable::Connection::Base
    identified_by :user
    rescue_from(ArgumentError) { |error| transmit({"rescued" => error.message}) }

    if respond_to?(:before_command)
      before_command { NOTES << "before a command of #{user}" }
      after_command { NOTES << "after a command" }
    end

    def connect
      ActiveRecord::Base.connection.select_value("SELECT 1")
      raise "no connection" if request.params["user"] == "failing"
      self.user = cookies["user"] || request.params["user"] || reject_unauthorized_connection
      logger.add_tags("tagged #{user}")
    end

    def disconnect = NOTES << "#{user} is gone, from #{request.params["user"]}"
  end

  class Channel < ActionCable::Channel::Base
  end
end

class NewsChannel < ApplicationCable::Channel
  before_subscribe { NOTES << "before" }
  after_subscribe { NOTES << "after" }
  after_unsubscribe { NOTES << "after the end" }
  rescue_from(KeyError) { |error| transmit({"rescued" => "key"}) }

  def subscribed
    ActiveRecord::Base.connection.select_value("SELECT 1")
    params["reject"] ? reject : stream_from(params["stream"] || "news")
  end

  def unsubscribed
    sleep 0.01
    NOTES << "unsubscribed #{user}"
    File.write("unsubscribed", "#{user}\n", mode: "a")
  end

  def echo(data) = transmit({"echo" => data["text"], "process" => Process.pid, "fiber" => Pelton.running?})

  def fetch(data) = data.fetch("missing")

  def fail(data) = raise(ArgumentError, "on purpose")

  def stop(data) = data["stream"] ? stop_stream_from(data["stream"]) : stop_all_streams

  # From another thread.
  def thread(data) = Thread.new { transmit("from a thread") }

  private

  def hidden(data) = transmit("hidden")
end

class BlockChannel < ApplicationCable::Channel
  UPPER = Struct.new(:name) do
    def self.decode(text) = text.upcase
  end

  def subscribed
    stream_from("raw") { |message| transmit({"raw" => message}) }
    stream_from("decoded", coder: ActiveSupport::JSON) do |message|
      sleep 0.001
      transmit({"n" => message["n"] * 2}) if message["n"] > 1
    end
    stream_from("upper", coder: UPPER)
    stream_from("callback", ->(message) { transmit({"callback" => message}) })
  end
end

class NeverChannel < ApplicationCable::Channel
  def subscribed
    stream_from("never")
    sleep if params["wait"]
  end

  def wait = sleep

  def now = transmit("now")
end

class ShoutingChannel < ApplicationCable::Channel
  def subscribed = stream_for("all")

  private

  def transmit(data, via: nil) = super({"loud" => data["text"].upcase}, via: via)
end

class ClockChannel < ApplicationCable::Channel
  periodically :tick, every: 0.02

  private

  def tick = transmit({"tick" => @tick = @tick.to_i + 1})
end

class CountingChannel < ApplicationCable::Channel
  @running = @most = 0

  class << self
    attr_accessor :running, :most
  end

  def subscribed
    CountingChannel.most = [CountingChannel.most, CountingChannel.running += 1].max
    sleep 0.01
    CountingChannel.running -= 1
  end
end

class BrokenChannel < ApplicationCable::Channel
  def subscribed = raise("on purpose")
end
