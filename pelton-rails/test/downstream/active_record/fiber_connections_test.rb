# frozen_string_literal: true

require_relative "../../support/rails_program"

class FiberConnectionsTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  # Active Record 7.0 has one connection for each thread.
  def test_each_fiber_has_a_connection_and_a_transaction_of_its_own
    connections, levels, owned, left =
      rails_output(<<~RUBY, setup: APPLICATION + DATABASE, version: "7.0").lines(chomp: true)
        ActiveRecord::Base.connection_handler.clear_active_connections!
        pool, gate, levels = Post.connection_pool, Queue.new, []
        Pelton.run do
          tasks = Array.new(3) do
            Pelton.spawn do
              pool.with_connection do |connection|
                Post.transaction { levels << connection.open_transactions && gate.pop }
                connection.object_id
              end
            end
          end
          sleep 0.01 until gate.num_waiting == 3
          gate.close
          p tasks.map(&:await).uniq.size, levels
        end
        Post.connection
        pool.disconnect
        p pool.active_connection?, pool.stat.values_at(:connections, :busy)
      RUBY

    assert_equal "3", connections
    assert_equal "[1, 1, 1]", levels
    assert_equal "nil", owned
    assert_equal "[0, 0]", left
  end
end
