# frozen_string_literal: true

require_relative "rails_program"

# Programs with Solid Queue in an SQLite database.
module SolidQueueProgram
  include RailsProgram

  SETUP = APPLICATION.sub("Bundler.require", "require \"solid_queue\"\nBundler.require") + <<~RUBY
    class TestApplication
      config.log_level = :fatal
      config.active_job.queue_adapter = :solid_queue
      eval ARGV.first.to_s
    end
  RUBY
    .+(DATABASE) + <<~RUBY
      $stdout.sync = true
      verbose, $stdout = $stdout, File.open(File::NULL, "w")
      load File.join(Gem.loaded_specs["solid_queue"].full_gem_path,
        "lib/generators/solid_queue/install/templates/db/queue_schema.rb")
      ActiveRecord::Base.connection.create_table(:marks) { |table| table.string :text }
      $stdout = verbose
      class Mark < ActiveRecord::Base; end
      SolidQueue.logger = Logger.new(nil)

      # As in production. Two threads that load columns for the first time, one of them within a transaction, wait for
      # each other: for SQLite's lock, and for Active Record's.
      SolidQueue::Engine.instance.eager_load!
      SolidQueue::Record.descendants.each { |model| model.columns_hash unless model.abstract_class? }

      # The block, while a worker with these options runs.
      def with_worker(**options)
        processes = [
          SolidQueue::Worker.new(queues: "*", polling_interval: 0.01, **options),
          SolidQueue::Dispatcher.new(polling_interval: 0.01)
        ]
        processes.each { |process| process.mode = :async }.each(&:start)
        yield processes.first
      ensure
        processes.each(&:stop)
      end

      def wait_until = (sleep 0.01 until yield)

      def all_done? = SolidQueue::Job.where(finished_at: nil).none?
    RUBY

  # @param config [String] settings of the application
  # @param pool [String] the worker's options
  def jobs_output(code, config: "", env: {})
    skip "Solid Queue's fibers need Ruby 3.2" if RUBY_VERSION < "3.2"
    rails_output(code, config, setup: SETUP, version: "8.1", env: env)
  end
end
