# frozen_string_literal: true

require_relative "../support/rails_program"

class RailtieTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  STATE = <<~RUBY
    puts ActiveSupport::IsolatedExecutionState.isolation_level,
      ActiveRecord::ConnectionAdapters::SQLite3Adapter.include?(Pelton::ActiveRecord::SQLiteLocks),
      ActiveRecord::ConnectionAdapters::ConnectionPool.include?(Pelton::ActiveRecord::AsynchronousQueries),
      Rails.cache.class
  RUBY

  def test_it_is_found_in_the_bundle_and_sets_the_application_up
    setup = APPLICATION + 'TestApplication.config.cache_store = :pelton_store, "127.0.0.1:1"'
    assert_equal <<~TEXT, rails_output(DATABASE + STATE, setup: setup)
      fiber
      true
      true
      ActiveSupport::Cache::PeltonStore
    TEXT
  end

  def test_the_application_has_the_last_word
    assert_equal <<~TEXT, rails_output(DATABASE + STATE, setup: APPLICATION + <<~RUBY)
      thread
      false
      true
      ActiveSupport::Cache::NullStore
    TEXT
      TestApplication.config.active_support.isolation_level = :thread
      TestApplication.config.pelton.sqlite_locks = false
      TestApplication.config.cache_store = :null_store
    RUBY
  end
end
