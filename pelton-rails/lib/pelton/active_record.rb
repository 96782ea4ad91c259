# frozen_string_literal: true

require "pelton"

# First, because without Bundler it decides which of the installed versions of Active Support is loaded.
Pelton.require_gem("active_record", "pelton/active_record needs Active Record: add gem \"activerecord\" to the Gemfile")

require_relative "active_record/setup"

module Pelton
  # Active Record on Pelton, with or without Rails: each fiber has its own connection, and waiting for it, for queries
  # and for SQLite's locks parks the fiber. The guide is docs/guides/active_record.md. Inside `module Pelton`, Active
  # Record itself is `::ActiveRecord`.
  module ActiveRecord
    autoload :ConnectionManagement, "pelton/active_record/connection_management"
    autoload :Merging, "pelton/active_record/merging"
  end
end

require_relative "active_record/connections"
Pelton::ActiveRecord::Setup.isolate unless defined?(Rails::Railtie) # Rails' own setting decides
Pelton::ActiveRecord::Setup.install
