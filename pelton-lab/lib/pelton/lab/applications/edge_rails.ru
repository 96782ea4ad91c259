# frozen_string_literal: true

# A Rails application of ten pages and forty assets, in one file, with the middleware, the log and the settings of a new
# application in production. Its views are in edge_rails/. RAILTIE is what its Gemfile would bring for its server. What
# a server does not do itself is its work: STATIC sends assets, DEFLATE compresses pages.
require "action_controller/railtie"
require "active_record/railtie"
require_relative "edge"
require ENV["RAILTIE"] if ENV["RAILTIE"]

$stdout.sync = true # not all servers say so, and all shall write their log alike
folder = ENV.fetch("FOLDER")
# As a new application has it.
ENV["DATABASE_URL"] = "sqlite3:#{folder}/articles.sqlite3?pool=#{ENV.fetch("POOL")}&timeout=5000"

class EdgeApplication < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.enable_reloading = false
  config.eager_load = true
  config.consider_all_requests_local = false
  config.secret_key_base = "0" * 64
  config.logger = ActiveSupport::TaggedLogging.new(ActiveSupport::Logger.new($stdout, formatter: Logger::Formatter.new))
  config.log_tags = [:request_id]
  config.log_level = :info
  config.active_support.isolation_level = :fiber if ENV["FIBERS"]
  config.public_file_server.enabled = !ENV["STATIC"].nil?
  config.public_file_server.headers = {"cache-control" => "public, max-age=31536000, immutable"}
  config.paths["public"] = File.join(ENV.fetch("FOLDER"), "public")
  config.middleware.insert_after ActionDispatch::Executor, Rack::Deflater if ENV["DEFLATE"]

  routes.append do
    get "/hello", to: ->(_env) { [200, {"content-type" => "text/plain"}, [Edge::HELLO]] }
    resources :articles, only: :index
  end
end

EdgeApplication.initialize!

class Article < ActiveRecord::Base; end

class ArticlesController < ActionController::Base
  prepend_view_path File.expand_path("edge_rails", __dir__)
  layout "application"

  def index = @articles = Article.where(page: params[:page]).order(:id)
end

unless ActiveRecord::Base.connection.table_exists?(:articles)
  ActiveRecord::Base.connection.create_table(:articles) do |table|
    table.integer :page, index: true
    table.string :title
    table.text :body
  end
  Article.insert_all(Edge.articles)
end

run Rails.application
