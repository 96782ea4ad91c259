# frozen_string_literal: true

# The same pages on Rails, in one file, with the middleware and settings of a new application in production.
require "action_controller/railtie"
require "active_record/railtie"

ENV["DATABASE_URL"] = "#{ENV.fetch("DATABASE")}?pool=#{ENV.fetch("POOL")}#{"&timeout=5000" if ENV["DATABASE"].start_with?("sqlite3:")}" # as a new application has it

class Application < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.eager_load = true
  config.consider_all_requests_local = false
  config.secret_key_base = "0" * 64
  config.log_level = :fatal
  config.logger = Logger.new(nil)
  config.active_support.isolation_level = :fiber if ENV["FIBERS"]
  routes.append do
    %w[users slow row range update insert].each { |page| get "/#{page}", to: "main##{page}" }
  end
end

class User < ActiveRecord::Base; end

class Note < ActiveRecord::Base; end

class MainController < ActionController::Base
  before_action { request.env["puma.mark_as_io_bound"]&.call } if ENV["IO_BOUND"]

  def users = render(plain: User.limit(5).map(&:username).join("\n"))

  def slow = render(plain: User.find_by_sql(ENV.fetch("SLOW")).map(&:username).join("\n"))

  def row = render(json: User.find(rand(1..10_000)).attributes)

  def range
    id = rand(1..9_000)
    render(json: User.where(id: id...(id + 20)).map(&:attributes))
  end

  def update
    User.transaction { 5.times { User.where(id: rand(1..10_000)).update_all(visits: rand(1000)) } }
    render(plain: "5")
  end

  def insert = render(plain: Note.create!(text: "hello").id.to_s)
end

Application.initialize!
run Rails.application
