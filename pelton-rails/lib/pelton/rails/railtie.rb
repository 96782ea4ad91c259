# frozen_string_literal: true

require "rails/railtie"
require_relative "../active_record/setup"
require_relative "advice"

# Rack 2, which Rails 7.0 has, knows the variable by its former name.
ENV["RACK_HANDLER"] ||= "pelton" if ENV["RACKUP_HANDLER"] == "pelton"

module Pelton
  module Rails
    # Sets up a Rails application before any of it is loaded:
    #
    # - state per fiber (`config.active_support.isolation_level = :fiber`), unless the application sets it;
    # - on Ruby 3.1, ConditionVariable and Monitor raise the error that interrupted their wait
    #   ({ActiveRecord::MutexSleep});
    # - waiting for SQLite's locks parks the fiber and can be interrupted ({ActiveRecord::SQLiteLocks});
    # - `:pelton` as a queue adapter, as an executor for asynchronous queries, and as Capybara's server in system tests;
    # - 504 for a request that its time limit ends, also during a query ({ActiveRecord::TimeLimits});
    # - with Active Record 7.0, whose pool knows only threads, each fiber has its own database connection
    #   ({ActiveRecord::FiberConnections});
    # - a request waits for a database connection as long as others return theirs ({ActiveRecord::ConnectionWaits});
    # - the connection pool's timeout error names the holders ({ActiveRecord::ConnectionHolders});
    # - cache versions without a database connection ({ActiveRecord::CacheVersions});
    # - actions of ActionController::Live run in fibers, and notice that their client has left ({LiveStreams});
    # - Action Cable's connections and channels run on {Pelton::Cable} ({Cable}); with `config.pelton.cable = false` its
    #   sockets are closed with code 1001 when the server stops ({CableSockets});
    # - Solid Queue's workers with `fibers: N` run their jobs in fibers ({SolidQueue}); `pelton_timeout 60` limits a
    #   job's time ({JobLimits});
    # - texts that a job writes and pages follow are columns of models ({ResumableStreams});
    # - where the server sends the files of `public` itself, Rails does not look for them, and `send_file` leaves its
    #   files to the server's `x_sendfile` ({PublicFiles});
    # - request bodies can be read twice, as on Puma: `request.raw_post` after `params`;
    # - at boot, a log line for each setting that blocks, with the fix ({Advice}).
    #
    # `config.pelton.sqlite_locks = false`, `config.pelton.solid_queue = false`, `config.pelton.spool = nil` and
    # `config.pelton.advice = false` turn parts off.
    class Railtie < ::Rails::Railtie
      config.pelton = ActiveSupport::OrderedOptions.new
      config.pelton.sqlite_locks = true
      config.pelton.spool = 131_072 # bytes of a request's body kept in memory; longer bodies go to a file
      config.pelton.advice = true
      config.pelton.cable = true
      config.pelton.solid_queue = true
      config.pelton.job_timeout = nil    # seconds; see JobLimits
      config.pelton.jobs_control = nil   # the address of a worker's control socket: see SolidQueue::RunningJobs
      config.pelton.cable_callbacks = 20 # calls of connections and channels at a time
      config.pelton.cable_limits = {}    # see Pelton::Cable::Server::LIMITS

      # Rails applies its setting only when the application is initialized, after its files are loaded.
      config.before_configuration do |application|
        application.config.active_support.isolation_level ||= :fiber
        ActiveRecord::Setup.isolate
      end

      initializer "pelton.database", before: "active_record.initialize_database" do |application|
        ActiveRecord::Setup.install { application.config.pelton.sqlite_locks }
        ActiveSupport.on_load(:active_record) do
          require_relative "../active_record/connections"
          ActiveRecord::Advice.silent = true # the application's advice names it at boot
          ActiveRecord::Connections.executor = application.executor
        end
      end

      # Rails would respond with 500.
      initializer "pelton.time_limits", before: "action_dispatch.configure" do |application|
        if application.config.respond_to?(:action_dispatch)
          application.config.action_dispatch.rescue_responses["Pelton::TimeoutError"] ||= :gateway_timeout
        end
      end

      # After the application's own settings: Rails builds its middleware next.
      initializer "pelton.public_files", before: :build_middleware_stack do |application|
        # other servers load nothing of Pelton::HTTP
        if application.config.respond_to?(:action_dispatch) && defined?(::Pelton::HTTP::Configuration)
          require_relative "public_files"
          PublicFiles.install(application.config, Pelton::HTTP.configuration, ::Rails.public_path)
        end
      end

      initializer("pelton.current_attributes") { require_relative "current_attributes" }

      initializer "pelton.live_streams" do |application|
        ActiveSupport.on_load(:action_controller, run_once: true) do
          require_relative "live_streams"
          LiveStreams.install(application.executor)
        end
      end

      initializer "pelton.cable" do |application|
        ActiveSupport.on_load(:action_cable) do
          require_relative "cable"
          Cable.install(application.config.pelton) if application.config.pelton.cable
        end
        ActiveSupport.on_load(:action_cable_connection) do
          require_relative "cable/versions"
          require_relative "cable_sockets"
          CableSockets.install(self) unless application.config.pelton.cable && Cable.supported?
        end
      end

      initializer "pelton.jobs", before: "active_job.set_configs" do
        ActiveSupport.on_load(:active_job) { require "active_job/queue_adapters/pelton_adapter" }
      end

      initializer "pelton.job_limits" do |application|
        ActiveSupport.on_load(:active_job) do
          require_relative "job_limits"
          JobLimits.install(application.config.pelton.job_timeout)
        end
      end

      initializer("pelton.resumable_streams") do
        require_relative "resumable_streams"
        ResumableStreams.install
      end

      initializer "pelton.solid_queue" do |application|
        ActiveSupport.on_load(:solid_queue) do
          require_relative "solid_queue"
          SolidQueue.install(control: application.config.pelton.jobs_control) if application.config.pelton.solid_queue
        end
      end

      # With Rack 2 the server does it.
      initializer "pelton.spool" do |application|
        if application.config.pelton.spool && defined?(Pelton::HTTP::Server)
          application.middleware.unshift(Pelton::HTTP::Spool, memory: application.config.pelton.spool)
        end
      end

      # Rails loads it with the system tests' class, after Capybara.
      ActiveSupport.on_load(:action_dispatch_system_test_case) { require_relative "capybara" }

      config.after_initialize do |application|
        Advice.new(application).log if application.config.pelton.advice && defined?(Pelton::HTTP::Launcher)
        if application.config.pelton.cable && defined?(::ActionCable::Engine)
          require_relative "cable/versions"
          Cable.warn_of_version
        end
      end
    end
  end
end
