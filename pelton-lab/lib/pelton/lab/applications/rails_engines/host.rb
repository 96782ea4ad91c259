# frozen_string_literal: true

require "action_controller/railtie"
require "action_mailer/railtie"
require "active_job/railtie"
require "active_record/railtie"

$stdout.sync = true # not all servers say so, and all shall write their log alike
# As a new application has it. Rails 8 takes SQLite's lock when a transaction begins; without that, 7.2 answers 500
# where another one has written meanwhile.
sqlite = "&timeout=5000&default_transaction_mode=immediate" if ENV.fetch("DATABASE").start_with?("sqlite3:")
ENV["DATABASE_URL"] = "#{ENV["DATABASE"]}?pool=#{ENV.fetch("POOL")}#{sqlite}"

# What the applications around the engines have in common: the settings of a new Rails application in production.
module Host
  # What an engine declares for an asset pipeline, which none of the applications has: their pages link to files that
  # are not asked for.
  Assets = Struct.new(:precompile, :paths, :debug, :compile, :server)

  class << self
    # @param application [Class<Rails::Application>]
    # @param root [String] the folder of its config/ and app/
    def configure(application, root)
      config = application.config
      config.root = root
      config.load_defaults Rails::VERSION::STRING.to_f
      config.enable_reloading = false
      config.eager_load = true
      config.consider_all_requests_local = false
      config.secret_key_base = "0" * 64
      config.logger = ActiveSupport::TaggedLogging.new(ActiveSupport::Logger.new($stdout,
        formatter: Logger::Formatter.new))
      config.log_tags = [:request_id]
      config.log_level = :warn
      config.action_controller.perform_caching = true
      config.cache_store = ENV["REDIS"] ? [:redis_cache_store,
        {url: ENV["REDIS"], pool: {size: Integer(ENV.fetch("POOL"))}}] : :memory_store
      config.active_job.queue_adapter = :inline
      config.action_mailer.perform_deliveries = false
      config.assets = Assets.new([], [])
      config.middleware.use Rack::Deflater
    end

    # Creates the tables of an engine by its own migrations.
    # @param gems [Array<String>] the gems that have some
    def migrate(*gems)
      ActiveRecord::Migration.verbose = false
      ActiveRecord::MigrationContext.new(
        gems.map { |name| File.join(Gem.loaded_specs.fetch(name).full_gem_path, "db/migrate") }
      ).migrate
    end
  end
end
