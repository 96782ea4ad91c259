# frozen_string_literal: true

require_relative "../../support/rails_program"

class SQLiteLocksTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  # Without it, the holder could not go on, and the writer would fail after two seconds.
  def test_a_writer_waits_for_a_parked_holder_and_others_go_on
    assert_equal "2 posts after 10 turns\n", rails_output(<<~RUBY, setup: APPLICATION + DATABASE)
      turns = 0
      Pelton.run do
        held, waited = Array.new(2) { Pelton::Operation.new }
        Pelton.spawn { Post.transaction { Post.create!(title: "holder") && held.succeed(true) && waited.await } }
        Pelton.spawn { held.await && Post.create!(title: "writer") }
        held.await
        10.times { sleep(0.01) && turns += 1 }
        waited.succeed(true)
      end
      puts "\#{Post.count} posts after \#{turns} turns"
    RUBY
  end

  # The holder goes on when the writer has given up, so this ends only if that does.
  def test_a_wait_ends_with_its_timeout_and_without_one_there_is_no_wait
    [DATABASE.sub("2000", "50"), DATABASE.sub("timeout=2000&", "")].each do |database|
      assert_equal "given up, 1 post\n", rails_output(<<~RUBY, setup: APPLICATION + database)
        Pelton.run do
          held, given_up = Array.new(2) { Pelton::Operation.new }
          Pelton.spawn { Post.transaction { Post.create!(title: "holder") && held.succeed(true) && given_up.await } }
          Pelton.spawn do
            held.await
            Post.create!(title: "writer")
          rescue ActiveRecord::StatementInvalid
            print "given up"
          ensure
            given_up.succeed
          end
        end
        puts ", \#{Post.count} post"
      RUBY
    end
  end

  # The one that has just released the lock would take it again at once.
  def test_the_lock_is_granted_in_the_order_of_the_waits
    assert_equal "first, 1, 2, 3, 4, 5, second\n",
      rails_output(<<~RUBY, setup: APPLICATION + DATABASE.sub("?", "?default_transaction_mode=immediate&"))
        order = []
        write = lambda do |name|
          Post.transaction do
            Post.create!(title: name.to_s)
            order << name
            sleep 0.01
          end
        end
        Pelton.run do
          holder = Pelton.spawn { %w[first second].each(&write) }
          writers = Array.new(5) { |i| Pelton.spawn { sleep(0.001 * (i + 1)) && write.call(i + 1) } }
          [holder, *writers].each(&:await)
        end
        puts order.join(", ")
      RUBY
  end

  # SQLite's C code must not be left by an exception: it would keep its mutex, and block the next thread for ever.
  def test_a_limit_and_a_cancellation_end_the_wait_and_leave_the_connection_usable
    assert_equal "Pelton::TimeoutError, Pelton::Cancelled, 3 posts\n",
      rails_output(<<~RUBY, setup: APPLICATION + DATABASE)
        ended = []
        Pelton.run do
          release = Pelton::Operation.new
          holder = Pelton.spawn { Post.transaction { Post.create!(title: "holder") && release.await } }
          writers = [->(&block) { Pelton.timeout(0.05, &block) }, ->(&block) { block.call }].map do |around|
            Pelton.spawn do
              sleep(0.02)
              around.call { Post.create!(title: "given up") }
            rescue Pelton::TimeoutError, Pelton::Cancelled => error
              ended << error.class
              holder.await
              Post.create!(title: "after")
            end
          end
          sleep 0.01 until ended == [Pelton::TimeoutError]
          writers.last.cancel
          sleep 0.01 until ended.size == 2
          release.succeed
          writers.each(&:await)
        end
        Post.connection_pool.connections.each do |connection|
          Thread.new { connection.raw_connection.execute("SELECT 1") }.join
        end
        puts "\#{ended.join(", ")}, \#{Post.count} posts"
      RUBY
  end
end
