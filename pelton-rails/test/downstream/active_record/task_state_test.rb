# frozen_string_literal: true

require_relative "../../support/active_record_program"

class TaskStateTest < PeltonTest
  include ActiveRecordProgram

  CURRENT = <<~RUBY
    require "active_support/all"
    class Current < ActiveSupport::CurrentAttributes
      attribute :user
    end
    POOL = ActiveRecord::Base.connection_pool
  RUBY

  def test_a_task_on_the_same_fiber_does_not_see_the_state_of_an_earlier_one
    assert_equal "[[\"ann\", nil], true]\n", active_record_output(<<~RUBY)
      #{CURRENT}
      Pelton.run do
        fibers = []
        users = ["ann", nil].map do |user|
          Pelton.spawn { fibers << Fiber.current.object_id && sleep(0.001) && (Current.user ||= user) }.await
        end
        p [users, fibers.uniq.one?]
      end
    RUBY
  end

  def test_a_timer_does_not_see_it_either
    assert_equal "[nil, nil]\n", active_record_output(<<~RUBY)
      #{CURRENT}
      Pelton.run do
        seen = []
        2.times { Pelton.add_timer(0.001) { seen << Current.user && Current.user = "ann" } }
        sleep 0.001 until seen.size == 2
        p seen
      end
    RUBY
  end

  def test_a_block_leaves_the_state_and_the_connection_of_the_code_that_calls_it
    assert_equal "[nil, \"ann\", true, 1]\n", active_record_output(<<~RUBY, pool: 2)
      #{CURRENT}
      Pelton.run do
        Pelton.spawn do
          Current.user = "ann"
          connection = ActiveRecord::Base.lease_connection
          seen = Pelton::Inherited.block(-> { ActiveRecord::Base.lease_connection && Current.user }).call
          p [seen, Current.user, connection.equal?(ActiveRecord::Base.lease_connection), POOL.stat[:busy]]
        end.await
      end
    RUBY
  end

  def test_a_task_returns_the_connections_that_it_has_leased
    assert_equal "[0, 0, 1]\n", active_record_output(<<~RUBY, pool: 2)
      #{CURRENT}
      Pelton.run do
        busy = lambda do |&block|
          Pelton.spawn { ActiveRecord::Base.lease_connection && block.call }.await
          POOL.stat[:busy]
        rescue RuntimeError
          POOL.stat[:busy]
        end
        p [busy.call {}, busy.call { raise "wrong" },
          busy.call { ActiveRecord::Base.lease_connection.begin_transaction }]
      end
    RUBY
  end

  def test_a_connection_that_was_checked_out_by_hand_stays_with_its_user
    assert_equal "[true, 1]\n", active_record_output(<<~RUBY, pool: 2)
      #{CURRENT}
      Pelton.run do
        connection = Pelton.spawn { POOL.checkout }.await
        p [!connection.in_use?.nil?, POOL.connections.count(&:in_use?)]
      end
    RUBY
  end

  def test_a_block_that_checks_out_a_second_connection_leaves_the_first
    assert_equal "[true, 2]\n", active_record_output(<<~RUBY, pool: 2)
      #{CURRENT}
      Pelton.run do
        Pelton.spawn do
          connection = ActiveRecord::Base.lease_connection
          Pelton::Inherited.block(-> { POOL.checkout }).call
          p [connection.equal?(POOL.active_connection?), POOL.stat[:busy]]
        end.await
      end
    RUBY
  end
end
