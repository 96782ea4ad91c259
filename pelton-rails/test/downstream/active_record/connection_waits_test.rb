# frozen_string_literal: true

require_relative "../../support/rails_program"

class ConnectionWaitsTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  # In an application whose pool has one connection.
  def waits_output(checkout_timeout, code)
    rails_output(<<~RUBY, setup: APPLICATION + DATABASE.sub("pool=10", "pool=1&checkout_timeout=#{checkout_timeout}"))
      ActiveRecord::Base.connection_handler.clear_active_connections!
      POOL = Post.connection_pool
      #{code}
    RUBY
  end

  # The last waits for 3.6 s, and no connection is kept for longer than 0.4 s.
  def test_a_wait_goes_on_while_others_return_their_connections
    assert_equal "#{[*0...10].inspect}\n0\n", waits_output(3, <<~RUBY)
      order = []
      Pelton.run do
        Array.new(10) { |i| Pelton.spawn { POOL.with_connection { order << i && sleep(0.4) } } }.each(&:await)
      end
      p order, POOL.stat[:waiting]
    RUBY
  end

  # The younger request waits first.
  def test_a_connection_is_granted_to_the_oldest_request_that_waits
    assert_equal "[:older, :younger, :task]\n", waits_output(3, <<~RUBY)
      order = []
      Pelton.run do
        wakes, keeps = Array.new(2) { Pelton::Operation.new }
        reactor = Pelton::Reactor.current
        Pelton.spawn { POOL.with_connection { keeps.await } }
        sleep 0.01 until POOL.stat[:busy] == 1
        reactor._request(proc { wakes.await && POOL.with_connection { order << :older } })
        reactor._request(proc { POOL.with_connection { order << :younger } })
        sleep 0.01 until POOL.stat[:waiting] == 1
        waits = Pelton.spawn { POOL.with_connection { order << :task } }
        sleep 0.01 until POOL.stat[:waiting] == 2
        wakes.succeed(true)
        sleep 0.01 until POOL.stat[:waiting] == 3
        keeps.succeed
        waits.await
      end
      p order
    RUBY
  end

  def test_a_wait_ends_when_no_connection_is_returned_for_the_timeout
    message, owner = waits_output(0.2, <<~RUBY).lines(chomp: true)
      Pelton.run do
        keeper = Pelton.spawn(name: "keeper") { POOL.with_connection { sleep } }
        sleep 0.01 until POOL.stat[:busy] == 1
        begin
          POOL.with_connection { nil }
        rescue ActiveRecord::ConnectionTimeoutError => error
          puts error.message, error.connection_pool.equal?(POOL)
        end
        keeper.cancel
      end
    RUBY

    assert_match(/\Acould not obtain a connection from the pool: none was returned for 0.200 seconds \(waited \d+\.\d{3} seconds\); .* Held by task "keeper"/,
      message)
    assert_equal "true", owner
  end

  def test_a_thread_waits_as_active_record_has_it
    assert_equal "could not obtain a connection from the pool within 0.200 seconds",
      waits_output(0.2, <<~RUBY)[/\A.*? seconds/]
        POOL.with_connection do
          Thread.new { POOL.with_connection { nil } rescue puts($!.message) }.join
        end
      RUBY
  end
end
