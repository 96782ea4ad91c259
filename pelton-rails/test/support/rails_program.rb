# frozen_string_literal: true

require "test_helper"
require_relative "../../../test/support/gem_program"

# Programs with the gems of Rails, in separate processes. `bin/setup downstream` brings these gems.
module RailsProgram
  include GemProgram

  # The version that most tests take: the newest for this Ruby. Each has a Gemfile, such as `gemfiles/rails_8_1.rb`;
  # that of 7.2 is `gemfiles/rails.rb`.
  VERSION = (RUBY_VERSION < "3.2") ? "7.2" : "8.1"
  ENVIRONMENT = {"BUNDLE_WITHOUT" => ENV["BUNDLE_WITHOUT"], "RAILS_ENV" => "production",
                 "SECRET_KEY_BASE" => "0" * 64}.freeze

  # @return [GemProgram::Gems] those of a version of Rails
  def self.gems(version = VERSION)
    (@gems ||= {})[version] ||=
      begin
        gemfile = (version == "7.2") ? "rails.rb" : "rails_#{version.tr(".", "_")}.rb"
        GemProgram::Gems.new("gemfiles/#{gemfile}", folder: "tmp/rails", environment: ENVIRONMENT,
          missing: "bin/setup downstream brings Rails #{version}")
      end
  end

  # An application in one file, with a database in a file of the folder.
  APPLICATION = <<~RUBY
    require "bundler/setup"
    require "rails"
    require "active_record/railtie"
    require "active_job/railtie"
    require "action_controller/railtie"
    Bundler.require # pelton-rails is found by itself
    class TestApplication < Rails::Application
      config.root = __dir__
      config.eager_load = false
      config.logger = Logger.new(nil)
    end
  RUBY
  DATABASE = <<~RUBY
    ENV["DATABASE_URL"] = "sqlite3:\#{Dir.pwd}/test.sqlite3?timeout=2000&pool=10"
    TestApplication.initialize!
    ActiveRecord::Base.connection.create_table(:posts) { |table| table.string :title }
    class Post < ActiveRecord::Base; end
  RUBY

  # Loads the clients of databases, which are left out in the roots of other Rubies (gemfiles/rails_servers.rb): the
  # test is skipped there.
  def needs_servers
    skip "databases are left out" if ENV["BUNDLE_WITHOUT"].to_s.include?("integration")
    %w[pg trilogy].each { |client| require client }
  end

  # @param code [String] runs after {APPLICATION}, in an empty folder
  # @param arguments [Array<String>] the program's ARGV
  # @return [String] what it has printed
  def rails_output(code, *arguments, setup: APPLICATION, env: {}, version: VERSION)
    program_output(RailsProgram.gems(version), "#{setup}\n#{code}", *arguments, env: env)
  end
end
