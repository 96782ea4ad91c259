# frozen_string_literal: true

require_relative "../../support/solid_queue_program"
require_relative "../../../../test/support/databases"

# Solid Queue's own features with threads, with its own fibers and with fibers on Pelton, on each database.
class SolidQueueDatabasesTest < PeltonTest
  include Databases
  include SolidQueueProgram

  self.deadline = 240

  FEATURES = <<~RUBY
    SolidQueue.shutdown_timeout = 0.5
    class AloneJob < ActiveJob::Base
      limits_concurrency key: "one"
      cattr_accessor :now, :most, default: 0
      def perform(number)
        self.class.most = [most, self.class.now += 1].max
        sleep 0.02
        Mark.create!(text: "alone")
      ensure
        self.class.now -= 1
      end
    end
    class TickJob < ActiveJob::Base
      def perform = Mark.create!(text: "tick")
    end
    # Interrupted after its first step, it goes on with the second.
    class StepsJob < ActiveJob::Base
      include ActiveJob::Continuable
      def perform
        step(:one) { Mark.create!(text: "one") }
        step(:two) do |step|
          raise IOError if executions == 1
          Mark.create!(text: "two")
        end
      end
      retry_on IOError, wait: 0
    end
    5.times { |number| AloneJob.perform_later(number) }
    StepsJob.perform_later
    scheduler =
      SolidQueue::Scheduler.new(recurring_tasks: [SolidQueue::RecurringTask.from_configuration("tick",
        class: "TickJob", schedule: "every second")])
    scheduler.mode = :async
    with_worker(POOL) do |worker|
      puts worker.pool.class
      scheduler.start
      wait_until do
        Mark.where(text: "tick").count >= 2 && Mark.where(text: "alone").count == 5 && Mark.exists?(text: "two")
      end
      scheduler.stop
    end
    puts AloneJob.most, Mark.where(text: "one").count, Mark.where(text: "two").count, SolidQueue::FailedExecution.count
  RUBY

  # What the program before has left.
  DROP = <<~RUBY
    ActiveRecord::Base.connection.tap do |connection|
      connection.disable_referential_integrity do
        connection.tables.each { |table| connection.drop_table(table, force: :cascade) }
      end
    end
  RUBY

  # The pool's class, by a worker's options and the application's settings.
  POOLS = {
    ["threads: 5", ""] => "SolidQueue::ThreadPool",
    ["fibers: 20", ""] => "Pelton::Rails::SolidQueue::FiberPool",
    ["fibers: 20", "config.pelton.solid_queue = false"] => ("SolidQueue::FiberPool" if RUBY_VERSION >= "3.3") # on async
  }.compact.freeze

  # All connections are cut while jobs wait, and the jobs end with new ones.
  LOST = <<~RUBY
    require "pg"
    class PatientJob < ActiveJob::Base
      retry_on ActiveRecord::ConnectionFailed, ActiveRecord::ConnectionNotEstablished, wait: 0
      def perform
        Mark.create!(text: "began")
        sleep 0.01 until $go
        Mark.create!(text: "ended")
      end
    end
    10.times { PatientJob.perform_later }
    with_worker(fibers: 20) do
      wait_until { Mark.count == 10 && SolidQueue::ClaimedExecution.count == 10 }
      other = PG.connect(ENV["DATABASE_URL"].sub(/\\?.*/, ""))
      puts other.exec(
        "SELECT count(pg_terminate_backend(pid)) > 0 AS cut FROM pg_stat_activity " +
          "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
      ).getvalue(0, 0)
      $go = true
      wait_until { all_done? rescue false }
    end
    puts Mark.where(text: "ended").count, SolidQueue::Job.finished.count,
      SolidQueue::FailedExecution.count, SolidQueue::ClaimedExecution.count
  RUBY

  def test_sqlite = assert_features(nil)

  def test_a_database_that_is_gone_while_jobs_are_claimed
    needs_servers
    assert_equal %w[t 10 10 0 0], output(LOST, "postgresql://postgres@127.0.0.1:#{postgres}/postgres?pool=10").split
  end

  def test_postgresql
    needs_servers
    assert_features("postgresql://postgres@127.0.0.1:#{postgres}/postgres?pool=10")
  end

  def test_mariadb
    needs_servers
    assert_features("trilogy://root@127.0.0.1:#{mariadb}/test?pool=10")
  end

  private

  # @param url [String, nil] of the database; nil: a file
  def assert_features(url)
    POOLS.each do |(options, config), pool|
      assert_equal "#{pool}\n1\n1\n1\n0\n", output(FEATURES.sub("POOL", options), url, config), pool
    end
  end

  # What a program prints.
  def output(code, url, config = "")
    skip "Solid Queue's fibers need Ruby 3.2" if RUBY_VERSION < "3.2"
    setup = url ? SETUP.sub(/^ENV\["DATABASE_URL"\] = .*/) { "ENV[\"DATABASE_URL\"] = #{url.dump}" } : SETUP
    setup = setup.sub("TestApplication.initialize!\n") { |line| line + DROP }
    rails_output(code, config, setup: setup, version: "8.1")
  end
end
