# frozen_string_literal: true

require_relative "../../support/rails_program"

class AsynchronousQueriesTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  QUERIES = "TestApplication.config.active_record.async_query_executor = :pelton"

  def test_they_run_in_fibers_of_the_process_and_in_threads_where_no_reactor_runs
    assert_equal <<~TEXT, rails_output(<<~RUBY, setup: [APPLICATION, QUERIES, DATABASE].join("\n"))
      fibers: ["a", "b"] ["a", "b"] asynchronous query, main thread: true
      threads: ["a", "b"], main thread: false
    TEXT
      Post.create!([{title: "a"}, {title: "b"}])
      seen = []
      ActiveSupport::Notifications.subscribe("sql.active_record") do |event|
        seen << event.payload[:async] if event.payload[:sql].match?(/FROM "posts"/)
      end
      on_main_thread = nil
      executor = TestApplication.executor # which Rails 8.1 insists on
      ActiveRecord::FutureResult.prepend(Module.new do
        define_method(:exec_query) do |*arguments, **options|
          on_main_thread = (Thread.current == Thread.main)
          super(*arguments, **options)
        end
      end)
      Pelton.run do
        executor.wrap do
          results = 2.times.map { Post.order(:title).load_async }
          names = Pelton.tasks.map { |task| task.name.to_s }.grep(/query/).uniq
          sleep 0.01
          titles = results.map { |posts| posts.map(&:title) }.map(&:inspect).join(" ")
          puts "fibers: \#{titles} \#{names.join}, main thread: \#{on_main_thread}"
        end
      end
      executor.wrap do
        result = Post.order(:title).load_async
        500.times { break unless on_main_thread && sleep(0.01) }
        puts "threads: \#{result.map(&:title)}, main thread: \#{on_main_thread}"
      end
    RUBY
  end

  def test_other_executors_stay_rails_own
    assert_equal "Concurrent::ThreadPoolExecutor\n",
      rails_output(<<~RUBY, setup: [APPLICATION, QUERIES.sub(":pelton", ":global_thread_pool"), DATABASE].join("\n"))
        puts Post.connection_pool.async_executor.class
      RUBY
  end
end
