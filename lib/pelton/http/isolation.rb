# frozen_string_literal: true

module Pelton
  module HTTP
    # Rails keeps a request's state (Current, Time.zone, the database connection) by thread by default, and I18n keeps the locale
    # by thread where Ruby has no fiber storage. But all requests of a process run on one thread here: while one waits, another
    # would see its state. This makes both keep it by fiber, and Sentry its hub, which has the scope of a request (user, tags, breadcrumbs).
    # @private
    module Isolation
      # I18n's configuration in a fiber-local, which begins empty with each request.
      module Locale
        def config = Thread.current[:pelton_i18n_config] ||= ::I18n::Config.new

        def config=(config)
          Thread.current[:pelton_i18n_config] = config
        end
      end

      # Sentry's hub in a fiber-local. Its own setting hub_isolation_level needs the fiber storage of Ruby 3.2, and a Sentry of 2026.
      module Hub
        def get_current_hub = initialized? && Thread.current[:pelton_sentry_hub] || clone_hub_to_current_thread

        def clone_hub_to_current_thread
          Thread.current[:pelton_sentry_hub] = get_main_hub.clone if initialized?
        end
      end

      class << self
        # Makes loaded libraries keep a request's state by fiber.
        def by_fiber
          by_fiber_in_active_support if defined?(::ActiveSupport::IsolatedExecutionState)
          ::I18n.singleton_class.prepend(Locale) if defined?(::I18n::Config) && !fiber_storage?
          ::Sentry.singleton_class.prepend(Hub) if defined?(::Sentry::Hub) && !hub_by_fiber?
        end

        private

        def fiber_storage? = Fiber.respond_to?(:[]) && ::I18n::Config.method_defined?(:owned_by?)

        def hub_by_fiber?
          ::Sentry.initialized? && ::Sentry.configuration.respond_to?(:hub_isolation_level) && ::Sentry.configuration.hub_isolation_level == :fiber
        end

        def by_fiber_in_active_support
          state = ::ActiveSupport::IsolatedExecutionState
          return if state.isolation_level == :fiber
          state.isolation_level = :fiber
          return unless defined?(::Rails::Application) # Active Support alone has no such file
          Pelton.logger.warn("Rails keeps the state of a request by fiber from now on, not by thread. " \
            "Set it yourself in config/application.rb: config.active_support.isolation_level = :fiber")
        end
      end
    end
  end
end
