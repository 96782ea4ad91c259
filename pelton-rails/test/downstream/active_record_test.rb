# frozen_string_literal: true

require_relative "../support/active_record_program"

# `require "pelton/active_record"` in programs without Rails.
class ActiveRecordTest < PeltonTest
  include ActiveRecordProgram

  on_each_database "the_same_program_inside_and_outside_of_a_reactor" do |database|
    assert_equal "outside: [\"a\", \"b\"]\ninside: [\"a\", \"b\", \"c\", \"d\"]\n",
      active_record_output(<<~'RUBY', database, pool: 5)
        class CreatePosts < ActiveRecord::Migration[7.0]
          def change = create_table(:posts, force: true) { |table| table.string :title }
        end
        CreatePosts.migrate(:up)
        class Post < ActiveRecord::Base; end
        write = lambda do |titles|
          titles.map { |title| Post.transaction { Post.create!(title: title) } }
          Post.order(:title).pluck(:title)
        end
        puts "outside: #{write.call(%w[a b])}"
        Pelton.run { puts "inside: #{write.call(%w[c d])}" }
      RUBY
  end

  on_each_database "each_task_has_a_connection_of_its_own_and_returns_it" do |database|
    assert_equal "[3, [1, 1, 1], 3]\n", active_record_output(<<~RUBY, database, pool: 3)
      #{POSTS}
      Pelton.run do
        gate, open = Pelton::Operation.new, []
        tasks = Array.new(3) do
          Pelton.spawn do
            Post.transaction do
              open << Post.lease_connection.open_transactions
              gate.await
              Post.create!(title: "written")
              Post.lease_connection.object_id
            end
          end
        end
        sleep 0.001 until open.size == 3
        gate.succeed
        p [tasks.map(&:await).uniq.size, open, Post.count]
      end
    RUBY
  end

  on_each_database "a_client_that_leaves_in_the_middle_of_a_transaction" do |database|
    assert_equal "[0, false, 1, 1]\n", active_record_output(<<~RUBY, database, pool: 1)
      #{POSTS}
      Pelton.run do
        begun = Pelton::Operation.new
        leaving = Pelton.spawn do
          Pelton::ActiveRecord.with_connections do
            Post.transaction { Post.create!(title: "never") && begun.succeed && sleep }
          end
        end
        begun.await
        leaving.cancel
        waits = Pelton.spawn { [Post.count, Post.lease_connection.transaction_open?].tap { POOL.release_connection } }
        counted = waits.await
        Post.create!(title: "after")
        p [*counted, Post.count, POOL.stat[:connections]]
      end
    RUBY
  end

  on_each_database "a_pool_of_one_with_nested_checkouts" do |database|
    assert_equal "nested: true\ntwice: ActiveRecord::ConnectionTimeoutError\nafter: 0\n",
      active_record_output(<<~RUBY, database, pool: 1, checkout_timeout: 0.2)
        #{POSTS}
        Pelton.run do
          POOL.with_connection { |outer| POOL.with_connection { |inner| puts "nested: \#{outer.equal?(inner)}" } }
          POOL.with_connection do
            POOL.checkout
          rescue ActiveRecord::ConnectionTimeoutError => error
            puts "twice: \#{error.class}"
          end
          puts "after: \#{Pelton.spawn { Post.count }.await}"
        end
      RUBY
  end

  def test_it_is_set_up_whichever_is_loaded_first
    orders = [%w[active_record pelton/active_record], %w[pelton/active_record active_record],
      %w[pelton/rails pelton/active_record]]
    levels = orders.map do |files|
      active_record_output(<<~RUBY, setup: "require \"bundler/setup\"\n")
        #{files.map { |file| "require #{file.inspect}" }.join("\n")}
        ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
        pool = ActiveRecord::ConnectionAdapters::ConnectionPool.ancestors.map(&:to_s)
        p ActiveSupport::IsolatedExecutionState.isolation_level, pool.grep(/Pelton/).size, defined?(Rails::Railtie)
        p ActiveRecord::Base.lease_connection.is_a?(Pelton::ActiveRecord::SQLiteLocks)
      RUBY
    end

    assert_equal [":fiber\n3\nnil\ntrue\n"] * 3, levels
  end

  def test_without_active_record_the_error_says_what_to_do
    assert_equal "pelton/active_record needs Active Record: add gem \"activerecord\" to the Gemfile\n",
      ruby_output(<<~RUBY, gems: true)
        require "bundler/setup" # this repository's bundle, which has none
        begin
          require "pelton/active_record"
        rescue LoadError => error
          puts error.message
        end
      RUBY
  end
end
