# frozen_string_literal: true

module Pelton
  module Integrations
    # Sentry keeps its hub, which has the scope of a request (user, tags, breadcrumbs), by thread. Here it is in a
    # fiber-local. Its own setting hub_isolation_level needs the fiber storage of Ruby 3.2, and a Sentry of 2026.
    module Sentry
      def get_current_hub = initialized? && Thread.current[:pelton_sentry_hub] || clone_hub_to_current_thread

      def clone_hub_to_current_thread
        Thread.current[:pelton_sentry_hub] = get_main_hub.clone if initialized?
      end

      by_fiber = ::Sentry.initialized? && ::Sentry.configuration.respond_to?(:hub_isolation_level) &&
        ::Sentry.configuration.hub_isolation_level == :fiber
      ::Sentry.singleton_class.prepend(self) unless by_fiber
    end
  end
end
