# frozen_string_literal: true

require "pelton"
require_relative "rails/database"

module Pelton
  # Support for Rails applications on Pelton. A Gemfile loads it by itself.
  #
  # In a program that uses Active Record without Rails, `require "pelton/rails"` sets up Active Record ({Rails::Database}), whether it is loaded
  # before or after.
  module Rails
  end
end

if defined?(Rails::Railtie)
  require_relative "rails/railtie"
else
  # If Rails is loaded later, the application's settings take precedence.
  ActiveSupport.on_load(:before_configuration) { require_relative "rails/railtie" }
  Pelton::Rails::Database.isolate
  Pelton::Rails::Database.install { (Rails.application if defined?(Rails.application))&.config&.pelton&.sqlite_locks != false }
end
