# frozen_string_literal: true

module Pelton
  module Integrations
    # I18n keeps its configuration by thread where Ruby has no fiber storage. Here it is in a fiber-local, which begins
    # empty with each request.
    module I18n
      def config = Thread.current[:pelton_i18n_config] ||= ::I18n::Config.new

      def config=(config)
        Thread.current[:pelton_i18n_config] = config
      end

      ::I18n.singleton_class.prepend(self) unless Fiber.respond_to?(:[]) && ::I18n::Config.method_defined?(:owned_by?)
    end
  end
end
