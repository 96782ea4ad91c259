# frozen_string_literal: true

require_relative "../support/rails_program"

class AdviceTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  SETTINGS = <<~RUBY
    require "pelton/http/launcher" # as a server has
    Pelton.logger = Logger.new($stdout, formatter: ->(*, message) { message + "\n" })
  RUBY

  def test_what_blocks_is_said_with_its_cure
    said = rails_output(DATABASE, setup: APPLICATION + SETTINGS + <<~RUBY)
      TestApplication.config.active_support.isolation_level = :thread
      TestApplication.config.active_job.queue_adapter = :async
    RUBY

    assert_match(/sqlite3 blocks the process while a statement runs: keep statements short/, said)
    assert_match(/queue adapter async runs jobs in threads.*queue_adapter = :pelton/, said)
    assert_match(/isolation_level = :fiber/, said)
    assert_equal 3, said.lines.size
  end

  # The setting comes when the middleware is built, which would load a gem that is not in this bundle.
  def test_a_session_store_with_one_connection
    said = ["", ", pool_size: 5"].map do |options|
      rails_output("TestApplication.initialize!", setup: APPLICATION + SETTINGS + <<~RUBY)
        ENV["DATABASE_URL"] = "postgresql://127.0.0.1:1/none"
        TestApplication.config.active_job.queue_adapter = :pelton
        TestApplication.initializer("sessions", after: :build_middleware_stack) do
          TestApplication.config.session_store :mem_cache_store#{options}
        end
      RUBY
    end

    assert_match(/\A.*session store mem_cache_store has one connection.*session_store :cache_store.*\n\z/, said[0])
    assert_empty said[1]
  end

  def test_nothing_is_said_where_nothing_blocks_or_nobody_wants_it
    assert_equal "", rails_output("TestApplication.initialize!", setup: APPLICATION + SETTINGS + <<~RUBY)
      ENV["DATABASE_URL"] = "postgresql://127.0.0.1:1/none"
      TestApplication.config.active_job.queue_adapter = :pelton
    RUBY
    assert_equal "", rails_output("TestApplication.initialize!",
      setup: APPLICATION + SETTINGS + "TestApplication.config.pelton.advice = false\n")
  end
end
