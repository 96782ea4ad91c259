# frozen_string_literal: true

# Rails keeps a request's state (Current, Time.zone, the database connection) by thread by default. But all requests of
# a process run on one thread here: while one waits, another would see its state.
unless ActiveSupport::IsolatedExecutionState.isolation_level == :fiber
  ActiveSupport::IsolatedExecutionState.isolation_level = :fiber
  if defined?(Rails::Application) # Active Support alone has no such file
    Pelton.logger.warn("Rails keeps the state of a request by fiber from now on, not by thread. " \
      "Set it yourself in config/application.rb: config.active_support.isolation_level = :fiber")
  end
end
