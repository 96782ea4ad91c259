# frozen_string_literal: true

require_relative "../../support/rails_program"
require_relative "../../../../test/support/databases"

# A request or task that is ended inside a transaction: the transaction is rolled back, and the connection is fit for
# the next request. The pool has one connection.
class TimeLimitsTest < PeltonTest
  include RailsProgram
  include Databases

  self.deadline = 120

  SETUP = <<~'RUBY'
    require "pelton/http"
    ENV["DATABASE_URL"], SLOW = ARGV
    TestApplication.initialize!
    ActiveRecord::Base.lease_connection.create_table(:posts, force: true) { |table| table.string :title }
    class Post < ActiveRecord::Base
      def self.wait_in(place)
        transaction do
          create!(title: "never")
          (place == "query") ? lease_connection.select_value(SLOW) : sleep(20)
        end
      end

      def self.state
        "#{count} posts, open: #{lease_connection.transaction_open?}, right: " \
        "#{lease_connection.select_value("SELECT 41 + 1").to_i == 42}"
      end
    end
    ActiveRecord::Base.connection_handler.clear_active_connections! # the pool has only this one
    class PostsController < ActionController::Base
      def wait = Post.wait_in(params[:in])

      def look = render(plain: Post.state)
    end
    TestApplication.routes.draw { %w[wait look].each { |name| get name, to: "posts##{name}" } }
  RUBY

  PROGRAM = <<~'RUBY'
    def how_it_ends(task)
      task.await
    rescue Exception => error # Cancelled is no StandardError
      error.class
    end
    Pelton.run do
      server = Pelton::HTTP::Server.new(TestApplication, request_timeout: 0.3)
      url = "http://127.0.0.1:#{server.listen("tcp://127.0.0.1:0").port}"
      client = Pelton::HTTP::Client.new(url, proxy: nil)
      ["sleep", *("query" if SLOW)].each do |place|
        puts "#{place}, too late: #{client.get("/wait?in=#{place}").status}, #{client.get("/look").body}"
        task = Pelton.spawn { TestApplication.executor.wrap { Post.wait_in(place) } }
        sleep 0.1
        task.cancel
        ended = how_it_ends(task)
        puts "#{place}, cancelled: #{ended}, #{client.get("/look").body}"
        limited = Pelton.spawn { TestApplication.executor.wrap { Pelton.timeout(0.1) { Post.wait_in(place) } } }
        ended = how_it_ends(limited)
        puts "#{place}, beyond a limit: #{ended}, #{client.get("/look").body}"
      end
      puts "connections: #{Post.connection_pool.stat.values_at(:connections, :busy).inspect}"
      server.stop
    end
  RUBY

  CLEAN = "0 posts, open: false, right: true"

  def expected(*places)
    places.map { |place|
      "#{place}, too late: 504, #{CLEAN}\n#{place}, cancelled: Pelton::Cancelled, #{CLEAN}\n" \
      "#{place}, beyond a limit: Pelton::TimeoutError, #{CLEAN}\n"
    }.join << "connections: [1, 0]\n"
  end

  def test_sqlite
    Dir.mktmpdir { |folder| check("sqlite3:#{folder}/test.sqlite3?pool=1", "sleep") }
  end

  def test_postgresql
    needs_servers
    check("postgresql://postgres@127.0.0.1:#{postgres}/postgres?pool=1", "sleep", "query", slow: "SELECT pg_sleep(20)")
  end

  def test_trilogy
    needs_servers
    check("trilogy://root@127.0.0.1:#{mariadb}/test?pool=1", "sleep", "query", slow: "SELECT SLEEP(20)")
  end

  private

  def check(url, *places, slow: nil)
    assert_equal expected(*places), rails_output(PROGRAM, url, *slow, setup: APPLICATION + SETUP)
  end
end
