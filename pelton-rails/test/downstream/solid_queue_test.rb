# frozen_string_literal: true

require_relative "../support/solid_queue_program"

# Which pool Solid Queue's workers have.
class SolidQueueTest < PeltonTest
  include SolidQueueProgram

  self.deadline = 120

  POOLS = <<~RUBY
    puts [{threads: 2}, {fibers: 2}].map { |options| SolidQueue::Worker.new(queues: "*", **options).pool.class }
  RUBY

  def test_workers_with_fibers_run_on_pelton
    assert_equal "SolidQueue::ThreadPool\nPelton::Rails::SolidQueue::FiberPool\n", jobs_output(POOLS)
  end

  def test_a_setting_leaves_them_to_solid_queue
    assert_equal "SolidQueue::ThreadPool\nSolidQueue::FiberPool\n",
      jobs_output(POOLS, config: "config.pelton.solid_queue = false")
  end

  def test_a_version_that_is_not_known_is_left_alone_and_named
    output = rails_output(<<~RUBY)
      module SolidQueue
        VERSION = "2.0.0"
      end
      require "pelton/rails/solid_queue"
      Pelton.logger = Logger.new($stdout, formatter: ->(severity, _, _, text) { "\#{severity} \#{text}\\n" })
      p Pelton::Rails::SolidQueue.install
    RUBY

    assert_equal "WARN Solid Queue 2.0.0 is not known to pelton-rails (~> 1.7): its workers run as they do without " \
      "Pelton\nfalse\n", output
  end

  # Solid Queue checks its configuration before it starts: without Pelton, fibers need a gem.
  def test_a_configuration_with_fibers_needs_no_other_gem
    output = jobs_output(<<~RUBY)
      puts SolidQueue::Configuration.new(workers: [{queues: "*", fibers: 2}], dispatchers: []).valid?
      puts $LOADED_FEATURES.grep(%r{/async/}).empty?
    RUBY

    assert_equal "true\ntrue\n", output
  end
end
