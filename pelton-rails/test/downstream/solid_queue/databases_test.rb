# frozen_string_literal: true

require_relative "../../support/solid_queue_program"
require_relative "../../../../test/support/databases"

# Solid Queue's own features with threads and with fibers on Pelton, on each database.
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
    scheduler = SolidQueue::Scheduler.new(recurring_tasks: [SolidQueue::RecurringTask.from_configuration("tick", class: "TickJob", schedule: "every second")])
    scheduler.mode = :async
    with_worker(POOL) do
      scheduler.start
      wait_until { Mark.where(text: "tick").count >= 2 && Mark.where(text: "alone").count == 5 && Mark.exists?(text: "two") }
      scheduler.stop
    end
    puts AloneJob.most, Mark.where(text: "one").count, Mark.where(text: "two").count, SolidQueue::FailedExecution.count
  RUBY

  # What the program before has left.
  DROP = <<~RUBY
    ActiveRecord::Base.connection.tap do |connection|
      connection.disable_referential_integrity { connection.tables.each { |table| connection.drop_table(table, force: :cascade) } }
    end
  RUBY

  def test_sqlite = assert_features(nil)

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
    skip "Solid Queue's fibers need Ruby 3.2" if RUBY_VERSION < "3.2"
    setup = url ? SETUP.sub(/^ENV\["DATABASE_URL"\] = .*/) { "ENV[\"DATABASE_URL\"] = #{url.dump}" } : SETUP
    setup = setup.sub("TestApplication.initialize!\n") { |line| line + DROP }
    ["threads: 5", "fibers: 20"].each do |pool|
      assert_equal "1\n1\n1\n0\n", rails_output(FEATURES.sub("POOL", pool), "", setup: setup, version: "8.1"), pool
    end
  end
end
