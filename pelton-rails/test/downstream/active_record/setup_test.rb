# frozen_string_literal: true

require_relative "../../support/rails_program"

class DatabaseTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  # A writer that waits for SQLite's lock would stop the holder, and fail after two seconds.
  WAIT = <<~RUBY
    ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: "\#{Dir.pwd}/test.sqlite3",
      timeout: 2000, pool: 2)
    ActiveRecord::Base.connection.create_table(:posts) { |table| table.string :title }
    class Post < ActiveRecord::Base; end
    ActiveRecord::Base.connection_handler.clear_active_connections!
    Pelton.run do
      held = Pelton::Operation.new
      Pelton.spawn { Post.transaction { Post.create!(title: "holder") && held.succeed(true) && sleep(0.05) } }
      Pelton.spawn { held.await && Post.create!(title: "writer") }
    end
    puts Post.pluck(:title).join(", ")
  RUBY

  # More queries than connections: the error names their holders, without Rails' cleaner of backtraces.
  HOLDERS = <<~RUBY
    Pelton.run do
      2.times { Pelton.spawn(name: "a holder", transient: true) { Post.transaction { Post.count && sleep } } }
      sleep 0.01 until ActiveRecord::Base.connection_pool.stat[:busy] == 2
      ActiveRecord::Base.connection_pool.checkout(0.01)
    rescue ActiveRecord::ConnectionTimeoutError => error
      puts error.message[/Held by task "[^"]+"/]
    end
  RUBY

  BUNDLE = 'require "bundler/setup"'

  def test_active_record_without_rails_is_set_up_whichever_is_loaded_first
    orders = [["active_record", "pelton/rails"], ["pelton/rails", "active_record"]]
    outputs = orders.map do |files|
      rails_output([*files.map { |file| "require #{file.inspect}" }, WAIT, HOLDERS].join("\n"), setup: BUNDLE)
    end

    assert_equal [%(holder, writer\nHeld by task "a holder"\n)] * 2, outputs
  end

  def test_an_application_that_is_defined_later_is_set_up_and_has_the_last_word
    program = <<~RUBY
      TestApplication.config.pelton.sqlite_locks = ARGV.first == "park"
      #{DATABASE}
      puts ActiveRecord::ConnectionAdapters::SQLite3Adapter.include?(Pelton::ActiveRecord::SQLiteLocks),
        ActiveRecord::ConnectionAdapters::ConnectionPool.include?(Pelton::ActiveRecord::ConnectionHolders),
        TestApplication.config.action_dispatch.rescue_responses["Pelton::TimeoutError"]
    RUBY
    setup = APPLICATION.sub('require "rails"', %(require "pelton/rails"\n\\0))

    assert_equal "true\ntrue\ngateway_timeout\n", rails_output(program, "park", setup: setup)
    assert_equal "false\ntrue\ngateway_timeout\n", rails_output(program, "block", setup: setup)
  end
end
