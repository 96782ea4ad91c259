# frozen_string_literal: true

# The same pages on Rails, in one file, with the middleware and settings of a new application in production.
require "action_controller/railtie"
require "active_record/railtie"
require ENV["RAILTIE"] if ENV["RAILTIE"] # pelton/rails, on Pelton

# as a new application has it
ENV["DATABASE_URL"] =
  "#{ENV.fetch("DATABASE")}?pool=#{ENV.fetch("POOL")}#{"&timeout=5000" if ENV["DATABASE"].start_with?("sqlite3:")}"

class Application < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.eager_load = true
  config.consider_all_requests_local = false
  config.secret_key_base = "0" * 64
  config.log_level = :fatal
  config.logger = Logger.new(nil)
  routes.append do
    %w[users slow insert].each { |page| get "/#{page}", to: "main##{page}" }
  end
end

class User < ActiveRecord::Base; end

class Note < ActiveRecord::Base; end

class MainController < ActionController::Base
  def users = render(plain: User.limit(5).map(&:username).join("\n"))

  def slow = render(plain: User.find_by_sql(ENV.fetch("SLOW")).map(&:username).join("\n"))

  def insert = render(plain: Note.create!(text: "hello").id.to_s)
end

Application.initialize!
run Rails.application
