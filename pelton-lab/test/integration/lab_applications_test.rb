# frozen_string_literal: true

require "test_helper"
require "support/chat_program"
require "pelton/lab/web/example_chat"
require "pelton/lab/web/rails_engines"
require_relative "small_runs"

# The experiments with applications on web servers, small: every installed server answers rightly.
class LabApplicationsTest < PeltonTest
  include SmallRuns::Web

  self.deadline = 240

  def test_models
    run_small("models", "--size", "20", races: /five users, MariaDB|32 connections, PostgreSQL|an insert, SQLite/)
  end

  def test_rails
    run_small("rails", "--size", "1", races: /a room, SQLite|messages, PostgreSQL|another service|a post/)
  end

  def test_rails_engines
    Pelton::Lab::RailsEngines.new.unavailable&.then { |reason| skip reason }
    run_small("rails_engines", "--size", "16", races: /a board, SQLite|a nested page, PostgreSQL/)
  end

  def test_web
    run_small("web", "--size", "1")
  end

  def test_chat
    skip "the chat's gems are not installed" unless ChatProgram.installed?
    run_small("chat", "--size", "16", races: /fragments|posts|users/)
  end

  def test_cable
    run_small("cable", "--size", "2", races: /1,000|broadcasts|subscriptions|worker/)
  end

  def test_jobs
    gems = Pelton::Lab::RailsEngines.new
    skip "async needs Ruby 3.3" if RUBY_VERSION < "3.3"
    gems.unavailable&.then { |reason| skip reason }
    run_small("jobs", "--size", "10", races: /SQLite|streams/)
  end
end
