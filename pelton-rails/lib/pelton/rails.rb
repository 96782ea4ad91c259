# frozen_string_literal: true

require "pelton"

module Pelton
  # What a Rails application needs on Pelton. In an application's Gemfile it is found by itself.
  module Rails
  end
end

require_relative "rails/railtie" if defined?(::Rails::Railtie)
