# frozen_string_literal: true

require "pelton"
require_relative "active_record/setup"

module Pelton
  # Support for Rails applications on Pelton. A Gemfile loads it by itself.
  #
  # In a program that uses Active Record without Rails, `require "pelton/active_record"`.
  module Rails
  end
end

if defined?(Rails::Railtie)
  require_relative "rails/railtie"
else
  # If Rails is loaded later, the application's settings take precedence.
  ActiveSupport.on_load(:before_configuration) { require_relative "rails/railtie" }
  Pelton::ActiveRecord::Setup.isolate
  Pelton::ActiveRecord::Setup.install
end
