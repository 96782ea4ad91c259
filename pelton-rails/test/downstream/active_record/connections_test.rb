# frozen_string_literal: true

require_relative "../../support/active_record_program"

class ConnectionsTest < PeltonTest
  include ActiveRecordProgram

  COUNTED_POSTS = POSTS + <<~RUBY
    SENT = []
    ActiveSupport::Notifications.subscribe("sql.active_record") do |event|
      SENT << event.payload[:cached] if event.payload[:name] == "Post Count"
    end
  RUBY

  def test_the_connections_of_the_fiber_are_returned_when_the_block_ends
    assert_equal "[1, 0, :value]\n[1, 0, :outer]\n", active_record_output(<<~RUBY, pool: 2)
      #{COUNTED_POSTS}
      Pelton.run do
        busy = nil
        value = Pelton::ActiveRecord.with_connections { Post.lease_connection && busy = POOL.stat[:busy] and :value }
        p [busy, POOL.stat[:busy], value]
        value = Pelton::ActiveRecord.with_connections do
          Pelton::ActiveRecord.with_connections { Post.lease_connection }
          busy = POOL.stat[:busy]
          :outer
        end
        p [busy, POOL.stat[:busy], value]
      end
    RUBY
  end

  def test_an_error_returns_them_too
    assert_equal "[RuntimeError, 0]\n", active_record_output(<<~RUBY, pool: 2)
      #{COUNTED_POSTS}
      Pelton.run do
        Pelton::ActiveRecord.with_connections { Post.lease_connection && raise("wrong") }
      rescue => error
        p [error.class, POOL.stat[:busy]]
      end
    RUBY
  end

  on_each_database "each_block_has_a_query_cache_of_its_own" do |database|
    assert_equal "[nil, true, nil, true]\nfalse\n", active_record_output(<<~RUBY, database, pool: 2)
      #{COUNTED_POSTS}
      Pelton.run do
        Array.new(2) { Pelton.spawn { Pelton::ActiveRecord.with_connections { 2.times { Post.count } } }.await }
        p SENT
        p POOL.query_cache_enabled
      end
    RUBY
  end

  on_each_database "queries_load_asynchronously_in_fibers" do |database|
    setup = CONNECT.sub("ActiveRecord::Base.establish", "ActiveRecord.async_query_executor = :pelton\n\\0")
    assert_equal "[[\"a\"], [\"a\"], true, 0]\n", active_record_output(<<~RUBY, database, setup: setup, pool: 4)
      #{COUNTED_POSTS}
      Post.create!(title: "a")
      ActiveSupport::Notifications.subscribe("sql.active_record") do |event|
        SENT << event.payload[:async] if event.payload[:name] == "Post Load"
      end
      Pelton.run do
        results = Pelton::ActiveRecord.with_connections do
          loads = Array.new(2) { Post.where(title: "a").load_async }
          Pelton::Reactor.current.yield # they begin
          [*loads.map { |load| load.map(&:title) }, SENT.uniq == [true]]
        end
        sleep 0.001 until POOL.stat[:busy].zero?
        p [*results, POOL.stat[:busy]]
      end
    RUBY
  end
end
