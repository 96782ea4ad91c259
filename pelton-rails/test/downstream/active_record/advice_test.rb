# frozen_string_literal: true

require_relative "../../support/active_record_program"

class ActiveRecordAdviceTest < PeltonTest
  include ActiveRecordProgram

  LOG = <<~'RUBY'
    Pelton.logger = Logger.new($stdout, formatter: ->(*, message) { "#{message}\n" })
    use = proc do
      ActiveRecord::Base.connection_pool.with_connection { |connection| connection.select_value("SELECT 1") }
    end
  RUBY

  def test_what_blocks_is_named_once_when_a_pool_is_first_used_in_a_reactor
    sqlite, isolation, *more = active_record_output(<<~RUBY).lines
      #{LOG}
      ActiveSupport::IsolatedExecutionState.isolation_level = :thread
      use.call
      Pelton.run { 2.times(&use) }
    RUBY

    assert_match(/\AActive Record: the database adapter sqlite3 blocks/, sqlite)
    assert_match(/by thread, .*: take ActiveSupport::IsolatedExecutionState.isolation_level = :fiber/, isolation)
    assert_empty more
  end

  def test_a_driver_that_parks_and_state_by_fiber_need_no_advice
    needs_servers
    assert_empty active_record_output("#{LOG}\nPelton.run(&use)", :postgresql)
  end

  def test_a_part_that_gives_the_advice_itself_silences_it
    assert_empty active_record_output("#{LOG}\nPelton::ActiveRecord::Advice.silent = true\nPelton.run(&use)")
  end
end
