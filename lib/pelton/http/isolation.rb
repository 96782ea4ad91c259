# frozen_string_literal: true

module Pelton
  module HTTP
    # Rails keeps what belongs to a request (Current, Time.zone, its connection to the database) by thread, unless it is told to keep
    # it by fiber; and so does I18n keep the locale, where Ruby has no storage for fibers. But all requests of a process run on
    # one thread here: while one waits, another would see what is its own.
    # @private
    module Isolation
      # Fiber-locals begin empty with each request.
      module Locale
        def config = Thread.current[:pelton_i18n_config] ||= ::I18n::Config.new

        def config=(config)
          Thread.current[:pelton_i18n_config] = config
        end
      end

      class << self
        # Has libraries that are loaded keep by fiber what they would keep by thread.
        def by_fiber
          by_fiber_in_rails if defined?(::ActiveSupport::IsolatedExecutionState)
          ::I18n.singleton_class.prepend(Locale) if defined?(::I18n::Config) && !fiber_storage?
        end

        private

        def fiber_storage? = Fiber.respond_to?(:[]) && ::I18n::Config.method_defined?(:owned_by?)

        def by_fiber_in_rails
          state = ::ActiveSupport::IsolatedExecutionState
          return if state.isolation_level == :fiber
          Pelton.logger.warn("Rails keeps what belongs to a request by fiber from now on, not by thread. " \
            "Say so yourself in config/application.rb: config.active_support.isolation_level = :fiber")
          state.isolation_level = :fiber
        end
      end
    end
  end
end
