# frozen_string_literal: true

require "pelton"
require_relative "rails/database"

module Pelton
  # What a Rails application needs on Pelton. In an application's Gemfile it is found by itself.
  #
  # In a program that uses Active Record without Rails, `require "pelton/rails"` sets Active Record up ({Rails::Database}), before or after it is loaded.
  module Rails
  end
end

if defined?(Rails::Railtie)
  require_relative "rails/railtie"
else
  # Rails may be loaded later: then the application has the last word.
  ActiveSupport.on_load(:before_configuration) { require_relative "rails/railtie" }
  Pelton::Rails::Database.isolate
  Pelton::Rails::Database.install { (Rails.application if defined?(Rails.application))&.config&.pelton&.sqlite_locks != false }
end
